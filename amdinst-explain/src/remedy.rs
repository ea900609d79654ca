//! What mends a fault, in words that say what to write: of a race, what puts its accesses in order; of a
//! barrier, who must come to it; of a stack that ended, less of it.

use amdinst_emu::{AccessKind, Fault, FaultKind, MemorySpace, NotFinite, Stand};
use amdinst_format::panics::NOT_COMPILED;
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::Location;
use amdinst_format::report::run::FaultReport;

/// How a workgroup's barrier is called, by the ends of files' names: in Rust and OpenCL C, and in HIP.
const BARRIERS: [(&str, &[&str]); 2] =
    [("barrier()", &["rs", "cl"]), ("__syncthreads()", &["hip", "cu", "cuh", "cpp", "cc", "h", "hpp"])];

/// How the message of a kernel begins that trapped, and did not panic; the reason follows.
pub(crate) const TRAPPED: &str = "the kernel trapped: ";

/// What mends a fault, where that is known. `source` reads a source file; the stack of the kernel `grows` by
/// what it calls.
pub(crate) fn of_fault(
    fault: &Fault,
    report: &FaultReport,
    source: &dyn Fn(&str) -> Option<String>,
    grows: bool,
) -> Option<String> {
    let (remedy, certain) = match &fault.kind {
        FaultKind::LaneRace { certain, .. } => {
            ("have one lane write there, give each a place of its own, or use an atomic".to_owned(), *certain)
        }
        FaultKind::Race { certain, workgroup: Some(_), .. } => (
            "nothing orders workgroups of a launch: use atomics, give each workgroup a place of its own, or launch what comes \
             second as a kernel of its own"
                .to_owned(),
            *certain,
        ),
        FaultKind::Race { certain, workgroup: None, access, earlier, .. } => {
            let before = report.earlier.as_ref()?;
            let (first, second) = apart(&before.frames, &report.frames)
                .unwrap_or_else(|| (before.location.clone(), report.location.clone()));
            let both_write = (*earlier, *access) == (AccessKind::Write, AccessKind::Write);
            (between(&first, &second, both_write, source), *certain)
        }
        FaultKind::BarrierMismatch { .. } | FaultKind::BarrierDivergence { .. } => {
            return Some(
                "every work-item of the workgroup must reach it: move it out of the `if` or loop, and do not return before it".to_owned(),
            );
        }
        FaultKind::NoSuchLane { .. } => {
            return Some(
                "code that assumes waves of 64: ask for lanes below the size of waves, or build for waves of 64, where the processor has \
                 them"
                    .to_owned(),
            );
        }
        FaultKind::Trap(_) if is_not_compiled(&report.message) => {
            return Some(
                "this processor lacks room or an instruction for it: write it with less, or launch it on others alone".to_owned(),
            );
        }
        FaultKind::OutOfBounds { space: MemorySpace::Scratch, .. } => return Some(of_scratch(grows).to_owned()),
        kind => return behind_barrier(kind, report).or_else(|| of_kind(kind).map(str::to_owned)),
    };
    Some(if certain { remedy } else { format!("unless both are atomic: {remedy}") })
}

/// Whether a function was reached that the compiler has no code for.
fn is_not_compiled(message: &str) -> bool {
    message.strip_prefix(TRAPPED).is_some_and(|reason| reason.starts_with(NOT_COMPILED))
}

/// Of a wave that goes round while others of its workgroup wait at a barrier.
fn behind_barrier(kind: &FaultKind, report: &FaultReport) -> Option<String> {
    let goes_round =
        matches!(kind, FaultKind::Budget { .. } | FaultKind::Endless { .. } | FaultKind::Deadlock { .. });
    let mut others = report.waves.iter().filter(|wave| wave.wave != report.wave.wave);
    let barrier = others.find(|wave| goes_round && wave.stand == Stand::AtBarrier.word())?;
    Some(format!(
        "what this wave waits for may be behind the barrier at {}, where others of its workgroup wait: let all pass it first",
        barrier.location.short()
    ))
}

