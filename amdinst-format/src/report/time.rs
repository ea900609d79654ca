//! How long waves ran: the report of [`Probe::Time`](crate::counters::Probe::Time).
//!
//! # What is measured
//! An instrumented kernel reads `s_memtime` twice per wave: last before the kernel's own first instruction,
//! and first at its `s_endpgm`. Each reading is waited for; the wait of the first reading is part of the
//! time. Until the end the time of entry stays in a pair of SGPRs that nothing else uses, else in lanes of a
//! VGPR. With counters in memory it is stored in the record at once.
//!
//! In the emulator the clock moves by 1 an instruction and by 64 a reading. So the time must be the
//! instructions that the wave ran in the original, plus 64, plus the few instructions of the probe between
//! the readings ([`compare_times`](super::oracle::compare_times)).

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::counters::WaveRecord;

use super::WaveId;

/// How long the waves of a launch ran, in ticks of `s_memtime`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeReport {
    /// The shortest; 0 when no wave ended.
    pub least: u64,
    /// The middle one; of an even number, the lower of the two in the middle.
    pub median: u64,
    /// The longest.
    pub most: u64,
    /// Each wave, in the order of launch; those that never ended are left out.
    pub waves: Vec<WaveTimeReport>,
    /// Of a large launch: how many others ended.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub waves_left_out: u64,
}

/// When a wave ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveTimeReport {
    /// Which wave.
    #[serde(flatten)]
    pub id: WaveId,
    /// The clock at its beginning.
    pub begin: u64,
    /// The clock at its end.
    pub end: u64,
    /// How long it ran.
    pub ticks: u64,
}

impl TimeReport {
    /// The times of the records that hold some.
    pub(super) fn new(records: &[WaveRecord]) -> Self {
        let wave = |record: &WaveRecord| {
            let time = record.time.filter(|_| record.flushed)?;
            let id = WaveId { workgroup: record.workgroup, wave: record.wave };
            Some(WaveTimeReport { id, begin: time.begin, end: time.end, ticks: time.ticks() })
        };
        let mut report = Self { waves: records.iter().filter_map(wave).collect(), ..Self::default() };
        report.sum_up();
        report
    }

    /// Adds the waves of another launch.
    pub(super) fn add(&mut self, other: &Self) {
        self.waves.extend(&other.waves);
        self.sum_up();
    }

    fn sum_up(&mut self) {
        let mut ticks: Vec<u64> = self.waves.iter().map(|wave| wave.ticks).collect();
        ticks.sort_unstable();
        let at = |index: usize| ticks.get(index).copied().unwrap_or(0);
        let last = ticks.len().saturating_sub(1);
        (self.least, self.median, self.most) = (at(0), at(last / 2), at(last));
    }

    /// For people: the three figures, and the waves that took longest. Ends with a newline.
    pub(super) fn table(&self) -> String {
        const SHOWN: usize = 5;
        let mut text = String::new();
        if self.waves.is_empty() {
            return "  no wave ended\n".to_owned();
        }
        let Self { least, median, most, .. } = self;
        let _ = writeln!(text, "  ticks a wave     least {least}, median {median}, most {most}");
        let mut longest: Vec<&WaveTimeReport> = self.waves.iter().collect();
        // Stable: of waves that took as long, the first comes first.
        longest.sort_by_key(|wave| std::cmp::Reverse(wave.ticks));
        for wave in longest.into_iter().take(SHOWN) {
            let _ = writeln!(text, "  {:>12}     {}", wave.ticks, wave.id);
        }
        let waves = self.waves.len() as u64 + self.waves_left_out;
        if waves > SHOWN as u64 {
            let _ = writeln!(text, "  the {SHOWN} longest of {waves} waves");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::WaveTime;

    fn record(wave: u32, flushed: bool, begin: u64, end: u64) -> WaveRecord {
        let time = Some(WaveTime { begin, end });
        WaveRecord { workgroup: [0; 3], wave, flushed, sites: Vec::new(), blocks: Vec::new(), time }
    }

    #[test]
    fn only_waves_that_ended_are_summed_up() {
        let records = [
            record(0, true, 100, 110),
            record(1, true, 100, 200),
            record(2, false, 0, 0),
            record(3, true, 105, 135),
            record(4, true, 105, 155),
        ];
        let report = TimeReport::new(&records);
        assert_eq!((report.least, report.median, report.most), (10, 30, 100));
        assert_eq!(report.waves.iter().map(|wave| wave.id.wave).collect::<Vec<_>>(), [0, 1, 3, 4]);
        let mut both = report.clone();
        both.add(&TimeReport::new(&records[..1]));
        assert_eq!((both.median, both.waves.len()), (30, 5));
        assert!(report.table().contains("least 10, median 30, most 100"));
        assert_eq!(TimeReport::new(&[]).table(), "  no wave ended\n");
    }
}
