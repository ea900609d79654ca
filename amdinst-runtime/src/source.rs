//! Source places of instructions, and how files are named for people.

use std::path::PathBuf;
use std::sync::OnceLock;

use amdinst_core::object::CodeObject;
use amdinst_core::object::lines::SourceMap;
use amdinst_core::report::Location;

/// Where the instruction at `pc` stands, innermost inlined function first, with the functions' names. Empty without
/// debug information, or when it is damaged.
///
/// Reads the debug information each time: it is asked for when a launch failed, and then once.
pub(crate) fn frames(object: &CodeObject, pc: u64) -> Vec<(Location, Option<String>)> {
    let known = |number: u32| (number != 0).then_some(number);
    let Ok(lines) = SourceMap::new(object) else { return Vec::new() };
    let frames = lines.frames(pc).into_iter();
    frames
        .map(|frame| {
            let file = (!frame.file.is_empty()).then(|| relative(&frame.file).to_owned());
            let location = Location { file, line: known(frame.line), column: known(frame.column) };
            (location, frame.function.map(|name| name.to_string()))
        })
        .collect()
}

/// The directory of the workspace that the running test belongs to, where cargo keeps `Cargo.lock`. The compiler names
/// files from there, and so do we.
pub(crate) fn workspace_root() -> Option<&'static str> {
    static ROOT: OnceLock<Option<String>> = OnceLock::new();
    let find = || {
        let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
        let root = package.ancestors().find(|directory| directory.join("Cargo.lock").is_file())?;
        Some(root.to_str()?.to_owned())
    };
    ROOT.get_or_init(find).as_deref()
}

/// A path from the workspace's directory, if it is in there.
fn relative(path: &str) -> &str {
    let inside = |root| path.strip_prefix(root)?.strip_prefix('/');
    workspace_root().and_then(inside).unwrap_or(path)
}