/// What mends a fault of which the kind alone tells. `None` where the message says it, or where nobody can
/// mend it in the kernel.
const fn of_kind(kind: &FaultKind) -> Option<&'static str> {
    Some(match kind {
        FaultKind::OutOfBounds { space: MemorySpace::Lds, .. } => {
            "the array in LDS needs an element for each index: make it larger, or launch with more dynamic LDS"
        }
        FaultKind::OutOfBounds { .. } => {
            "compare the index with the number of elements before the access, as in `if i < n`, or launch fewer work-items"
        }
        FaultKind::UseAfterFree { .. } => "keep the buffer until the launch has ended",
        FaultKind::NullPointer { .. } => {
            "pass a buffer for this pointer, or test it before the access: `if !p.is_null()`"
        }
        FaultKind::Misaligned { .. } => {
            "the address must be a multiple of the access's size: index elements of their own type, or use `read_unaligned` and \
             `write_unaligned`"
        }
        FaultKind::ReadOnly { .. } => {
            "constants and code cannot be written: pass a buffer for what the kernel writes"
        }
        FaultKind::Trap(_) => {
            "test for it before, as with `if` or `if let`, or mend the values that come here: a panic of one work-item ends the launch"
        }
        FaultKind::Budget { .. } => {
            "let something in the loop change its condition; a loop that is meant to be long needs a larger `--budget` \
             (`AMDINST_BUDGET`)"
        }
        FaultKind::Endless { .. } => "let something in the loop change its condition",
        FaultKind::Deadlock { .. } => {
            "do not wait for another workgroup: it may not have begun; let a second launch do what comes after, or have the last \
             workgroup that ends do it, which an atomic counter tells"
        }
        FaultKind::BarrierDeadlock { .. } | FaultKind::BarrierUnsignalled { .. } => {
            "every wave of the workgroup must come to the barrier: move it out of the `if` or loop, and do not return before it"
        }
        FaultKind::Unwritten { .. } | FaultKind::UnwrittenRead { .. } => {
            "write the value before it is read: begin with a constant, and let each element be filled before the barrier"
        }
        FaultKind::NotFinite { made: NotFinite::Nan, .. } => {
            "test the operands before: a NaN comes of 0 / 0, of infinities, of the root or the logarithm of a negative number"
        }
        FaultKind::NotFinite { made: NotFinite::Infinity, .. } => {
            "test the divisor for 0, or keep the operands smaller: a softmax subtracts its maximum first, a long sum fits into an f64"
        }
        FaultKind::MissingWait { .. } => {
            "an `asm!` block must wait for its own loads, before it ends or in front of their use; what the compiler writes has its waits"
        }
        FaultKind::RegisterIndex { .. } | FaultKind::JumpOutside { .. } | FaultKind::Undecodable(_) => {
            "a pointer to a function, or an index into registers, is wrong: look at what computed it"
        }
        _ => return None,
    })
}

/// What mends an access beyond a work-item's scratch, which holds its stack.
const fn of_scratch(grows: bool) -> &'static str {
    if grows {
        "the stack of a work-item ended: recurse less deep, or keep large arrays in a buffer (on a GPU `hipDeviceSetLimit` with \
         `hipLimitStackSize` gives more); or an index into an array among the local variables is too large"
    } else {
        "this is beyond the local variables: an index into an array among them is too large, or a pointer to one is wrong"
    }
}

/// The places of two calls, or accesses, in the innermost function of the user's that led to both.
fn apart(one: &[SiteFrame], other: &[SiteFrame]) -> Option<(Location, Location)> {
    let own = |frames: &[SiteFrame]| -> Vec<Location> {
        let places = frames.iter().rev().map(Location::from);
        places.take_while(|place| place.origin().is_own()).collect()
    };
    let (one, other) = (own(one), own(other));
    // The outermost frames are the kernel's.
    let pairs = || one.iter().zip(&other);
    let found = pairs().find(|(one, other)| one != other).or_else(|| pairs().next_back());
    found.map(|(one, other)| (one.clone(), other.clone()))
}

/// Where the barrier belongs between two accesses of waves of one workgroup. Which of them came first tells
/// nothing of their order in the source, for waves run one after another.
fn between(
    one: &Location,
    other: &Location,
    both_write: bool,
    source: &dyn Fn(&str) -> Option<String>,
) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    let barrier = barrier(second);
    let (Some(file), Some(begin), Some(end)) = (&first.file, first.line, second.line) else {
        return format!("put a {barrier} between {} and {}", first.short(), second.short());
    };
    if first.file != second.file {
        return format!("put a {barrier} between {} and {}", first.short(), second.short());
    }
    if begin == end {
        return match both_write {
            true => format!("have one work-item of the workgroup write at line {end}, or use an atomic"),
            false => format!("put a {barrier} between the accesses of line {end}, or use an atomic"),
        };
    }
    // It orders what is in its round; the next one begins with what is before it.
    let is_barrier = |line: &str| BARRIERS.iter().any(|(name, _)| line.contains(name.trim_end_matches("()")));
    let lines = begin.saturating_sub(1) as usize..end.saturating_sub(1) as usize;
    let has_barrier =
        source(file).is_some_and(|text| text.lines().skip(lines.start).take(lines.len()).any(is_barrier));
    match has_barrier {
        true => format!("put a {barrier} behind line {end}, before line {begin} runs again"),
        false => format!("put a {barrier} between lines {begin} and {end}"),
    }
}

