//! Memory of which it is not known what the GPU had there, and why.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Ranges of addresses that do not overlap, each with its reason.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    /// The end and the reason by the begin.
    by_start: BTreeMap<u64, (u64, Arc<str>)>,
}

impl Spans {
    /// Makes a range known again.
    pub(super) fn clear(&mut self, range: Range<u64>) {
        let first = self.by_start.range(..range.start).next_back().filter(|(_, (end, _))| *end > range.start);
        let first = first.map(|(start, _)| *start);
        let within: Vec<u64> = self.by_start.range(range.clone()).map(|(start, _)| *start).collect();
        for start in first.into_iter().chain(within) {
            let Some((end, why)) = self.by_start.remove(&start) else { continue };
            if start < range.start {
                self.by_start.insert(start, (range.start, why.clone()));
            }
            if end > range.end {
                self.by_start.insert(range.end, (end, why));
            }
        }
    }

    /// Makes a range unknown.
    pub(super) fn add(&mut self, range: Range<u64>, why: &Arc<str>) {
        if range.start < range.end {
            self.clear(range.clone());
            self.by_start.insert(range.start, (range.end, why.clone()));
        }
    }

    /// Why something of a range is unknown.
    pub(super) fn why(&self, range: Range<u64>) -> Option<&Arc<str>> {
        let (_, (end, why)) = self.by_start.range(..range.end).next_back()?;
        (*end > range.start && range.start < range.end).then_some(why)
    }

    /// A copy of some bytes makes as much unknown as is of these.
    pub(super) fn copy(&mut self, from: u64, to: u64, bytes: u64) {
        let end = from.saturating_add(bytes);
        let mut found = Vec::new();
        let before = self.by_start.range(..from).next_back();
        for (start, (stop, why)) in before.into_iter().chain(self.by_start.range(from..end)) {
            let part = (*start).max(from)..(*stop).min(end);
            if part.start < part.end {
                found.push((part.start - from + to..part.end - from + to, why.clone()));
            }
        }
        self.clear(to..to.saturating_add(bytes));
        for (range, why) in found {
            self.add(range, &why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_and_copied() {
        let mut spans = Spans::default();
        let (one, two): (Arc<str>, Arc<str>) = ("one".into(), "two".into());
        spans.add(100..200, &one);
        spans.clear(120..130);
        assert_eq!(spans.why(120..130), None);
        assert_eq!(spans.why(119..121).map(|why| &**why), Some("one"));
        spans.add(125..140, &two);
        assert_eq!(spans.why(126..127).map(|why| &**why), Some("two"));
        assert_eq!(spans.why(150..151).map(|why| &**why), Some("one"));
        spans.copy(110, 1000, 15);
        assert_eq!(spans.why(1000..1010).map(|why| &**why), Some("one"));
        assert_eq!(spans.why(1010..1015), None);
        assert_eq!(spans.why(0..100), None);
        assert_eq!(spans.why(150..150), None);
    }
}
