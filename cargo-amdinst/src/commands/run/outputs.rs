//! `--save` and `out:`: files that buffers go to after the launch.

use std::path::Path;

use amdinst_launch::language::{Element, is_npy};
use amdinst_launch::{Arguments, BufferInfo, Output, npy};

use crate::cli::{Format, RunArgs};
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// Standard output, as a file's name.
const STDOUT: &str = "-";

/// Refuses, before the launch, outputs that would get in one another's way or cannot be made.
pub(super) fn check(args: &RunArgs, arguments: &Arguments, input: &Path) -> CommandResult<()> {
    let is_stdout = |one: &&Output| one.path == Path::new(STDOUT);
    let files = arguments.outputs.iter().filter(|one| !is_stdout(one)).map(|one| &one.path);
    output::check_distinct(files.chain(&args.timeline), &[&input.to_owned()])?;
    for one in &arguments.outputs {
        if let (true, None) = (is_npy(&one.path), npy_element(&one.of)) {
            let (what, path) = (one.of.what(), one.path.display());
            let message = match one.of.element {
                Some(element) => {
                    format!("{what}: {element} is no type of .npy files, so {path} cannot be written")
                }
                None => format!("{what}: {path} is to be an array, and its elements have no type"),
            };
            let help = "give a type that NumPy has, as out:f32[100]:FILE.npy, or a file without .npy";
            return Err(Failure::msg(Exit::Usage, message).help(help));
        }
    }
    let mut to_stdout = arguments.outputs.iter().filter(is_stdout);
    let Some(first) = to_stdout.next() else { return Ok(()) };
    let what = first.of.what();
    let others = [
        (to_stdout.next().is_some(), "another argument"),
        (args.format == Format::Json, "--format json"),
        (!args.print.is_empty(), "--print"),
        (args.trace, "--trace"),
        (args.why.is_some(), "--why"),
        (args.report, "--report"),
        (args.stats, "--stats"),
        (args.timing.is_some(), "--timing"),
    ];
    match others.iter().find(|(given, _)| *given) {
        Some((_, other)) => {
            let message = format!("{what} goes to standard output (`-`), and {other} does, too");
            Err(Failure::msg(Exit::Usage, message).help("write one of them to a file"))
        }
        None => Ok(()),
    }
}

/// The type of a buffer's elements, if arrays can have it.
fn npy_element(of: &BufferInfo) -> Option<Element> {
    of.element.filter(|&element| npy::write(element, &[], &[]).is_some())
}

/// Writes a buffer to its file, or to standard output.
pub(super) fn write(to: &Output, buffers: &[Vec<u8>]) -> CommandResult<()> {
    let bytes = buffers.get(to.of.index).map_or(&[][..], Vec::as_slice);
    if to.path == Path::new(STDOUT) {
        return output::print_bytes(bytes);
    }
    if !is_npy(&to.path) {
        return output::write_file(&to.path, bytes);
    }
    let array = npy_element(&to.of).and_then(|element| {
        let flat = [(bytes.len() / element.size()) as u64];
        npy::write(element, to.of.shape.as_deref().unwrap_or(&flat), bytes)
    });
    let array = array.ok_or("its shape has too many dimensions").map_err(anyhow::Error::msg);
    output::write_file(
        &to.path,
        &array.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", to.path.display()))?,
    )
}
