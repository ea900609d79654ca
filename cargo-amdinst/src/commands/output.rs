//! Data on stdout, and files written whole or not at all.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::exit::{CommandResult, Exit, OrExit as _};

/// Prints data. A reader that has seen enough (`… | head`) is no error.
///
/// # Errors
/// When stdout cannot be written for any other reason.
pub fn print(data: &impl Display) -> CommandResult<()> {
    print_bytes(data.to_string().as_bytes())
}

/// Prints one JSON document, indented, and a newline.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json(data: &impl Serialize) -> CommandResult<()> {
    let mut text = serde_json::to_string_pretty(data).or_exit(Exit::OutputFailed)?;
    text.push('\n');
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> CommandResult<()> {
    stream(|out| out.write_all(bytes)).map(drop)
}

/// Lets `write` print data piece by piece. Breaks off when the reader has seen enough (`… | head`).
///
/// # Errors
/// When stdout cannot be written for any other reason.
pub fn stream(
    write: impl FnOnce(&mut io::StdoutLock<'_>) -> io::Result<()>,
) -> CommandResult<ControlFlow<()>> {
    let mut stdout = io::stdout().lock();
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        result => result.map(ControlFlow::Continue).or_exit_with(Exit::OutputFailed, || "writing to stdout"),
    }
}

/// Writes a file whole or not at all: to a temporary file beside it, which then takes its name.
///
/// # Errors
/// When the directory cannot be written, or the name cannot be taken.
pub fn write_file(path: &Path, bytes: &[u8]) -> CommandResult<()> {
    let failed = || format!("writing {}", path.display());
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".amdinst-")
        .permissions(world_readable())
        .tempfile_in(directory)
        .or_exit_with(Exit::OutputFailed, failed)?;
    file.write_all(bytes).or_exit_with(Exit::OutputFailed, failed)?;
    file.persist(path).map_err(|error| error.error).or_exit_with(Exit::OutputFailed, failed)?;
    Ok(())
}

/// A temporary file is its owner's alone; a result is for all whom the umask lets.
#[cfg(unix)]
fn world_readable() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// A source path for people: relative, if it is below the current directory. Compilers write absolute ones.
pub fn short_path(path: &str) -> &str {
    let here = std::env::current_dir().ok();
    let rest =
        here.as_deref().and_then(Path::to_str).and_then(|here| path.strip_prefix(here)?.strip_prefix('/'));
    rest.unwrap_or(path)
}

/// `1 kernel`, `2 kernels`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// `out.elf` to `out.probes.json`.
pub fn probe_map_path(output: &Path) -> PathBuf {
    output.with_extension("probes.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_file_as_it_was() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.elf");
        write_file(&path, b"one").unwrap();
        write_file(&path, b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        let failure = write_file(&directory.path().join("missing/a.elf"), b"three").unwrap_err();
        assert_eq!(failure.exit, Exit::OutputFailed);
    }

    #[test]
    fn the_map_stands_beside_the_code_object() {
        assert_eq!(probe_map_path(Path::new("a/b.inst.elf")), Path::new("a/b.inst.probes.json"));
    }
}
