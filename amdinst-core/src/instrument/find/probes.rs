//! Which sites belong to which `#[probe]`.
//!
//! The compiler gives a branch the location of its condition, so the branch of a construct is the first
//! located one within it that lies in no narrower probe. A location is one of the frames of the inline chain,
//! so a probe in a function that was inlined finds its branch in the caller.

use crate::instrument::options::{ProbeKind, ProbeSpec};
use amdinst_format::probes::{Places, ProbeOutcome, ProbeResult, Site, SiteFrame, SiteKind, UniformBranch};

/// Gives sites and uniform branches the names of their probes, and tells what became of each probe. `code`
/// yields the source locations of all instructions; it is asked only when a probe has no branch.
pub(crate) fn assign(
    probes: &[ProbeSpec],
    sites: &mut [Site],
    uniform: &mut [UniformBranch],
    places: &Places,
    code: &mut dyn FnMut() -> Vec<Vec<SiteFrame>>,
) -> Vec<ProbeOutcome> {
    let mut outcomes = Vec::new();
    if probes.is_empty() {
        return outcomes;
    }
    let of_sites: Vec<_> = sites.iter().map(|site| places.frames(site.place)).collect();
    let of_uniform: Vec<_> = uniform.iter().map(|branch| places.frames(branch.place)).collect();
    // Narrow probes first: each branch keeps the first name it gets.
    let mut order: Vec<&ProbeSpec> = probes.iter().collect();
    order.sort_by_key(|probe| (span_size(probe), probe.line, probe.column, probe.name.clone()));
    let mut locations = None;
    for (rank, probe) in order.iter().enumerate() {
        let narrower = &order[..rank];
        let place = |frames: &[SiteFrame]| {
            let at = within(probe, frames)?;
            let inside_narrower =
                narrower.iter().any(|other| nested(other, probe) && within(other, frames).is_some());
            (!inside_narrower).then_some(at)
        };
        let whole = matches!(probe.kind, ProbeKind::Kernel | ProbeKind::Function);
        let found: Vec<usize> = if whole {
            (0..sites.len()).filter(|&site| within(probe, &of_sites[site]).is_some()).collect()
        } else {
            let located = sites.iter().enumerate();
            let all: Vec<Candidate> = located
                .filter_map(|(index, site)| {
                    let leaves_loop = site.kind == SiteKind::LoopExit;
                    Some(Candidate { index, at: place(&of_sites[index])?, leaves_loop })
                })
                .collect();
            own_branches(probe, &all)
        };
        for &site in &found {
            sites[site].name.get_or_insert_with(|| probe.name.clone());
        }
        let mut result = ProbeResult::Sites(found.iter().map(|&site| sites[site].id).collect());
        if found.is_empty() {
            let located = of_uniform.iter().enumerate();
            let all: Vec<Candidate> = located
                .filter_map(|(index, frames)| {
                    Some(Candidate { index, at: place(frames)?, leaves_loop: false })
                })
                .collect();
            let branches = if whole { Vec::new() } else { own_branches(probe, &all) };
            for &branch in &branches {
                uniform[branch].name.get_or_insert_with(|| probe.name.clone());
            }
            result = if !branches.is_empty() {
                ProbeResult::Uniform(branches.iter().map(|&branch| uniform[branch].pc).collect())
            } else {
                let code = locations.get_or_insert_with(&mut *code);
                match code.iter().any(|frames| within(probe, frames).is_some()) {
                    true => ProbeResult::IfConverted,
                    false => ProbeResult::Removed,
                }
            };
        }
        outcomes.push(ProbeOutcome { probe: (*probe).clone(), result });
    }
    let position = |outcome: &ProbeOutcome| probes.iter().position(|probe| *probe == outcome.probe);
    outcomes.sort_by_key(position);
    outcomes
}

/// A branch within a construct.
#[derive(Clone, Copy)]
struct Candidate {
    /// Which of the sites, or of the uniform branches.
    index: usize,
    /// Line and column.
    at: (u32, u32),
    leaves_loop: bool,
}

/// Of the branches within a construct those that are its own: a loop's exits if it has any, else what is
/// located first.
///
/// Without optimisation the exit of a loop has the location of what follows the loop, be it the whole
/// construct or its condition. So what leaves a loop is a condition's branch only if nothing else is, and
/// what is located at the construct's very start, before the condition, only if nothing is located behind.
fn own_branches(probe: &ProbeSpec, all: &[Candidate]) -> Vec<usize> {
    let is_loop = matches!(probe.kind, ProbeKind::While | ProbeKind::For | ProbeKind::Loop);
    let exits: Vec<usize> = all.iter().filter(|branch| branch.leaves_loop).map(|exit| exit.index).collect();
    if is_loop && !exits.is_empty() {
        return exits;
    }
    let start = (probe.line, probe.column);
    let rank = |branch: &Candidate| (branch.leaves_loop, branch.at == start, branch.at);
    let best = all.iter().map(rank).min();
    all.iter().filter(|branch| Some(rank(branch)) == best).map(|branch| branch.index).collect()
}

/// The line and column at which an inline chain lies within a probe's construct.
pub(crate) fn within(probe: &ProbeSpec, frames: &[SiteFrame]) -> Option<(u32, u32)> {
    frames.iter().find_map(|frame| {
        let (file, line) = (frame.file.as_deref()?, frame.line?);
        let column = frame.column.unwrap_or(0);
        let at = (line, column);
        let starts = (probe.line, probe.column) <= at || column == 0 && line >= probe.line;
        let inside = starts && at < (probe.end_line, probe.end_column);
        (inside && same_file(file, &probe.file)).then_some(at)
    })
}

