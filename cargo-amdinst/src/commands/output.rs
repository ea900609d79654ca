//! Data on stdout, and files written whole or not at all.

use std::fmt::Display;
use std::fs::File;
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
    stream(|out| write!(out, "{data}")).map(drop)
}

/// Prints one JSON document, indented, and a newline.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json(data: &impl Serialize) -> CommandResult<()> {
    stream(|out| {
        serde_json::to_writer_pretty(&mut *out, data)?;
        writeln!(out)
    })
    .map(drop)
}

/// Lets `write` print data piece by piece. Breaks off when the reader has seen enough (`… | head`).
///
/// # Errors
/// When stdout cannot be written for any other reason.
pub fn stream(
    write: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'_>>) -> io::Result<()>,
) -> CommandResult<ControlFlow<()>> {
    let mut stdout = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
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
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write_file`], with what `write` writes.
///
/// # Errors
/// As those of [`write_file`], and what `write` gives.
pub fn write_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> CommandResult<()> {
    let failed = || format!("writing {}", path.display());
    let mut file = tempfile::Builder::new()
        .prefix(".amdinst-")
        .permissions(world_readable())
        .tempfile_in(directory_of(path))
        .or_exit_with(Exit::OutputFailed, failed)?;
    write(file.as_file_mut()).or_exit_with(Exit::OutputFailed, failed)?;
    file.persist(path).map_err(|error| error.error).or_exit_with(Exit::OutputFailed, failed)?;
    Ok(())
}

/// The directory that a file stands in.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
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
