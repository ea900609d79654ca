//! What mends a fault.

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::Location;
use amdinst_core::report::run::FaultReport;
use amdinst_emu::{AccessKind, Fault, FaultKind};
use amdinst_report::Sources;

use crate::request::Request;

/// Of a race that is certain: what puts the accesses in order.
pub(crate) fn of_race(fault: &Fault, report: &FaultReport, sources: &Sources) -> Option<String> {
    match &fault.kind {
        FaultKind::LaneRace { certain: true, .. } => {
            Some("have one lane write there, give each a place of its own, or use an atomic".to_owned())
        }
        FaultKind::Race { certain: true, workgroup: Some(_), .. } => Some(
            "nothing orders workgroups of a launch: use atomics, give each workgroup a place of its own, or launch what comes \
             second as a kernel of its own"
                .to_owned(),
        ),
        FaultKind::Race { certain: true, workgroup: None, access, earlier, .. } => {
            let before = report.earlier.as_ref()?;
            let (first, second) = apart(&before.frames, &report.frames)
                .unwrap_or_else(|| (before.location.clone(), report.location.clone()));
            let both_write = (*earlier, *access) == (AccessKind::Write, AccessKind::Write);
            Some(between(&first, &second, both_write, sources))
        }
        _ => None,
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

/// Where the barrier belongs between two accesses of waves of one workgroup. Which of them came first tells nothing of their order in the
/// source, for waves run one after another.
fn between(one: &Location, other: &Location, both_write: bool, sources: &Sources) -> String {
    let (first, second) = if one <= other { (one, other) } else { (other, one) };
    let (Some(file), Some(begin), Some(end)) = (&first.file, first.line, second.line) else {
        return format!("put a `barrier()` between {} and {}", first.short(), second.short());
    };
    if first.file != second.file {
        return format!("put a `barrier()` between {} and {}", first.short(), second.short());
    }
    if begin == end {
        return match both_write {
            true => format!("have one work-item of the workgroup write at line {end}, or use an atomic"),
            false => format!("put a `barrier()` between the accesses of line {end}, or use an atomic"),
        };
    }
    // It orders what is in its round; the next one begins with what is before it.
    let has_barrier = sources.get(file).is_some_and(|source| {
        (begin..end).any(|line| source.line(line).is_some_and(|(_, text)| text.contains("barrier()")))
    });
    match has_barrier {
        true => format!("put a `barrier()` behind line {end}, before line {begin} runs again"),
        false => format!("put a `barrier()` between lines {begin} and {end}"),
    }
}

/// Of a launch whose sizes are none: which arguments these are, and what they may be.
pub(crate) fn of_shape(fault: &Fault, request: &Request<'_>) -> Option<String> {
    let FaultKind::BadDispatch(_) = fault.kind else { return None };
    let most = request.built.original.kernel(request.kernel)?.metadata.max_flat_workgroup_size;
    let size = request.block.iter().map(|&size| u64::from(size)).product::<u64>();
    let is_none = request.grid.contains(&0) || request.block.contains(&0);
    (is_none || size > u64::from(most)).then(|| {
        format!(
            "`launch(device, workgroups, work_items, …)` has the number of workgroups, at least 1, and that of the work-items of each, from 1 \
             to {most}; `launch_1d(device, n, …)` divides `n` work-items into workgroups itself"
        )
    })
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
    fn a_barrier_belongs_between_two_lines() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("lib.rs"), "a\nb\nc\nbarrier();\nd\n").unwrap();
        let sources = Sources::new(directory.path(), &[]);
        let at = |line| Location { file: Some("lib.rs".to_owned()), line: Some(line), column: Some(9) };
        let told = |one, other, both_write| between(&at(one), &at(other), both_write, &sources);
        assert_eq!(told(1, 3, false), "put a `barrier()` between lines 1 and 3");
        assert_eq!(told(3, 1, false), told(1, 3, true));
        // There is one: it is missed in the next round.
        assert_eq!(told(5, 3, false), "put a `barrier()` behind line 5, before line 3 runs again");
        assert!(told(2, 2, false).contains("between the accesses of line 2"));
        assert!(told(2, 2, true).contains("one work-item"));
        let other = Location { file: Some("other.rs".to_owned()), ..at(3) };
        let told = between(&at(1), &other, false, &sources);
        assert_eq!(told, "put a `barrier()` between lib.rs:1:9 and other.rs:3:9");
    }
}
