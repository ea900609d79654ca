//! Counters beside the emulator's own count.

use amdgpu_object::CodeObject;
use amdinst_emu::Execution;
use amdinst_format::counters::{Probe, WaveRecord};
use amdinst_format::probes::{KernelProbes, ProbeMap};
use amdinst_format::report::oracle::{self, Disagreement};

use crate::{Counted, as_in_the_original, native_blocks, native_counts, native_ticks};

/// The comparison of a launch's counters with the emulator's own count, as far as it has run.
#[derive(Debug)]
pub struct Comparison<'a> {
    original: &'a CodeObject,
    map: &'a ProbeMap,
    probes: &'a KernelProbes,
    /// No block was left out by choice.
    has_all_blocks: bool,
    most: usize,
    disagreements: Vec<Disagreement>,
    waited: bool,
}

impl<'a> Comparison<'a> {
    /// Of a kernel of `original`, whose instrumented form has this map. Up to `most` disagreements are kept.
    /// If all blocks were asked for (`has_all_blocks`), an instruction that ran and stands in none is one.
    pub fn new(
        original: &'a CodeObject,
        map: &'a ProbeMap,
        probes: &'a KernelProbes,
        has_all_blocks: bool,
        most: usize,
    ) -> Self {
        Self { original, map, probes, has_all_blocks, most, disagreements: Vec::new(), waited: false }
    }

    /// Adds waves that follow one another, from number `first` on: the original's launch, and the
    /// instrumented kernel's.
    pub fn add(&mut self, original: &Execution, counted: &Counted, first: u64) {
        let mut found = self.disagreements(original, &counted.records, first);
        // A loop that waits goes round as often as the turns of the others let it: then the same run tells.
        if original.took_turns && !found.is_empty() {
            let mut own = counted.execution.clone();
            as_in_the_original(self.map, &mut own);
            found = self.disagreements(&own, &counted.records, first);
            self.waited = true;
        }
        oracle::add(&mut self.disagreements, found, self.most);
    }

    fn disagreements(&self, seen: &Execution, records: &[WaveRecord], first: u64) -> Vec<Disagreement> {
        let Self { original, probes, most, .. } = *self;
        let waves = first..first + records.len() as u64;
        match probes.probe {
            Probe::Branches => oracle::compare(probes, records, &native_counts(&seen.masks, waves), most),
            Probe::Blocks => {
                let native = native_blocks(&seen.steps, waves);
                oracle::compare_blocks(probes, records, &native, self.has_all_blocks, most)
            }
            Probe::Time => oracle::compare_times(records, &native_ticks(original, &seen.steps, waves), most),
        }
    }

    /// Whether counters were compared with the instrumented kernel's own run, since workgroups waited for
    /// others.
    pub const fn waited(&self) -> bool {
        self.waited
    }

    /// The first disagreements; none if counters are what happened.
    pub fn into_disagreements(self) -> Vec<Disagreement> {
        self.disagreements
    }
}
