//! The command line that rustc calls its linker with, and the part of it that `build` puts there.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use amdgpu_isa::WaveSize;

use crate::error::LinkError;
use crate::toolchain::LlvmTools;

/// The argument that makes this executable a linker.
pub const MARKER: &str = "--amdinst-link";
const TOOLS: &str = "--amdinst-tools=";
const LLD: &str = "--amdinst-lld=";
const LLVM_VERSION: &str = "--amdinst-llvm=";
const STEP: &str = "--amdinst-step=";
const WAVE_SIZE: &str = "--amdinst-wave-size=";
const CODE_OBJECT_VERSION: &str = "--amdinst-code-object-version=";
const HEAP: &str = "--amdinst-heap=";

/// Goes up when the same input makes another code object.
pub(crate) const STEP_VERSION: u32 = 11;

/// What `build` decides and rustc passes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// The tools to use.
    pub tools: LlvmTools,
    /// The size of waves, if not LLVM's default.
    pub wave_size: Option<WaveSize>,
    /// Code object version, if not LLVM's default.
    pub code_object_version: Option<u8>,
    /// Bytes of the heap that kernels allocate from, if they do.
    pub heap: u64,
}

impl LinkOptions {
    /// The words for `-Clink-arg`. Cargo links again when one of them changes, which is why versions are
    /// among them.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut arguments = vec![
            MARKER.to_owned(),
            format!("{TOOLS}{}", self.tools.pattern),
            format!("{LLD}{}", self.tools.lld.display()),
            format!("{LLVM_VERSION}{}", self.tools.version),
            format!("{STEP}{STEP_VERSION}"),
        ];
        arguments.extend(self.wave_size.map(|wave| format!("{WAVE_SIZE}{}", wave.lanes())));
        if let Some(version) = self.code_object_version {
            arguments.push(format!("{CODE_OBJECT_VERSION}{version}"));
        }
        arguments.push(format!("{HEAP}{}", self.heap));
        arguments
    }
}

/// A parsed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkArguments {
    /// Bitcode files.
    pub inputs: Vec<PathBuf>,
    /// Libraries of bitcode that build scripts name (`cargo::rustc-link-arg=…/ockl.bc`). The needed functions
    /// are linked.
    pub libraries: Vec<PathBuf>,
    /// The code object to write.
    pub output: PathBuf,
    /// Symbols that the code object exports: kernels, and whatever else has `#[no_mangle]`.
    pub exports: Vec<String>,
    /// 0 to 3. Size levels arrive as 2; functions carry the rest as an attribute.
    pub opt_level: u8,
    /// The processor.
    pub cpu: String,
    /// What `build` decided.
    pub options: LinkOptions,
}

impl LinkArguments {
    /// The options of `opt` and `llc` that say what to compile for.
    pub fn processor(&self) -> Vec<String> {
        let feature = self.options.wave_size.map(|wave| format!("-mattr=+{}", wave.llvm_feature()));
        std::iter::once(format!("-mcpu={}", self.cpu)).chain(feature).collect()
    }

    /// Reads rustc's linker arguments (`gcc` flavour), without the program's own name.
    ///
    /// What concerns host programs (`--eh-frame-hdr`, `-z noexecstack`, library paths …) is passed over. A
    /// user's own link arguments are for the host's linker, and are passed over as well, but for libraries of
    /// bitcode.
    ///
    /// # Errors
    /// [`LinkError::Arguments`] if an input, the output, the processor or an option of ours is missing or
    /// wrong; [`LinkError::Io`] if a response file or the list of exports cannot be read.
    pub fn parse(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Result<Self, LinkError> {
        let mut words = Vec::new();
        for argument in arguments {
            unwrap_argument(argument.as_ref(), &mut words)?;
        }

        let (mut inputs, mut libraries, mut output, mut exports) = (Vec::new(), Vec::new(), None, Vec::new());
        let (mut opt_level, mut cpu, mut pattern, mut lld, mut version) = (2, None, None, None, None);
        let (mut llvm, mut wave_size, mut heap) = (String::new(), None, None);
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let Some(text) = word.to_str() else {
                if word.to_string_lossy().ends_with(".o") {
                    inputs.push(PathBuf::from(word));
                }
                continue;
            };
            if text == "-o" {
                output = words.next().map(PathBuf::from);
            } else if matches!(text, "-L" | "-l" | "-z") {
                words.next();
            } else if let Some(path) = text.strip_prefix("--version-script=") {
                exports = read_exports(Path::new(path))?;
            } else if let Some(option) = text.strip_prefix("-plugin-opt=") {
                if let Some(name) = option.strip_prefix("mcpu=") {
                    cpu = Some(name.to_owned());
                } else if let Some(level) = option.strip_prefix('O') {
                    opt_level = level.parse().map_err(|_| {
                        LinkError::Arguments(format!(
                            "rustc asks for an unknown optimisation level `{option}`"
                        ))
                    })?;
                }
            } else if let Some(text) = text.strip_prefix(TOOLS) {
                pattern = Some(text.to_owned());
            } else if let Some(path) = text.strip_prefix(LLD) {
                lld = Some(PathBuf::from(path));
            } else if let Some(text) = text.strip_prefix(LLVM_VERSION) {
                llvm = text.to_owned();
            } else if let Some(text) = text.strip_prefix(WAVE_SIZE) {
                let size = text.parse().ok().and_then(WaveSize::from_lanes);
                let unknown = || LinkError::Arguments(format!("`{text}` is not a size of waves"));
                wave_size = Some(size.ok_or_else(unknown)?);
            } else if let Some(text) = text.strip_prefix(CODE_OBJECT_VERSION) {
                version =
                    Some(text.parse().map_err(|_| {
                        LinkError::Arguments(format!("`{text}` is not a code object version"))
                    })?);
            } else if let Some(text) = text.strip_prefix(HEAP) {
                let unknown = |_| LinkError::Arguments(format!("`{text}` is not a size of a heap"));
                heap = Some(text.parse().map_err(unknown)?);
            } else if !text.starts_with('-') && text.ends_with(".o") {
                inputs.push(PathBuf::from(text));
            } else if !text.starts_with('-') && text.ends_with(".bc") {
                libraries.push(PathBuf::from(text));
            }
        }

        let missing = |what: &str| {
            LinkError::Arguments(format!(
                "called as a linker without {what}; `cargo amdinst show-env` prints how to call it by hand"
            ))
        };
        if inputs.is_empty() {
            return Err(missing("an object file"));
        }
        let tools = LlvmTools {
            pattern: pattern.ok_or_else(|| missing(TOOLS))?,
            lld: lld.ok_or_else(|| missing(LLD))?,
            version: llvm,
        };
        Ok(Self {
            inputs,
            libraries,
            output: output.ok_or_else(|| missing("-o"))?,
            exports,
            opt_level,
            cpu: cpu.ok_or_else(|| missing("-Ctarget-cpu"))?,
            options: LinkOptions {
                tools,
                wave_size,
                code_object_version: version,
                heap: heap.ok_or_else(|| missing(HEAP))?,
            },
        })
    }
}