/// Whether `inner` lies within `outer` and is not the same span.
fn nested(inner: &ProbeSpec, outer: &ProbeSpec) -> bool {
    let span = |probe: &ProbeSpec| ((probe.line, probe.column), (probe.end_line, probe.end_column));
    let ((inner_start, inner_end), (outer_start, outer_end)) = (span(inner), span(outer));
    inner.file == outer.file
        && outer_start <= inner_start
        && inner_end <= outer_end
        && (outer_start, outer_end) != (inner_start, inner_end)
}

fn span_size(probe: &ProbeSpec) -> (u32, u32) {
    let whole = u32::from(matches!(probe.kind, ProbeKind::Kernel | ProbeKind::Function));
    (whole, probe.end_line.saturating_sub(probe.line) * 1000 + probe.end_column)
}

/// One path ends with the other, whole components compared.
pub(crate) fn same_file(a: &str, b: &str) -> bool {
    let mut a = a.rsplit(['/', '\\']).filter(|part| *part != ".");
    let mut b = b.rsplit(['/', '\\']).filter(|part| *part != ".");
    loop {
        match (a.next(), b.next()) {
            (Some(x), Some(y)) if x == y => {}
            (Some(_), Some(_)) => return false,
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use amdinst_format::probes::PlaceCollector;

    use super::*;

    fn probe(name: &str, kind: ProbeKind, from: (u32, u32), to: (u32, u32)) -> ProbeSpec {
        ProbeSpec {
            name: name.to_owned(),
            kind,
            file: "src/lib.rs".to_owned(),
            line: from.0,
            column: from.1,
            end_line: to.0,
            end_column: to.1,
            function: "kernel".to_owned(),
            expect: false,
        }
    }

    fn frames(line: u32, column: u32) -> Vec<SiteFrame> {
        let frame = |file: &str, line, column| SiteFrame {
            function: None,
            file: Some(file.into()),
            line: Some(line),
            column: Some(column),
        };
        vec![frame("/rust/core/src/cmp.rs", 900, 5), frame("/home/me/crate/src/lib.rs", line, column)]
    }

    fn site(places: &mut PlaceCollector, (id, kind, line, column): (u32, SiteKind, u32, u32)) -> Site {
        Site {
            id,
            kind,
            pc: 0,
            new_pc: 0,
            instruction: "".into(),
            place: places.chain(&frames(line, column)),
            nearby: Vec::new(),
            is_near: false,
            name: None,
            loop_depth: 0,
            function: "".into(),
            else_pcs: Vec::new(),
        }
    }

    #[test]
    fn a_nested_if_is_not_its_parents_branch() {
        let probes = [
            probe("outer", ProbeKind::If, (10, 5), (20, 6)),
            probe("inner", ProbeKind::If, (12, 9), (14, 10)),
            probe("walk", ProbeKind::While, (30, 5), (40, 6)),
            probe("gone", ProbeKind::If, (50, 1), (52, 2)),
            probe("select", ProbeKind::If, (60, 1), (62, 2)),
        ];
        let mut places = PlaceCollector::default();
        let mut sites = [
            (0, SiteKind::If, 10, 8),
            (1, SiteKind::If, 12, 12),
            (2, SiteKind::If, 16, 12),
            (3, SiteKind::If, 31, 12),
            (4, SiteKind::LoopExit, 30, 11),
        ]
        .map(|found| site(&mut places, found));
        let places = places.finish();
        let outcomes = assign(&probes, &mut sites, &mut [], &places, &mut || vec![frames(61, 4)]);
        let results: Vec<&ProbeResult> = outcomes.iter().map(|outcome| &outcome.result).collect();
        assert_eq!(
            results,
            [
                &ProbeResult::Sites(vec![0]),
                &ProbeResult::Sites(vec![1]),
                &ProbeResult::Sites(vec![4]),
                &ProbeResult::Removed,
                &ProbeResult::IfConverted,
            ]
        );
        assert_eq!(sites[1].name.as_deref(), Some("inner"));
        assert_eq!(sites[2].name, None);
    }

    /// As `-O0` writes it: `while … {}` on line 8, then `#[probe] if a % b == 0 { while … {} }` from 10:5 to
    /// 20:6.
    #[test]
    fn the_exit_of_a_loop_before_or_within_is_not_the_branch_of_an_if() {
        let probes = [probe("after", ProbeKind::If, (10, 5), (20, 6))];
        let mut places = PlaceCollector::default();
        let mut sites = [
            (0, SiteKind::LoopExit, 10, 8),
            (1, SiteKind::If, 10, 5),
            (2, SiteKind::If, 10, 8),
            (3, SiteKind::If, 10, 8),
            (4, SiteKind::LoopExit, 12, 15),
        ]
        .map(|found| site(&mut places, found));
        let places = places.finish();
        let outcomes = assign(&probes, &mut sites, &mut [], &places, &mut Vec::new);
        assert_eq!(outcomes[0].result, ProbeResult::Sites(vec![2, 3]));
        // A loop's exit is what is left of an `if` with a break.
        let outcomes = assign(&probes, &mut sites[4..], &mut [], &places, &mut Vec::new);
        assert_eq!(outcomes[0].result, ProbeResult::Sites(vec![4]));
    }

    #[test]
    fn paths_match_by_whole_components() {
        assert!(same_file("/a/b/src/lib.rs", "src/lib.rs"));
        assert!(!same_file("/a/b/mysrc/lib.rs", "src/lib.rs"));
        assert!(!same_file("/a/xlib.rs", "lib.rs"));
    }
}
