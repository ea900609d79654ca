//! Which ROCm runtime a program will load, and whether it can run on the GPU that is asked for.
//!
//! Every runtime reaches its GPU by the driver's files, which the library stands for, so each will do if it
//! knows the GPU's processor. One that does not would tell the program that there is no GPU, and no more. So
//! that is refused before the program starts, with what to do, and so is a program that is linked with a HIP
//! that is not there. A static program takes no library before its own.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use amdgpu_isa::Arch;
use memmap2::Mmap;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{LittleEndian, elf};

use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// The runtime's library, in every ROCm so far.
const RUNTIME: &str = "libhsa-runtime64.so.1";
/// HIP's library, before the number of its version.
const HIP: &str = "libamdhip64.so.";
/// What the names of processors begin with in the runtime's table of them.
const TARGET: &[u8] = b"amdgcn-amd-amdhsa--gfx";
/// Where libraries are that no list names.
const DIRECTORIES: [&str; 4] = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"];
const HELP: &str = "install ROCm's runtime: `apt-get install libamdhip64-5` (Debian 12 and 13) or `libamdhip64-6` (newer), or AMD's \
                    packages. Kernels written in Rust need no ROCm: `cargo amdinst test --device emu`";
const NEWER: &str = "ROCm 6.1 (Debian 13) knows gfx942 and gfx1100, ROCm 6.4 gfx1201 as well; ROCm 5.2 (Debian 12) knows gfx900 to \
                     gfx90a, gfx1010 and gfx1030";

/// What is known of a program before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outlook {
    /// Nothing speaks against it.
    Good,
    /// There is no runtime to be found.
    NoRuntime,
    /// The program is linked with a HIP that is not here.
    NoHip(String),
    /// The runtime does not know the processor. The program is linked with it if that is `certain`.
    UnknownProcessor { runtime: PathBuf, certain: bool },
}

/// Check the runtime that `program` will load for a GPU. What a script, or a program that loads the runtime
/// while it runs, will find can only be guessed: then the user is warned.
///
/// # Errors
/// The program is linked with a runtime that does not know the processor, or with a HIP that is not here.
pub(super) fn check(context: &Context, program: &OsStr, arch: Arch) -> CommandResult<()> {
    let paths = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    if is_static(program) {
        let program = program.to_string_lossy();
        context.shell.warn(format_args!("{program} is a static program, which finds no emulated GPU"));
    }
    let listing = listing(program, &paths);
    match outlook(listing.as_deref().unwrap_or_default(), || installed(&paths), arch) {
        Outlook::Good => {}
        Outlook::NoRuntime => {
            context.shell.warn(format_args!(
                "there is no ROCm runtime here ({RUNTIME}): the program will find no GPU, unless it brings one along"
            ));
            context.shell.help(HELP);
        }
        Outlook::NoHip(name) => {
            let why = format!("the program is linked with {name}, which is not here");
            return Err(Failure::msg(Exit::Unsupported, why).help(HELP));
        }
        Outlook::UnknownProcessor { runtime, certain } => {
            let why = format!("{} does not know {}", runtime.display(), arch.name());
            if certain {
                return Err(Failure::msg(Exit::Unsupported, why).help(NEWER));
            }
            context.shell.warn(why);
            context.shell.help(NEWER);
        }
    }
    Ok(())
}

/// What to expect of a program with that listing, or of one without a listing, of which only what is
/// `installed` is known.
fn outlook(listing: &str, installed: impl FnOnce() -> Option<PathBuf>, arch: Arch) -> Outlook {
    if let Some(name) = missing_hip(listing) {
        return Outlook::NoHip(name.to_owned());
    }
    let linked = in_listing(listing).map(PathBuf::from);
    let certain = linked.is_some();
    let Some(runtime) = linked.or_else(installed) else { return Outlook::NoRuntime };
    // What the loader makes of a file that cannot be read, it says itself.
    let knows = map(&runtime).is_none_or(|bytes| knows(&bytes, arch));
    if knows { Outlook::Good } else { Outlook::UnknownProcessor { runtime, certain } }
}

/// Whether a runtime knows a processor: it has the names of those that it knows. One without any such name is
/// none that anything is known of.
fn knows(runtime: &[u8], arch: Arch) -> bool {
    let start = TARGET.len() - "gfx".len();
    let mut names =
        runtime.windows(TARGET.len()).enumerate().filter(|(_, window)| *window == TARGET).peekable();
    let none = names.peek().is_none();
    let is_it = |(at, _): (usize, &[u8])| {
        let rest = runtime[at + start..].strip_prefix(arch.name().as_bytes());
        rest.is_some_and(|rest| {
            rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
        })
    };
    none || names.any(is_it)
}

/// Whether a program is one that nothing is loaded for.
fn is_static(program: &OsStr) -> bool {
    let bytes = which::which(program).ok().as_deref().and_then(map);
    let Some(bytes) = bytes else { return false };
    let Ok(file) = ElfFile64::<LittleEndian>::parse(&*bytes) else { return false };
    file.elf_program_headers().iter().all(|segment| segment.p_type(LittleEndian) != elf::PT_INTERP)
}

