//! Branches as they are shown: the user's one by one, those of a dependency together, at each of the user's
//! lines that called it.

use std::collections::BTreeMap;

use amdinst_core::report::{Counts, Location, Lost};
use amdinst_text::count;

use crate::summary::{Branch, KernelSummary};

/// What is shown as one.
#[derive(Clone, Debug)]
pub(crate) enum Shown<'a> {
    /// A branch.
    Branch(&'a KernelSummary, &'a Branch),
    /// Branches of a dependency.
    Dependency(Dependency<'a>),
}

/// The branches of a dependency in a kernel that one line of the user's led to.
#[derive(Clone, Debug)]
pub(crate) struct Dependency<'a> {
    /// The kernel.
    pub(crate) kernel: &'a KernelSummary,
    /// `libm-0.2.16`.
    pub(crate) package: String,
    /// The user's line; `None` for functions that were not inlined.
    pub(crate) caller: Option<&'a Location>,
    /// The branches, in the order in which they came.
    pub(crate) branches: Vec<&'a Branch>,
}

impl Dependency<'_> {
    /// All together.
    pub(crate) fn counts(&self) -> Counts {
        self.branches.iter().map(|branch| branch.counts).sum()
    }

    /// All together.
    pub(crate) fn lost(&self) -> Lost {
        Lost::sum(self.branches.iter().map(|branch| branch.lost))
    }

    /// What they did, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let counts = self.counts();
        format!(
            "{} of {} diverged in {} of {} ({:.1} %); {}",
            count(self.branches.len() as u64, "branch"),
            self.package,
            counts.diverged,
            count(counts.executions, "execution"),
            100.0 * counts.divergence(),
            self.lost()
        )
    }

    /// The place to point at: the user's line, else that of the branch which comes first.
    pub(crate) fn place(&self) -> Location {
        let first = self.branches.first().map(|branch| &branch.location);
        self.caller.or(first).cloned().unwrap_or_default()
    }
}

impl Shown<'_> {
    /// How many branches it is.
    pub(crate) const fn branches(&self) -> usize {
        match self {
            Self::Branch(..) => 1,
            Self::Dependency(dependency) => dependency.branches.len(),
        }
    }

    fn cost(&self) -> (u64, u64) {
        let (lost, counts) = match self {
            Self::Branch(_, branch) => (branch.lost, branch.counts),
            Self::Dependency(dependency) => (dependency.lost(), dependency.counts()),
        };
        (u64::MAX - lost.lanes, u64::MAX - counts.diverged)
    }
}

/// Folds branches, unless all are to be shown one by one. What lost the most lanes is first; else the order
/// stays.
pub(crate) fn fold<'a>(
    branches: impl IntoIterator<Item = (&'a KernelSummary, &'a Branch)>,
    all: bool,
) -> Vec<Shown<'a>> {
    let mut shown = Vec::new();
    let mut known = BTreeMap::new();
    for (kernel, branch) in branches {
        let origin = branch.location.origin();
        let Some(package) = origin.package().filter(|_| !all) else {
            shown.push(Shown::Branch(kernel, branch));
            continue;
        };
        let key = (&kernel.name, &kernel.cpu, package.to_owned(), branch.caller.as_ref());
        let index = *known.entry(key).or_insert(shown.len());
        match shown.get_mut(index) {
            Some(Shown::Dependency(dependency)) => dependency.branches.push(branch),
            _ => shown.push(Shown::Dependency(Dependency {
                kernel,
                package: package.to_owned(),
                caller: branch.caller.as_ref(),
                branches: vec![branch],
            })),
        }
    }
    // Stable.
    shown.sort_by_key(Shown::cost);
    shown
}
