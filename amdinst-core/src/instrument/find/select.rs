//! Choosing sites with selectors: by the name of a `#[probe]`, or by their place in the source.
//!
//! A place selects a site if any frame of its
//! inline chain stands on the lines. A site of a function is counted for all chosen kernels that call the
//! function.
//!
//! A site that is not selected stays as it was compiled. The probe map lists it as `left_out` and has its
//! address in `explained_pcs`: so it is neither refused nor a narrowing that nobody claims.

use std::collections::BTreeSet;
use std::fmt;

use super::probes;
use crate::instrument::options::ProbeSpec;
use crate::instrument::selector::{NoSuchSite, SiteSelector, SourceLines};
use amdinst_format::probes::{ProbeOutcome, ProbeResult, SiteFrame};

impl SourceLines {
    /// Whether one of an inline chain's frames stands there.
    pub(crate) fn contain(&self, frames: &[SiteFrame]) -> bool {
        frames.iter().any(|frame| {
            let line = frame.line.unwrap_or(0);
            (self.first..=self.last).contains(&line) && self.is_file(frame)
        })
    }

    fn is_file(&self, frame: &SiteFrame) -> bool {
        frame.file.as_deref().is_some_and(|file| probes::same_file(file, &self.file))
    }
}

/// What there is to choose from: shown where nothing was found.
#[derive(Debug, Default)]
pub(crate) struct Stock {
    /// Blocks are chosen, not branches.
    pub(crate) blocks: bool,
    /// The inline chains of all sites, or of the blocks' instructions.
    pub(crate) sites: Vec<Vec<SiteFrame>>,
    /// Frames of the branches that all lanes take alike.
    pub(crate) uniform: Vec<Vec<SiteFrame>>,
    /// What became of each probe.
    pub(crate) probes: Vec<ProbeOutcome>,
}

/// Most names, or lines, that an error lists.
const LISTED: usize = 8;

impl Stock {
    /// The error for a selector that selects nothing.
    pub(crate) fn missing(&self, selector: &SiteSelector) -> NoSuchSite {
        let detail = match selector {
            SiteSelector::Probe(name) => self.no_probe(name),
            SiteSelector::Lines(lines) => self.no_lines(lines),
        };
        NoSuchSite { selector: selector.clone(), what: if self.blocks { "block" } else { "branch" }, detail }
    }

    fn no_probe(&self, name: &str) -> String {
        let outcome = |result: fn(&ProbeResult) -> bool| {
            self.probes.iter().any(|outcome| outcome.probe.name == name && result(&outcome.result))
        };
        if outcome(|result| matches!(result, ProbeResult::Uniform(_))) {
            return "its branch is uniform, all lanes take it alike".to_owned();
        }
        if outcome(|result| matches!(result, ProbeResult::IfConverted)) {
            return "it is if-converted, the compiler left no branch".to_owned();
        }
        if outcome(|_| true) {
            return "the compiler left no code for it".to_owned();
        }
        let names: BTreeSet<&str> = self.probes.iter().map(|outcome| outcome.probe.name.as_str()).collect();
        if names.is_empty() {
            return "the code object has no `#[probe]`".to_owned();
        }
        format!("the probes are {}", listed(names.into_iter().map(|name| format!("`{name}`"))))
    }

    fn no_lines(&self, lines: &SourceLines) -> String {
        if self.uniform.iter().any(|frames| lines.contain(frames)) {
            return "the branch there is uniform, all lanes take it alike".to_owned();
        }
        let frames = || self.sites.iter().flatten();
        let mut near: Vec<u32> =
            frames().filter(|frame| lines.is_file(frame)).filter_map(|frame| frame.line).collect();
        near.sort_unstable();
        near.dedup();
        if !near.is_empty() {
            near.sort_by_key(|&line| line.abs_diff(lines.first).min(line.abs_diff(lines.last)));
            let more = near.len() > LISTED;
            near.truncate(LISTED);
            near.sort_unstable();
            let which = if more { "the nearest" } else { "all" };
            let there =
                if self.blocks { "code was compiled to blocks" } else { "branches that can diverge stand" };
            return format!("that file's {there} at line {} ({which})", listed(near));
        }
        let files: BTreeSet<&str> = frames().filter_map(|frame| frame.file.as_deref()).collect();
        if files.is_empty() {
            return "the code object has no source lines for any".to_owned();
        }
        format!("none is of that file; there are some of {}", listed(files))
    }
}

fn listed<T: fmt::Display>(what: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = what.into_iter().map(|one| one.to_string()).collect();
    let rest = all.len().saturating_sub(LISTED);
    let mut text = all[..all.len() - rest].join(", ");
    if rest > 0 {
        text.push_str(&format!(" and {rest} more"));
    }
    text
}

/// Whether an inline chain lies within a probe's construct, or at one of the places, that are asked for. For
/// what has no name of its own; all, if nothing is asked for.
pub(crate) fn concerns(only: &[SiteSelector], specs: &[ProbeSpec], frames: &[SiteFrame]) -> bool {
    only.is_empty()
        || only.iter().any(|selector| match selector {
            SiteSelector::Lines(lines) => lines.contain(frames),
            SiteSelector::Probe(name) => {
                specs.iter().any(|spec| spec.name == *name && probes::within(spec, frames).is_some())
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(file: &str, line: u32) -> SiteFrame {
        SiteFrame { function: None, file: Some(file.into()), line: Some(line), column: Some(3) }
    }

    fn lines(text: &str) -> SourceLines {
        text.parse().unwrap()
    }

    #[test]
    fn any_frame_of_a_chain_may_stand_there() {
        let chain = [frame("/home/me/k/src/inner.rs", 3), frame("/home/me/k/src/outer.rs", 40)];
        for (text, stands) in [
            ("src/inner.rs:3", true),
            ("inner.rs:1-3", true),
            ("outer.rs:40", true),
            ("outer.rs:3", false),
            ("k/src/outer.rs:39-41", true),
            ("er.rs:40", false),
            ("other/src/outer.rs:40", false),
        ] {
            assert_eq!(lines(text).contain(&chain), stands, "{text}");
        }
    }

    #[test]
    fn what_is_missing_is_told_with_what_is_near() {
        let stock = Stock {
            sites: (1..20)
                .map(|k| vec![frame("src/a.rs", 10 * k)])
                .chain([vec![frame("src/b.rs", 5)]])
                .collect(),
            uniform: vec![vec![frame("src/b.rs", 9)]],
            ..Stock::default()
        };
        let told = |text: &str| stock.missing(&SiteSelector::Lines(lines(text))).detail;
        assert!(
            told("a.rs:52").ends_with("at line 20, 30, 40, 50, 60, 70, 80, 90 (the nearest)"),
            "{}",
            told("a.rs:52")
        );
        assert!(told("b.rs:6").ends_with("at line 5 (all)"));
        assert!(told("b.rs:9").contains("uniform"));
        assert!(told("c.rs:9").ends_with("some of src/a.rs, src/b.rs"));
        let probe = SiteSelector::Probe("x".to_owned());
        assert!(stock.missing(&probe).to_string().contains("has no `#[probe]`"));
        assert!(
            Stock::default()
                .missing(&SiteSelector::Lines(lines("a.rs:1")))
                .detail
                .contains("no source lines")
        );
    }
}