/// The libraries that an ELF program is linked with, directly or not, as the dynamic loader finds them.
fn listing(program: &OsStr, paths: &OsStr) -> Option<String> {
    let program = which::which(program).ok()?;
    let bytes = map(&program)?;
    let file = ElfFile64::<LittleEndian>::parse(&*bytes).ok()?;
    let segments = file.elf_program_headers().iter();
    let loader = segments
        .filter(|segment| segment.p_type(LittleEndian) == elf::PT_INTERP)
        .find_map(|segment| segment.interpreter(LittleEndian, file.data()).ok().flatten())?;
    let loader = std::str::from_utf8(loader).ok()?;
    // It prints what it would load, and does not start the program: glibc's by a variable, as `ldd` has it,
    // for with `--list` it stops at the first library that is missing; other loaders do not know the
    // variable.
    let mut command = Command::new(loader);
    if Path::new(loader).file_name()?.to_str()?.starts_with("ld-linux") {
        command.env("LD_TRACE_LOADED_OBJECTS", "1");
    } else {
        command.arg("--list");
    }
    let listed = command.arg(&program).env("LD_LIBRARY_PATH", paths).output().ok()?;
    Some(String::from_utf8_lossy(&listed.stdout).into_owned())
}

/// The HIP in a listing that the loader has not found.
fn missing_hip(listing: &str) -> Option<&str> {
    let mut missing = listing.lines().filter_map(|line| line.split_once(" => not found"));
    missing.find_map(|(name, _)| Some(name.trim()).filter(|name| name.starts_with(HIP)))
}

/// The runtime in what the loader or `ldconfig -p` prints: `NAME (what it is) => PATH (where it is)`.
fn in_listing(text: &str) -> Option<&str> {
    let lines = text.lines().filter(|line| line.trim_start().starts_with(RUNTIME));
    let mut paths = lines.filter_map(|line| line.split_once(" => "));
    paths.find_map(|(_, path)| path.split(" (").next().map(str::trim).filter(|path| path.starts_with('/')))
}

/// The runtime that a program would find which asks for it by name.
fn installed(paths: &OsStr) -> Option<PathBuf> {
    let there = |directory: PathBuf| Some(directory.join(RUNTIME)).filter(|path| path.is_file());
    let asked = std::env::split_paths(paths).find_map(there);
    let cached = || {
        let ldconfig =
            ["/sbin/ldconfig", "/usr/sbin/ldconfig"].into_iter().find(|path| Path::new(path).exists())?;
        let listed = Command::new(ldconfig).arg("-p").output().ok()?;
        // The loader's cache may tell of what is gone.
        in_listing(&String::from_utf8_lossy(&listed.stdout)).map(PathBuf::from).filter(|path| path.is_file())
    };
    asked.or_else(cached).or_else(|| DIRECTORIES.into_iter().map(PathBuf::from).find_map(there))
}

fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: an installed library or program, which is replaced and not rewritten while it is used.
    unsafe { Mmap::map(&file) }.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_listings_are_understood() {
        let loader = "\tlinux-vdso.so.1 (0x00007ffc)\n\tlibhsa-runtime64.so.1 => /opt/rocm/lib/libhsa-runtime64.so.1 (0x00007f)\n";
        assert_eq!(in_listing(loader), Some("/opt/rocm/lib/libhsa-runtime64.so.1"));
        let cache = "12 libs found\n\tlibhsa-runtime64.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libhsa-runtime64.so.1\n";
        assert_eq!(in_listing(cache), Some("/lib/x86_64-linux-gnu/libhsa-runtime64.so.1"));
        assert_eq!(in_listing("\tlibhsa-runtime64.so.1 => not found\n"), None);
    }

    #[test]
    fn a_program_without_a_runtime_is_told_from_one_that_has_another_hip() {
        let nothing = || None;
        // No listing (a script), and programs that are not linked with it or do not find it.
        for listing in
            ["", "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n", "\tlibhsa-runtime64.so.1 => not found\n"]
        {
            assert_eq!(outlook(listing, nothing, Arch::Gfx90a), Outlook::NoRuntime, "{listing}");
        }
        let listing = "\tlibhsa-runtime64.so.1 => not found\n\tlibamdhip64.so.6 => not found\n";
        assert_eq!(outlook(listing, nothing, Arch::Gfx90a), Outlook::NoHip("libamdhip64.so.6".to_owned()));
        let found = "\tlibamdhip64.so.5 => /lib/libamdhip64.so.5 (0x00007f)\n";
        assert_eq!(outlook(found, nothing, Arch::Gfx90a), Outlook::NoRuntime);
    }

    #[test]
    fn a_runtime_knows_the_processors_whose_names_it_has() {
        let runtime = b"..amdgcn-amd-amdhsa--gfx90a:sramecc+\0amdgcn-amd-amdhsa--gfx1100\0amdgcn-amd-amdhsa--gfx11-generic";
        for (arch, known) in
            [(Arch::Gfx90a, true), (Arch::Gfx1100, true), (Arch::Gfx900, false), (Arch::Gfx1201, false)]
        {
            assert_eq!(knows(runtime, arch), known, "{}", arch.name());
        }
        assert!(knows(b"a library of another kind", Arch::Gfx900));
    }
}