/// Splits `-Wl,a,b` and reads `@file`.
fn unwrap_argument(argument: &OsStr, words: &mut Vec<OsString>) -> Result<(), LinkError> {
    let Some(text) = argument.to_str() else {
        words.push(argument.to_owned());
        return Ok(());
    };
    if let Some(list) = text.strip_prefix("-Wl,") {
        words.extend(list.split(',').map(OsString::from));
    } else if let Some(path) = text.strip_prefix('@') {
        for line in read(Path::new(path))?.lines() {
            unwrap_argument(OsStr::new(&unquoted(line)), words)?;
        }
    } else {
        words.push(argument.to_owned());
    }
    Ok(())
}

/// A line of the response file that rustc writes when a command line is too long: GNU quoting, one argument a
/// line.
fn unquoted(line: &str) -> String {
    let line = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let mut text = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        text.push(if character == '\\' { characters.next().unwrap_or('\\') } else { character });
    }
    text
}

/// The `global:` symbols of the version script that rustc writes.
fn read_exports(path: &Path) -> Result<Vec<String>, LinkError> {
    let text = read(path)?;
    let global = text.split("local:").next().unwrap_or_default();
    let global = global.split_once("global:").map_or("", |(_, rest)| rest);
    Ok(global
        .split(';')
        .map(|name| name.trim().trim_matches('"').to_owned())
        .filter(|name| !name.is_empty())
        .collect())
}

fn read(path: &Path) -> Result<String, LinkError> {
    fs::read_to_string(path).map_err(|source| LinkError::Io { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustc_call() {
        let directory = tempfile::tempdir().unwrap();
        let list = directory.path().join("list");
        fs::write(&list, "{\n  global:\n    __amdinst_probes_x;\n    saxpy;\n\n  local:\n    *;\n};\n")
            .unwrap();
        let options = LinkOptions {
            tools: LlvmTools {
                pattern: "/llvm/{}-22".to_owned(),
                lld: PathBuf::from("/llvm/ld.lld"),
                version: "22.1.8".to_owned(),
            },
            wave_size: Some(WaveSize::Wave64),
            code_object_version: Some(5),
            heap: 1 << 20,
        };
        let mut words = vec![
            format!("-Wl,--version-script={}", list.display()),
            "-Wl,--no-undefined-version".to_owned(),
            "/t/k.rcgu.o".to_owned(),
            "/opt/rocm/amdgcn/bitcode/ockl.bc".to_owned(),
            "--no-gc-sections".to_owned(),
            "-L".to_owned(),
            "/t/raw-dylibs".to_owned(),
            "-fuse-ld=lld".to_owned(),
            "-Wl,-z,noexecstack".to_owned(),
            "-Wl,-plugin-opt=O3,-plugin-opt=mcpu=gfx90a".to_owned(),
            "-o".to_owned(),
            "/t/k.elf".to_owned(),
            "-shared".to_owned(),
        ];
        words.extend(options.to_arguments());
        let parsed = LinkArguments::parse(&words).unwrap();
        assert_eq!(
            parsed,
            LinkArguments {
                inputs: vec![PathBuf::from("/t/k.rcgu.o")],
                libraries: vec![PathBuf::from("/opt/rocm/amdgcn/bitcode/ockl.bc")],
                output: PathBuf::from("/t/k.elf"),
                exports: vec!["__amdinst_probes_x".to_owned(), "saxpy".to_owned()],
                opt_level: 3,
                cpu: "gfx90a".to_owned(),
                options,
            }
        );
    }

    #[test]
    fn missing_parts_are_named() {
        let error = LinkArguments::parse([MARKER, "-o", "x"]).unwrap_err().to_string();
        assert!(error.contains("an object file"), "{error}");
        let error = LinkArguments::parse([MARKER, "a.o", "--amdinst-tools={}", "--amdinst-lld=l", "-o", "x"]);
        assert!(error.unwrap_err().to_string().contains("target-cpu"));
    }

    #[test]
    fn response_files() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("args");
        fs::write(&file, "\"-o\"\n\"/with space/k\\\\x.elf\"\n").unwrap();
        let mut words = Vec::new();
        unwrap_argument(OsStr::new(&format!("@{}", file.display())), &mut words).unwrap();
        assert_eq!(words, ["-o", "/with space/k\\x.elf"]);
    }
}
