//! Which ROCm runtime a program will load, and whether the library can stand under it.
//!
//! The runtime must reach the driver through functions of another library, and only such as ours has. AMD's own packages link
//! those functions into the runtime itself: there, ours would never be loaded, and the program would find no GPU without a word.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use memmap2::Mmap;
use object::read::elf::{ElfFile64, ProgramHeader as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, elf};

use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// The runtime's library, in every ROCm so far.
const RUNTIME: &str = "libhsa-runtime64.so.1";
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

/// Check the runtime that `program` will load, with `paths` for `LD_LIBRARY_PATH`. What a script, or a program that loads the
/// runtime while it runs, will find can only be guessed: then the user is warned.
///
/// # Errors
/// The program is linked with a runtime that the library cannot stand under.
pub(super) fn check(context: &Context, program: &OsStr, library: &Path, paths: &OsStr) -> CommandResult<()> {
    let linked = of_program(program, paths);
    let certain = linked.is_some();
    let Some(runtime) = linked.or_else(|| installed(paths)) else {
        context.shell.warn(format_args!(
            "there is no ROCm runtime here ({RUNTIME}): the program will find no GPU, unless it brings one along"
        ));
        context.shell.help("`apt-get install libamdhip64-5` on Debian 12");
        return Ok(());
    };
    let (Some(runtime_bytes), Some(library_bytes)) = (map(&runtime), map(library)) else { return Ok(()) };
    let why = match fit(&runtime_bytes, &library_bytes) {
        None | Some(Fit::Good) => return Ok(()),
        Some(Fit::LinkedIn) => format!(
            "{} has the driver's library linked in (as AMD's packages of ROCm have), so the emulator cannot take its place",
            runtime.display()
        ),
        Some(Fit::Lacks(names)) => {
            format!("{} needs functions that the emulator has not: {}", runtime.display(), names.join(", "))
        }
    };
    if certain {
        return Err(Failure::msg(Exit::Unsupported, why).help(HELP));
    }
    context.shell.warn(why);
    context.shell.help(HELP);
    Ok(())
}

/// The runtime that an ELF program is linked with, directly or not, as the dynamic loader finds it.
fn of_program(program: &OsStr, paths: &OsStr) -> Option<PathBuf> {
    let program = which::which(program).ok()?;
    let bytes = map(&program)?;
    let file = ElfFile64::<LittleEndian>::parse(&*bytes).ok()?;
    let segments = file.elf_program_headers().iter();
    let loader = segments
        .filter(|segment| segment.p_type(LittleEndian) == elf::PT_INTERP)
        .find_map(|segment| segment.interpreter(LittleEndian, file.data()).ok().flatten())?;
    let loader = std::str::from_utf8(loader).ok()?;
    // It prints what it would load, and does not start the program.
    let listed =
        Command::new(loader).arg("--list").arg(&program).env("LD_LIBRARY_PATH", paths).output().ok()?;
    in_listing(&String::from_utf8_lossy(&listed.stdout)).map(PathBuf::from)
}

/// The runtime in what `ld.so --list` or `ldconfig -p` prints: `NAME (what it is) => PATH (where it is)`.
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
        in_listing(&String::from_utf8_lossy(&listed.stdout)).map(PathBuf::from)
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
}
