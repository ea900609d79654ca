//! Two tables of resources, side by side.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::{KernelResources, Metric, ResourceTable, SCHEMA};
use crate::diff::Verdict;

/// What differs between two files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceDiff {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The earlier file.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub before: String,
    /// The later one.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub after: String,
    /// The worse first, then in the order of the later file.
    pub changes: Vec<KernelChange>,
    /// Kernels that are as they were.
    pub unchanged: u64,
}

/// A kernel whose figures differ, or that one of the files alone has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelChange {
    /// What became of it.
    pub verdict: Verdict,
    /// The kernel: as the later file has it, if it is there.
    pub kernel: KernelResources,
    /// Its figures that differ; none if one of the files does not have it.
    pub figures: Vec<Figure>,
}

/// A figure that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figure {
    /// Of what.
    pub metric: Metric,
    /// In the earlier file; nothing if it is not known.
    pub before: Option<u64>,
    /// In the later one; nothing if it is not known.
    pub after: Option<u64>,
}

impl Figure {
    /// By how much it is worse than it was: negative if it is better, none if one of both is not known.
    pub fn worse_by(&self) -> Option<i64> {
        let grown = i64::try_from(self.after?).ok()? - i64::try_from(self.before?).ok()?;
        Some(if self.metric.is_better_high() { -grown } else { grown })
    }

    fn is_worse(&self) -> bool {
        // What was known and is not may be worse.
        self.worse_by().map_or(self.before.is_some(), |by| by > 0)
    }
}

impl ResourceDiff {
    /// Kernels are the same when symbol and target are. Of several the first is compared with the first.
    pub fn new(before: &ResourceTable, after: &ResourceTable) -> Self {
        let mut earlier: BTreeMap<(&str, &str), VecDeque<&KernelResources>> = BTreeMap::new();
        for kernel in &before.kernels {
            earlier.entry((&kernel.name, &kernel.target)).or_default().push_back(kernel);
        }
        let (mut changes, mut unchanged) = (Vec::new(), 0);
        for kernel in &after.kernels {
            let was = earlier.get_mut(&(&*kernel.name, &*kernel.target)).and_then(VecDeque::pop_front);
            let Some(was) = was else {
                changes.push(KernelChange {
                    verdict: Verdict::New,
                    kernel: kernel.clone(),
                    figures: Vec::new(),
                });
                continue;
            };
            let figures: Vec<Figure> = Metric::ALL
                .into_iter()
                .map(|metric| Figure { metric, before: metric.of(was), after: metric.of(kernel) })
                .filter(|figure| figure.before != figure.after)
                .collect();
            if figures.is_empty() {
                unchanged += 1;
                continue;
            }
            let verdict = if figures.iter().any(Figure::is_worse) { Verdict::Worse } else { Verdict::Better };
            changes.push(KernelChange { verdict, kernel: kernel.clone(), figures });
        }
        let gone = earlier.into_values().flatten();
        let gone = gone.map(|kernel| KernelChange {
            verdict: Verdict::Gone,
            kernel: kernel.clone(),
            figures: vec![],
        });
        changes.extend(gone);
        changes.sort_by_key(|change| change.verdict);
        Self { schema: SCHEMA, before: before.file.clone(), after: after.file.clone(), changes, unchanged }
    }

    /// Whether the files have no kernel in common, so that nothing was compared.
    pub fn is_of_strangers(&self) -> bool {
        let is_in_both = |change: &KernelChange| matches!(change.verdict, Verdict::Worse | Verdict::Better);
        self.unchanged == 0 && !self.changes.iter().any(is_in_both)
    }
}
