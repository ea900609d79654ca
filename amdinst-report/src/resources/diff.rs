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
    /// Of those that were compared, the kernels whose targets are not the same: one processor, with other
    /// features.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub other_targets: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
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

impl KernelChange {
    /// A kernel that one of the files alone has.
    fn alone(verdict: Verdict, kernel: &KernelResources) -> Self {
        Self { verdict, kernel: kernel.clone(), figures: Vec::new() }
    }
}

/// The kernels of the earlier file that nothing has been compared with yet, by symbol and processor, in its
/// order.
struct Earlier<'a>(BTreeMap<(&'a str, &'a str), VecDeque<&'a KernelResources>>);

impl<'a> Earlier<'a> {
    fn of(table: &'a ResourceTable) -> Self {
        let mut kernels = BTreeMap::<_, VecDeque<_>>::new();
        for kernel in &table.kernels {
            kernels.entry((&*kernel.name, processor(kernel))).or_default().push_back(kernel);
        }
        Self(kernels)
    }

    /// The first of the same target.
    fn take(&mut self, kernel: &'a KernelResources) -> Option<&'a KernelResources> {
        let known = self.0.get_mut(&(&*kernel.name, processor(kernel)))?;
        let at = known.iter().position(|other| other.target == kernel.target)?;
        known.remove(at)
    }

    /// The first of the same processor.
    fn take_of_processor(&mut self, kernel: &'a KernelResources) -> Option<&'a KernelResources> {
        self.0.get_mut(&(&*kernel.name, processor(kernel)))?.pop_front()
    }

    /// All that are left.
    fn left(self) -> impl Iterator<Item = &'a KernelResources> {
        self.0.into_values().flatten()
    }
}

/// The processor of a target, without its features.
fn processor(kernel: &KernelResources) -> &str {
    kernel.target.split(':').next().unwrap_or(&kernel.target)
}

impl ResourceDiff {
    /// Kernels are the same when symbol and target are; else when symbol and processor are, for one file may
    /// be built for `gfx90a` and the other for `gfx90a:xnack-`. Of several the first is compared with the
    /// first.
    pub fn new<'a>(before: &'a ResourceTable, after: &'a ResourceTable) -> Self {
        let mut earlier = Earlier::of(before);
        let same: Vec<_> = after.kernels.iter().map(|kernel| earlier.take(kernel)).collect();
        let (mut changes, mut unchanged, mut other_targets) = (Vec::new(), 0, 0);
        for (kernel, was) in after.kernels.iter().zip(same) {
            let Some(was) = was.or_else(|| earlier.take_of_processor(kernel)) else {
                changes.push(KernelChange::alone(Verdict::New, kernel));
                continue;
            };
            other_targets += u64::from(was.target != kernel.target);
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
        changes.extend(earlier.left().map(|kernel| KernelChange::alone(Verdict::Gone, kernel)));
        changes.sort_by_key(|change| change.verdict);
        let (before, after) = (before.file.clone(), after.file.clone());
        Self { schema: SCHEMA, before, after, changes, unchanged, other_targets }
    }

    /// Whether the files have no kernel in common, so that nothing was compared.
    pub fn is_of_strangers(&self) -> bool {
        let is_in_both = |change: &KernelChange| matches!(change.verdict, Verdict::Worse | Verdict::Better);
        self.unchanged == 0 && !self.changes.iter().any(is_in_both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One kernel, for targets with so many VGPRs each.
    fn table(kernels: &[(&str, u32)]) -> ResourceTable {
        let kernel = |&(target, vgprs): &(&str, u32)| KernelResources {
            name: "k".to_owned(),
            target: target.to_owned(),
            vgprs,
            ..KernelResources::default()
        };
        ResourceTable {
            schema: SCHEMA,
            file: String::new(),
            kernels: kernels.iter().map(kernel).collect(),
            skipped: Vec::new(),
        }
    }

    #[test]
    fn the_same_target_comes_before_another_of_the_processor() {
        let before = table(&[("gfx90a:xnack-", 4), ("gfx90a", 8), ("gfx908", 2)]);
        let diff = ResourceDiff::new(&before, &table(&[("gfx90a:xnack+", 5), ("gfx90a", 8)]));
        assert_eq!((diff.unchanged, diff.other_targets), (1, 1));
        let told: Vec<_> =
            diff.changes.iter().map(|change| (change.verdict, &*change.kernel.target)).collect();
        assert_eq!(told, [(Verdict::Worse, "gfx90a:xnack+"), (Verdict::Gone, "gfx908")]);
        assert_eq!(diff.changes[0].figures[0].worse_by(), Some(1));
        assert!(!diff.is_of_strangers());
        assert!(ResourceDiff::new(&before, &table(&[("gfx1100", 4)])).is_of_strangers());
    }
}
