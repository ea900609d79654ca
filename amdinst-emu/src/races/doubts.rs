//! Pairs of accesses that are races unless both are atomic, which nothing tells: each pair of instructions
//! once.

use std::collections::HashSet;

use super::atomicity::{Judge, Pair, Verdict};
use super::reads::Late;
use crate::check::Outcome;

/// The doubts of a launch, or of LDS.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// Sites of the two.
    known: HashSet<(u32, u32)>,
    told: Vec<Late>,
}

/// The most doubts that are reported.
const MOST: usize = 64;

impl Doubts {
    /// What comes of an access and an earlier one that nothing orders. `late` says what a race of them is.
    ///
    /// # Errors
    /// A race.
    pub(crate) fn judge(
        &mut self,
        judge: &Judge,
        ((earlier, site), pair): ((u32, u32), Pair),
        late: impl FnOnce(bool) -> Late,
    ) -> Outcome {
        match judge.verdict(earlier, site, pair) {
            Verdict::Fine => Ok(()),
            Verdict::Race => Err(late(true).trap),
            Verdict::Unknown => {
                self.add((earlier, site), || late(false));
                Ok(())
            }
        }
    }

    /// Adds a pair. `late` is asked for one that is new.
    fn add(&mut self, sites: (u32, u32), late: impl FnOnce() -> Late) {
        if self.known.len() < MOST && self.known.insert(sites) {
            self.told.push(late());
        }
    }

    /// Adds one that has shown late.
    pub(super) fn add_late(&mut self, late: Late) {
        // That of two lanes has one site.
        let sites = (late.trap.earlier.unwrap_or(late.site), late.site);
        self.add(sites, || late);
    }

    /// Adds those of LDS, of the workgroup whose first wave that is.
    pub(crate) fn extend(&mut self, others: Vec<Late>, first_wave: u64) {
        for late in others {
            self.add_late(Late { wave: first_wave + late.wave, ..late });
        }
    }

    /// Takes the doubts that have not been taken yet.
    pub(crate) fn take(&mut self) -> Vec<Late> {
        std::mem::take(&mut self.told)
    }
}
