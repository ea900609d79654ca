//! Why no code object was linked.

use std::path::PathBuf;

/// Why no code object was linked.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The call is not one that `cargo amdinst build` sets up.
    #[error("{0}")]
    Arguments(String),
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// An input that is not bitcode.
    #[error(
        "{} holds machine code, not LLVM bitcode; native libraries cannot be linked into a code object",
        .0.display()
    )]
    NotBitcode(PathBuf),
    /// A record in a section of ours that cannot be understood.
    #[error("the record `{symbol}` is malformed; amdinst-device and cargo-amdinst are of different versions")]
    Record {
        /// The symbol of the record.
        symbol: String,
    },
    /// Kernels that nothing tells apart.
    #[error("two kernels are called `{name}`, in one module: give one of them another name")]
    SameName {
        /// Both kernels' path.
        name: String,
    },
    /// The entry point of a kernel is not as its record says.
    #[error(
        "the entry point of kernel `{kernel}` is not what its record says; amdinst-device and cargo-amdinst are of different versions"
    )]
    Entry {
        /// The kernel.
        kernel: String,
    },
    /// A tool could not be started.
    #[error("cannot start {}: {source}", tool.display())]
    Start {
        /// The tool.
        tool: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A tool refused.
    #[error("{tool} failed:\n{output}")]
    Tool {
        /// The tool's name.
        tool: &'static str,
        /// Its output.
        output: String,
    },
    /// LLVM's own fault, which nothing here avoids.
    #[error(
        "at opt-level {opt_level} LLVM {version} {what}, and no switch turns that off: build kernels with `opt-level = {safe_level}` in \
         their profile, or with another toolchain"
    )]
    Miscompiles {
        /// LLVM's version.
        version: String,
        /// The level.
        opt_level: u8,
        /// The effect of the miscompilation.
        what: &'static str,
        /// A level at which nothing is wrong.
        safe_level: u8,
    },
    /// A kernel that another size of waves was compiled for than was asked for.
    #[error(
        "kernel `{kernel}` is compiled for waves of {found} lanes, not {wanted}: some flag asks for that feature (RUSTFLAGS, \
         `#[target_feature]`); ask with `--wave-size {found}` instead"
    )]
    WaveSize {
        /// The kernel.
        kernel: String,
        /// Its lanes.
        found: u32,
        /// The lanes that were asked for.
        wanted: u32,
    },
    /// The code object that the tools made cannot be read.
    #[error("the code object that was linked cannot be read: {0}")]
    Unreadable(String),
    /// Symbols that nothing defines.
    #[error("{}", undefined_message(.symbols, .missing))]
    Undefined {
        /// The symbols.
        symbols: Vec<Undefined>,
        /// Libraries that were named and that are not there.
        missing: Vec<PathBuf>,
    },
    /// AMD's device libraries are not installed.
    #[error(
        "kernels call `{symbol}`, which is in AMD's device libraries, and there is no {file} in {}: `apt-get install \
         rocm-device-libs` (Debian) or ROCm installs it; if it is elsewhere, set {}",
        .directory.display(),
        .variable
    )]
    NoDeviceLibraries {
        /// A function that they should define.
        symbol: String,
        /// The file that is missing.
        file: &'static str,
        /// Where it was looked for.
        directory: PathBuf,
        /// The environment variable that names another directory.
        variable: &'static str,
    },
}

/// A symbol that nothing defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// Its name, demangled.
    pub symbol: String,
    /// Who refers to it, as the linker says.
    pub users: Vec<String>,
}

fn list(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn undefined_message(symbols: &[Undefined], missing: &[PathBuf]) -> String {
    use std::fmt::Write as _;
    let mut message = String::new();
    for Undefined { symbol, users } in symbols {
        let _ = writeln!(message, "undefined symbol `{symbol}`");
        for user in users {
            let _ = writeln!(message, "  used by {user}");
        }
    }
    if !missing.is_empty() {
        let _ = writeln!(
            message,
            "libraries that a build script names and that are not there: {}",
            list(missing)
        );
    }
    message
        .push_str("nothing on the device defines it: is it an `extern` function, or one of the C library's?");
    message
}
