//! Whether an access is an atomic one, as far as the source tells.
//!
//! A relaxed atomic load or store of GFX9 is the same instruction as a plain one, so machine code does not tell whether two accesses that
//! nothing orders are a race. Debug information of Rust does: each atomic goes through a function of `core::sync::atomic`, of which
//! an inline frame is left. Of other languages nothing is left, and of code without debug information nothing is known.
//!
//! Between workgroups the machine code does tell it of loads: one that is atomic for the whole device passes the vector cache
//! (LLVM's AMDGPU usage, memory model), and such loads are not noted ([`device`](super::device)). Any other load there is plain.

use std::sync::Arc;

use amdgpu_isa::Families;
use amdgpu_object::CodeObject;
use amdgpu_object::lines::{Frame, SourceMap};

use crate::config::Unmarked;
use crate::program::{Action, Program, Step};

/// What an instruction's accesses are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Atomicity {
    /// No atomics: of Rust without one, or wider than any.
    Plain,
    /// Atomics.
    Atomic,
    /// Either.
    Unknown,
    /// Whatever it is, its races are meant.
    Allowed,
}

/// What two accesses are that nothing orders, one of them a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No race: both are atomic, or one is allowed.
    Fine,
    /// A race unless both are atomic.
    Unknown,
    /// A race.
    Race,
}

/// Tells what the accesses of two sites are.
#[derive(Clone, Debug)]
pub(crate) struct Judge {
    steps: Arc<[Atomicity]>,
    unmarked: Unmarked,
}

/// Which two accesses they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    /// A load that does not pass the vector cache, and a write of another workgroup.
    LoadAcross,
    /// Any others.
    Other,
}

impl Judge {
    pub(crate) fn new(program: &Program, unmarked: Unmarked) -> Self {
        Self { steps: program.atomicity(), unmarked }
    }

    /// Steps of which nothing is known.
    #[cfg(test)]
    pub(super) fn strict() -> Self {
        Self { steps: Arc::new([]), unmarked: Unmarked::Plain }
    }

    pub(super) fn of(&self, site: u32) -> Atomicity {
        // Sites of other contexts are as many further on.
        let step = (site as usize).checked_rem(self.steps.len());
        step.map_or(Atomicity::Unknown, |step| self.steps[step])
    }

    pub(crate) fn is_atomic(&self, site: u32) -> bool {
        self.of(site) == Atomicity::Atomic
    }

    /// Of the accesses of two sites; for one instruction whose lanes clash, of one site twice.
    pub(crate) fn verdict(&self, one: u32, other: u32, pair: Pair) -> Verdict {
        use Atomicity::{Allowed, Atomic, Plain, Unknown};
        match (self.of(one), self.of(other)) {
            (Allowed, _) | (_, Allowed) | (Atomic, Atomic) => Verdict::Fine,
            (Plain, _) | (_, Plain) => Verdict::Race,
            _ if pair == Pair::LoadAcross => Verdict::Race,
            (Unknown, Unknown) if self.unmarked != Unmarked::Either => Verdict::Race,
            (Unknown, _) | (_, Unknown) if self.unmarked == Unmarked::Plain => Verdict::Race,
            (Unknown, _) | (_, Unknown) => Verdict::Unknown,
        }
    }
}

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

/// The function's path without its parameters: of `atomic_load<u32>` as of `core::sync::atomic::atomic_load::<u32>`.
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

/// Whether a frame is at a place: `FILE`, `FILE:LINE` (the end of a path) or `FUNCTION` (the end of its path, without its
/// parameters).
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

    #[test]
    fn verdicts() {
        use Atomicity::{Allowed, Atomic, Plain, Unknown};
        let kinds = [Plain, Atomic, Unknown, Allowed];
        let judge = |unmarked| Judge { steps: Arc::new(kinds), unmarked };
        let verdicts = |unmarked, pair| {
            let judge = judge(unmarked);
            // In another context: four steps further on.
            [(0, 0), (0, 1), (0, 2), (1, 5), (1, 2), (2, 6), (0, 3), (2, 3)].map(|(a, b)| {
                assert_eq!(judge.verdict(a, b, pair), judge.verdict(b, a, pair));
                judge.verdict(a, b, pair)
            })
        };
        use Verdict::{Fine, Race};
        let unknown = Verdict::Unknown;
        let races = [Race, Race, Race, Fine, Race, Race, Fine, Fine];
        let (met, either) = (Unmarked::AsTheyMeet, Unmarked::Either);
        assert_eq!(verdicts(either, Pair::Other), [Race, Race, Race, Fine, unknown, unknown, Fine, Fine]);
        assert_eq!(verdicts(met, Pair::Other), [Race, Race, Race, Fine, unknown, Race, Fine, Fine]);
        assert_eq!(verdicts(Unmarked::Plain, Pair::Other), races);
        for unmarked in [Unmarked::Plain, met, either] {
            assert_eq!(verdicts(unmarked, Pair::LoadAcross), races);
        }
    }
}