/// What a barrier is called in the language of a place.
fn barrier(place: &Location) -> String {
    let end = place.file.as_deref().and_then(|file| file.rsplit_once('.')).map(|(_, end)| end);
    let found = end.and_then(|end| BARRIERS.iter().find(|(_, ends)| ends.contains(&end)));
    found.map_or_else(|| "barrier of the workgroup".to_owned(), |(name, _)| format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_one_function_are_apart_where_it_called() {
        let frame = |line| SiteFrame {
            function: None,
            file: Some("src/lib.rs".into()),
            line: Some(line),
            column: Some(5),
        };
        let lines = |one: &[u32], other: &[u32]| {
            let frames = |lines: &[u32]| lines.iter().map(|&line| frame(line)).collect::<Vec<_>>();
            apart(&frames(one), &frames(other)).map(|(one, other)| (one.line, other.line))
        };
        // Innermost first.
        assert_eq!(lines(&[106, 99], &[111, 101]), Some((Some(99), Some(101))));
        assert_eq!(lines(&[106, 99], &[111, 99]), Some((Some(106), Some(111))));
        assert_eq!(lines(&[99], &[99]), Some((Some(99), Some(99))));
        assert_eq!(lines(&[], &[99]), None);
    }

    #[test]
    fn a_stack_that_ended_is_told_from_an_index() {
        let kind = FaultKind::OutOfBounds {
            space: MemorySpace::Scratch,
            address: 0x4400,
            size: 4,
            write: true,
            nearest: None,
        };
        let fault = Fault {
            kind,
            kernel: "k".to_owned(),
            workgroup: [0; 3],
            wave: 0,
            lane: Some(0),
            pc: None,
            instruction: String::new(),
            calls: Vec::new(),
            lane_state: None,
            earlier: None,
            waves: Vec::new(),
        };
        let report = FaultReport {
            kernel: String::new(),
            kind: fault.kind.word().to_owned(),
            message: String::new(),
            panic: None,
            location: Location::default(),
            frames: Vec::new(),
            pc: None,
            executed_pc: None,
            instruction: String::new(),
            wave: amdinst_format::report::WaveId { workgroup: [0; 3], wave: 0 },
            lane: None,
            earlier: None,
            waves: Vec::new(),
            help: Vec::new(),
            why: None,
        };
        let told = |grows| of_fault(&fault, &report, &|_| None, grows).unwrap();
        assert!(told(true).contains("recurse less deep") && told(true).contains("hipLimitStackSize"));
        assert!(told(false).contains("an index into an array") && !told(false).contains("recurse"));
    }

    #[test]
    fn a_barrier_belongs_between_two_lines() {
        let source = |_: &str| Some("a\nb\nc\nbarrier();\nd\n".to_owned());
        let at =
            |file: &str, line| Location { file: Some(file.to_owned()), line: Some(line), column: Some(9) };
        let told =
            |one, other, both_write| between(&at("lib.rs", one), &at("lib.rs", other), both_write, &source);
        assert_eq!(told(1, 3, false), "put a `barrier()` between lines 1 and 3");
        assert_eq!(told(3, 1, false), told(1, 3, true));
        // There is one: it is missed in the next round.
        assert_eq!(told(5, 3, false), "put a `barrier()` behind line 5, before line 3 runs again");
        assert!(told(2, 2, false).contains("between the accesses of line 2"));
        assert!(told(2, 2, true).contains("one work-item"));
        let apart = between(&at("lib.rs", 1), &at("other.rs", 3), false, &source);
        assert_eq!(apart, "put a `barrier()` between lib.rs:1:9 and other.rs:3:9");
        let told = |file| between(&at(file, 1), &at(file, 3), false, &source);
        assert_eq!(told("k.hip"), "put a `__syncthreads()` between lines 1 and 3");
        assert_eq!(told("k.s"), "put a barrier of the workgroup between lines 1 and 3");
    }
}
