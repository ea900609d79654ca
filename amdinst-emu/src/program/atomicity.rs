//! Which accesses of a program are atomics, as far as its source tells: see `races::atomicity`.

use std::sync::Arc;

use amdgpu_isa::Families;
use amdgpu_object::CodeObject;
use amdgpu_object::lines::{Frame, SourceMap};

use super::{Action, Program, Step};
use crate::races::Atomicity;

/// What a program's source tells of its accesses.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    /// With its debug information.
    pub(crate) object: CodeObject,
    /// Places of accesses whose races are meant.
    pub(crate) allowed: Vec<String>,
}

/// The atomicity of each step of a program.
pub(crate) fn of_steps(program: &Program, sources: Option<&Sources>) -> Arc<[Atomicity]> {
    let lines = sources.and_then(|sources| SourceMap::new(&sources.object).ok()).unwrap_or_default();
    let allowed = sources.map(|sources| sources.allowed.as_slice()).unwrap_or_default();
    let of_step = |step: &Step| {
        if !accesses(step) {
            return Atomicity::Plain;
        }
        let pc = program.pc(step);
        let frames = lines.frames(pc);
        let symbol = sources.and_then(|sources| symbol(&sources.object, pc));
        let is_allowed = |place: &String| {
            symbol.is_some_and(|symbol| symbol == place) || frames.iter().any(|frame| is_at(frame, place))
        };
        if allowed.iter().any(is_allowed) { Atomicity::Allowed } else { of_access(step, &frames) }
    };
    program.steps.iter().map(of_step).collect()
}

fn accesses(step: &Step) -> bool {
    step.extra.as_ref().is_some_and(|extra| extra.memory.is_some() || extra.scalar.is_some())
        || step.op.is_of(Families::DATA_SHARE)
}

/// The largest atomic, in bytes.
const WIDEST: u8 = 8;

fn of_access(step: &Step, frames: &[Frame]) -> Atomicity {
    let extra = step.extra.as_ref();
    if let Some(access) = extra.and_then(|extra| extra.memory) {
        match access.action {
            Action::Atomic { .. } => return Atomicity::Atomic,
            // Compilers join plain accesses in pairs, and never make others of atomics.
            Action::Load { bytes, .. } | Action::Store { bytes, .. }
                if bytes > WIDEST || access.second.is_some() || access.typed.is_some() =>
            {
                return Atomicity::Plain;
            }
            _ => {}
        }
    }
    if let Some(access) = extra.and_then(|extra| extra.scalar.as_ref()) {
        return match access.action {
            Action::Atomic { .. } => Atomicity::Atomic,
            _ => Atomicity::Plain,
        };
    }
    let is_rust = |frame: &Frame| frame.file.ends_with(".rs");
    match frames.first() {
        // Where compilers have joined two places in the source, neither is told.
        Some(frame) if frame.line == 0 || frame.approximate || !is_rust(frame) => Atomicity::Unknown,
        Some(_) if frames.iter().any(is_of_atomic) => Atomicity::Atomic,
        Some(_) => Atomicity::Plain,
        None => Atomicity::Unknown,
    }
}

/// Whether a frame is that of one of the functions that all atomics go through.
fn is_of_atomic(frame: &Frame) -> bool {
    let own = path(frame).rsplit("::").next().unwrap_or_default();
    own.starts_with("atomic_") && frame.file.ends_with("/core/src/sync/atomic.rs")
}

/// The function's path without its parameters: of `atomic_load<u32>` as of
/// `core::sync::atomic::atomic_load::<u32>`.
fn path(frame: &Frame) -> &str {
    let name = frame.function.as_deref().unwrap_or_default();
    name.split('<').next().unwrap_or_default().trim_end_matches("::")
}

/// The function or kernel that an address is in.
fn symbol(object: &CodeObject, pc: u64) -> Option<&str> {
    let kernels = object.kernels.iter().map(|kernel| (&kernel.code, kernel.name.as_str()));
    let functions = object.functions.iter().map(|function| (&function.code, function.name.as_str()));
    kernels.chain(functions).find(|(code, _)| code.contains(&pc)).map(|(_, name)| name)
}

/// Whether a frame is at a place: `FILE`, `FILE:LINE` (the end of a path) or `FUNCTION` (the end of its path,
/// without its parameters).
fn is_at(frame: &Frame, place: &str) -> bool {
    let ends = |whole: &str, part: &str, before: &str| {
        let rest = Some(part).filter(|part| !part.is_empty()).and_then(|part| whole.strip_suffix(part));
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(before))
    };
    let (file, line) = match place.rsplit_once(':') {
        Some((file, line)) if line.parse::<u32>().is_ok() => (file, line.parse().ok()),
        _ => (place, None),
    };
    let in_file = ends(&frame.file, file, "/") && line.is_none_or(|line: u32| line == frame.line);
    let linkage = frame.linkage_name.as_deref() == Some(place);
    in_file || linkage || line.is_none() && ends(path(frame), place, "::")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str, line: u32) -> Frame {
        Frame {
            function: Some(function.into()),
            linkage_name: None,
            file: file.into(),
            line,
            column: 1,
            approximate: false,
        }
    }

    #[test]
    fn atomics_of_rust() {
        let of = |function: &str| is_of_atomic(&frame(function, "/r/library/core/src/sync/atomic.rs", 9));
        assert!(of("atomic_store<u32>") && of("core::sync::atomic::atomic_load::<u32>"));
        assert!(of("atomic_load"));
        assert!(!of("get_mut") && !of("core::sync::atomic::AtomicU32::into_inner"));
        assert!(!is_of_atomic(&frame("atomic_store<u32>", "src/lib.rs", 9)));
    }

    #[test]
    fn places_that_are_allowed() {
        let frame = frame("scan::look_back::<u32>", "/home/me/src/scan.rs", 12);
        for place in ["scan.rs", "src/scan.rs", "scan.rs:12", "look_back", "scan::look_back"] {
            assert!(is_at(&frame, place), "{place}");
        }
        for place in ["can.rs", "scan.rs:1", "scan.rs:13", "back", "scan", "u32", ""] {
            assert!(!is_at(&frame, place), "{place}");
        }
    }
}
