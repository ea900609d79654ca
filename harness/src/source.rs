//! Source places of instructions.

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
            let file = (!frame.file.is_empty()).then(|| frame.file.to_string());
            let location = Location { file, line: known(frame.line), column: known(frame.column) };
            (location, frame.function.map(|name| name.to_string()))
        })
        .collect()
}

/// Whether a place is in Rust's own library.
pub(crate) fn is_library(location: &Location) -> bool {
    let file = location.file.as_deref().unwrap_or_default();
    file.starts_with("/rustc/") || file.contains("/rustlib/src/rust/")
}
