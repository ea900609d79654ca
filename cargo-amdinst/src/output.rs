//! Data on stdout, and files written whole or not at all.
//!
//! Text goes to stdout through a [`Clean`]: names of strangers stand in it.

use std::borrow::Cow;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use amdinst_core::report::origin::short;
use amdinst_text::{Clean, json};
use serde::Serialize;

use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::together;
pub use crate::together::directory_of;

/// Prints data. A reader that has seen enough (`… | head`) is no error.
///
/// # Errors
/// When stdout cannot be written for any other reason.
pub fn print(data: &impl Display) -> CommandResult<()> {
    stream(|out| write!(out, "{data}")).map(drop)
}

/// Prints data that has styles, if they are wanted.
///
/// # Errors
/// As those of [`print()`].
pub fn print_styled(data: &impl Display, styles: bool) -> CommandResult<()> {
    stream_to(Clean::text(stdout(), styles), |out| write!(out, "{data}")).map(drop)
}

/// Prints bytes as they are: contents of buffers, which nobody reads on a terminal.
///
/// # Errors
/// As those of [`print()`].
pub fn print_bytes(bytes: &[u8]) -> CommandResult<()> {
    stream_to(stdout(), |out| out.write_all(bytes)).map(drop)
}

/// Prints one JSON document, indented, and a newline.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json(data: &impl Serialize) -> CommandResult<()> {
    stream(|out| {
        json::to_writer_pretty(&mut *out, data)?;
        writeln!(out)
    })
    .map(drop)
}

/// Prints one JSON document as a line.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_json_line(data: &impl Serialize) -> CommandResult<()> {
    stream(|out| {
        json::to_writer(&mut *out, data)?;
        writeln!(out)
    })
    .map(drop)
}

/// Lets `write` print data piece by piece. Breaks off when the reader has seen enough (`… | head`).
///
/// # Errors
/// When stdout cannot be written for any other reason.
pub fn stream(
    write: impl FnOnce(&mut io::BufWriter<Clean<io::StdoutLock<'static>>>) -> io::Result<()>,
) -> CommandResult<ControlFlow<()>> {
    stream_to(Clean::text(stdout(), false), write)
}

/// The process's stdout, which nothing else in this package reaches.
#[allow(clippy::disallowed_methods, reason = "the way out")]
fn stdout() -> io::StdoutLock<'static> {
    io::stdout().lock()
}

fn stream_to<W: io::Write>(
    out: W,
    write: impl FnOnce(&mut io::BufWriter<W>) -> io::Result<()>,
) -> CommandResult<ControlFlow<()>> {
    let mut stdout = io::BufWriter::with_capacity(1 << 16, out);
    match write(&mut stdout).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        result => {
            result.map(ControlFlow::Continue).or_exit_with(Exit::OutputFailed, || "cannot write to stdout")
        }
    }
}

/// Writes a file whole or not at all: to a temporary file beside it, which then takes its name. The target of
/// a link is written, not the link; a file that is there keeps its mode and owner. A device or a pipe
/// (`/dev/null`, `/dev/stdout`) is written to and stays.
///
/// # Errors
/// When the directory cannot be written, or the name cannot be taken.
pub fn write_file(path: &Path, bytes: &[u8]) -> CommandResult<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Adds to the end of a file, which is made if it is not there: the summary of a job, to which its steps add.
///
/// # Errors
/// When it cannot be written.
pub fn append(path: &Path, bytes: &[u8]) -> CommandResult<()> {
    let added = OpenOptions::new().create(true).append(true).open(path);
    let added = added.and_then(|mut file| file.write_all(bytes));
    added.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))
}

/// Writes a file as [`write_file`] does, with what `write` writes.
///
/// # Errors
/// As those of [`write_file`], and what `write` gives.
pub fn write_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> CommandResult<()> {
    let failed = || format!("cannot write {}", path.display());
    put(path, write).or_exit_with(Exit::OutputFailed, failed)
}

fn put(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    if path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return write(&mut OpenOptions::new().write(true).open(path)?);
    }
    together::write(path, write)
}

/// Whether both names are of one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Refuses to write to a file that the same command reads.
///
/// # Errors
/// When one of `outputs` is one of `inputs`.
pub fn check_distinct<'a>(
    outputs: impl IntoIterator<Item = &'a PathBuf>,
    inputs: &[&PathBuf],
) -> CommandResult<()> {
    for output in outputs {
        if inputs.iter().any(|input| is_same_file(input, output)) {
            let message = format!("{} is read by this command: it would be overwritten", output.display());
            return Err(Failure::msg(Exit::Usage, message).help("give another file's name to write to"));
        }
    }
    Ok(())
}

/// Refuses an output that no file can take the name of, before anything is written beside it.
///
/// # Errors
/// When `path` is a directory, a device or a pipe, or a file that may not be written.
pub fn check_file(path: &Path) -> CommandResult<()> {
    match path.metadata() {
        Ok(there) if !there.is_file() => {
            let what = if there.is_dir() { "a directory" } else { "a device or a pipe" };
            let message = format!("cannot write {}: it is {what}", path.display());
            Err(Failure::msg(Exit::OutputFailed, message)
                .help("give a file's name: the probe map goes beside it"))
        }
        _ => together::replaceable(path)
            .map(drop)
            .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display())),
    }
}

/// A source path for people: relative, if it is below the current directory. Compilers write absolute ones.
pub fn short_path(path: &str) -> Cow<'_, str> {
    let here = std::env::current_dir().ok();
    let rest =
        here.as_deref().and_then(Path::to_str).and_then(|here| path.strip_prefix(here)?.strip_prefix('/'));
    rest.map_or_else(|| short(path), Cow::Borrowed)
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
    fn a_device_stays_a_device_and_a_link_a_link() {
        use std::os::unix::fs::FileTypeExt as _;

        let directory = tempfile::tempdir().unwrap();
        // A pipe of its own: a failure as root must not cost the machine its `/dev/null`.
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        write_file(&pipe, b"bytes").unwrap();
        assert!(pipe.metadata().unwrap().file_type().is_fifo());
        assert_eq!(reader.join().unwrap(), b"bytes");

        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        write_file(&file, b"one").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_file(&link, b"two").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
    }

    #[test]
    fn the_map_stands_beside_the_code_object() {
        assert_eq!(probe_map_path(Path::new("a/b.inst.elf")), Path::new("a/b.inst.probes.json"));
    }
}
