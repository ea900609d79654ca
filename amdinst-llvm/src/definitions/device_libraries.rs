//! What is in neither the program nor `amdinst-device`: AMD's device libraries (bitcode), and libraries that
//! build scripts name.
//!
//! `__ocml_*` are mathematics, `__ockl_*` all else. Both read variables (`__oclc_*`) that say what is
//! compiled for; AMD has a file for each value, and these are defined here instead, for a library may be
//! older than a processor.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::path::PathBuf;

use amdgpu_isa::{Arch, Target, WaveSize};

/// Says where the device libraries are, as AMD's compilers read it.
pub const VARIABLE: &str = "HIP_DEVICE_LIB_PATH";

/// Where they are installed, if the variable says nothing.
const INSTALLED: [&str; 2] = ["/opt/rocm/amdgcn/bitcode", "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode"];

/// The directory of the device libraries: the one that the variable names, else the first that has them, else
/// the one where ROCm would install them.
pub fn directory() -> PathBuf {
    if let Some(named) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return PathBuf::from(named);
    }
    let under_rocm = env::var_os("ROCM_PATH").map(|rocm| PathBuf::from(rocm).join("amdgcn/bitcode"));
    let directories = under_rocm.into_iter().chain(INSTALLED.map(PathBuf::from));
    let has =
        |directory: &PathBuf| Library::ALL.iter().any(|library| directory.join(library.file()).is_file());
    directories.into_iter().find(has).unwrap_or_else(|| PathBuf::from(INSTALLED[0]))
}

/// One of the device libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Library {
    Ockl,
    Ocml,
}

impl Library {
    /// `ocml` calls `ockl`, which comes behind it.
    const ALL: [Self; 2] = [Self::Ocml, Self::Ockl];

    /// Its file.
    pub(crate) const fn file(self) -> &'static str {
        match self {
            Self::Ockl => "ockl.bc",
            Self::Ocml => "ocml.bc",
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::Ockl => "__ockl_",
            Self::Ocml => "__ocml_",
        }
    }

    /// The one that should define a symbol.
    fn of(symbol: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|library| symbol.starts_with(library.prefix()))
    }
}

/// The first symbol that the device libraries should define, and the files that are needed for all of them.
pub(crate) fn needed(undefined: &BTreeSet<String>) -> Option<(&str, Vec<&'static str>)> {
    let first = undefined.iter().find(|symbol| Library::of(symbol).is_some())?;
    let maths = undefined.iter().any(|symbol| Library::of(symbol) == Some(Library::Ocml));
    let files = Library::ALL.into_iter().filter(|&library| maths || library != Library::Ocml);
    Some((first, files.map(Library::file).collect()))
}

/// The functions and variables that a program declares and does not define, LLVM's own and ours left out.
pub(crate) fn undefined(ir: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let (head, rest) = line.split_once('@')?;
        let is_variable = head.is_empty() && rest.contains(" = external ");
        if !head.starts_with("declare ") && !is_variable {
            return None;
        }
        let name = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split('"').next()?,
            None => rest.split(['(', ' ']).next()?,
        };
        let is_known = name.starts_with("llvm.") || name.starts_with("__amdinst_");
        (!is_known).then(|| name.to_owned())
    };
    ir.lines().filter_map(name).collect()
}

/// The variables that the device libraries read, for `target` and a code object version. Floats are computed
/// as Rust asks for them: exactly rounded, with all values.
pub(crate) fn variables(target: Target, code_object_version: Option<u8>) -> String {
    let abi = 100 * u32::from(code_object_version.unwrap_or(DEFAULT_VERSION));
    let mut ir = String::from("target triple = \"amdgcn-amd-amdhsa\"\n");
    let mut define = |name: &str, kind: &str, value: u32| {
        let _ = writeln!(
            ir,
            "@__oclc_{name} = linkonce_odr hidden local_unnamed_addr addrspace(4) constant {kind} {value}"
        );
    };
    define("ABI_version", "i32", abi);
    define("ISA_version", "i32", isa_version(target.arch));
    define("wavefrontsize64", "i8", u32::from(target.wave == WaveSize::Wave64));
    define("correctly_rounded_sqrt32", "i8", 1);
    for name in ["daz_opt", "finite_only_opt", "unsafe_math_opt"] {
        define(name, "i8", 0);
    }
    ir
}

/// LLVM's default.
const DEFAULT_VERSION: u8 = 6;

/// A processor's version as the device libraries have it: 9010 of gfx90a. That of a generic one is its first
/// member's.
fn isa_version(arch: Arch) -> u32 {
    let name = arch.members().first().copied().unwrap_or(arch).name();
    let digits = name.strip_prefix("gfx").unwrap_or(name);
    let (major, rest) = digits.split_at(digits.len().saturating_sub(2));
    let rest = u32::from_str_radix(rest, 16).unwrap_or_default();
    1000 * major.parse::<u32>().unwrap_or_default() + 100 * (rest >> 4) + (rest & 0xf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_as_amd_has_them() {
        for (name, version) in [
            ("gfx906", 9006),
            ("gfx90a", 9010),
            ("gfx942", 9402),
            ("gfx1030", 10300),
            ("gfx1100", 11000),
            ("gfx1201", 12001),
            ("gfx9-generic", 9000),
        ] {
            assert_eq!(isa_version(Arch::from_name(name).unwrap()), version, "{name}");
        }
    }

    #[test]
    fn undefined_symbols() {
        let ir = "declare noundef float @__ocml_sin_f32(float noundef) #1\n\
                  declare void @\"a b\"()\n\
                  declare i32 @llvm.amdgcn.workitem.id.x()\n\
                  declare ptr @__amdinst_allocate(i64, i64)\n\
                  @there = external addrspace(4) constant i32, align 4\n\
                  @defined = constant i32 0\n\
                  define void @f() {\n";
        let undefined = undefined(ir);
        assert_eq!(undefined.iter().collect::<Vec<_>>(), ["__ocml_sin_f32", "a b", "there"]);
        assert_eq!(needed(&undefined), Some(("__ocml_sin_f32", vec!["ocml.bc", "ockl.bc"])));
        assert_eq!(needed(&["__ockl_lane_u32".to_owned()].into()).unwrap().1, ["ockl.bc"]);
        assert_eq!(needed(&["sinf".to_owned()].into()), None);
    }
}
