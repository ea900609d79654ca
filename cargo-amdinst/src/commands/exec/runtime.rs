//! Which ROCm runtime a program will load, and whether the library can stand under it.
//!
//! The runtime must reach the driver through functions of another library, and only such as ours has. AMD's
//! own packages link those functions into the runtime itself: there, ours would never be loaded, and the
//! program would find no GPU without a word.
//!
//! Such a runtime is refused before the program starts, with what to do. So is a runtime that needs functions
//! which ours lacks, and a program that is linked with a HIP that is not there.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use memmap2::Mmap;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, elf};

use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// The runtime's library, in every ROCm so far.
const RUNTIME: &str = "libhsa-runtime64.so.1";
/// HIP's library, before the number of its version.
const HIP: &str = "libamdhip64.so.";
/// What the names of the driver library's functions begin with.
const PREFIX: &str = "hsaKmt";
/// Where libraries are that no list names.
const DIRECTORIES: [&str; 4] = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64"];
const HELP: &str = "the emulator stands under the runtime of Debian 12 (ROCm 5.2): `apt-get install libamdhip64-5`. A program that was \
                    built for HIP 6 or later must be built for HIP 5. Kernels written in Rust need no ROCm: `cargo amdinst test \
                    --device emu`";

/// Whether the library can stand under a runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fit {
    Good,
    /// The driver's library is part of the runtime.
    LinkedIn,
    /// The runtime needs functions that ours has not.
    Lacks(Vec<String>),
}

/// What is known of a program before it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outlook {
    /// Nothing speaks against it.
    Good,
    /// There is no runtime to be found.
    NoRuntime,
    /// The program is linked with a HIP that is not here.
    NoHip(String),
    /// The library cannot stand under the runtime. The program is linked with it if that is `certain`.
    NoFit { why: String, certain: bool },
}

/// Check the runtime that `program` will load, with `paths` for `LD_LIBRARY_PATH`. What a script, or a
/// program that loads the runtime while it runs, will find can only be guessed: then the user is warned.
///
/// # Errors
/// The program is linked with a runtime that the library cannot stand under, or with a HIP that is not here.
pub(super) fn check(context: &Context, program: &OsStr, library: &Path, paths: &OsStr) -> CommandResult<()> {
    let listing = listing(program, paths);
    match outlook(listing.as_deref().unwrap_or_default(), || installed(paths), library) {
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
        Outlook::NoFit { why, certain: true } => {
            return Err(Failure::msg(Exit::Unsupported, why).help(HELP));
        }
        Outlook::NoFit { why, certain: false } => {
            context.shell.warn(why);
            context.shell.help(HELP);
        }
    }
    Ok(())
}

/// What to expect of a program with that listing, or of one without a listing, of which only what is
/// `installed` is known.
fn outlook(listing: &str, installed: impl FnOnce() -> Option<PathBuf>, library: &Path) -> Outlook {
    if let Some(name) = missing_hip(listing) {
        return Outlook::NoHip(name.to_owned());
    }
    let linked = in_listing(listing).map(PathBuf::from);
    let certain = linked.is_some();
    let Some(runtime) = linked.or_else(installed) else { return Outlook::NoRuntime };
    let (Some(runtime_bytes), Some(library_bytes)) = (map(&runtime), map(library)) else {
        return Outlook::Good;
    };
    let why = match fit(&runtime_bytes, &library_bytes) {
        // What the loader makes of a file that is no library, it says itself.
        None | Some(Fit::Good) => return Outlook::Good,
        Some(Fit::LinkedIn) => format!(
            "{} has the driver's library linked in (as AMD's packages of ROCm have), so the emulator cannot take its place",
            runtime.display()
        ),
        Some(Fit::Lacks(names)) => {
            format!("{} needs functions that the emulator has not: {}", runtime.display(), names.join(", "))
        }
    };
    Outlook::NoFit { why, certain }
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

/// Whether a library can stand under a runtime; `None` if one of the two cannot be read.
fn fit(runtime: &[u8], library: &[u8]) -> Option<Fit> {
    let wanted = functions(runtime, false)?;
    let there = functions(library, true)?;
    let mut lacks: Vec<String> = wanted.difference(&there).map(|name| (*name).to_owned()).collect();
    lacks.sort_unstable();
    Some(match (wanted.is_empty(), lacks.is_empty()) {
        (true, _) => Fit::LinkedIn,
        (false, true) => Fit::Good,
        (false, false) => Fit::Lacks(lacks),
    })
}

/// The driver's functions that a file defines, or that it asks for.
fn functions(file: &[u8], defined: bool) -> Option<HashSet<&str>> {
    let file = ElfFile64::<LittleEndian>::parse(file).ok()?;
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_undefined() != defined);
    Some(symbols.filter_map(|symbol| symbol.name().ok()).filter(|name| name.starts_with(PREFIX)).collect())
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
        let nowhere = Path::new("/nonexistent/libhsakmt.so.1");
        // No listing (a script), and programs that are not linked with it or do not find it.
        for listing in
            ["", "\tlibc.so.6 => /lib/libc.so.6 (0x00007f)\n", "\tlibhsa-runtime64.so.1 => not found\n"]
        {
            assert_eq!(outlook(listing, nothing, nowhere), Outlook::NoRuntime, "{listing}");
        }
        let listing = "\tlibhsa-runtime64.so.1 => not found\n\tlibamdhip64.so.6 => not found\n";
        assert_eq!(outlook(listing, nothing, nowhere), Outlook::NoHip("libamdhip64.so.6".to_owned()));
        let found = "\tlibamdhip64.so.5 => /lib/libamdhip64.so.5 (0x00007f)\n";
        assert_eq!(outlook(found, nothing, nowhere), Outlook::NoRuntime);
    }
}
