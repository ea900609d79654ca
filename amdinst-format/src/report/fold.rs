//! The report of a launch too large to keep every wave of: made part by part, with exact sums, and some of
//! the waves.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::{BlockReport, Counts, Lost, Report, SiteReport, TimeReport, WaveId};
use crate::counters::Layout;

/// Which waves a report has one by one; its sums are those of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Of each site, block, or of the launch: so many of those that lost most lanes, ran most often, or
    /// longest.
    pub worst: usize,
    /// Each wave whose number is a multiple of this.
    pub every: u64,
}

impl Keep {
    /// Every wave of launches that have no more than this.
    pub const ALL: u64 = 1 << 12;

    /// The rule for a launch of so many waves; `None` keeps all of them.
    pub fn of(waves: u64) -> Option<Self> {
        (waves > Self::ALL).then(|| Self { worst: 16, every: waves.div_ceil(64) })
    }
}

/// Waves that a site has not one by one. Its sums have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WavesLeftOut {
    /// How many came here.
    pub waves: u64,
    /// Of these: in how many the branch diverged.
    pub diverged: u64,
    /// Lanes that they lost here.
    pub lost: Lost,
}

impl WavesLeftOut {
    /// Adds what a wave did at the site, and what it lost there.
    fn add(&mut self, counts: &Counts, lost: Lost) {
        *self += Self { waves: 1, diverged: u64::from(counts.diverged > 0), lost };
    }
}

impl AddAssign for WavesLeftOut {
    fn add_assign(&mut self, other: Self) {
        self.waves += other.waves;
        self.diverged += other.diverged;
        self.lost = Lost::sum([self.lost, other.lost]);
    }
}

/// A report in the making.
#[derive(Debug, Default)]
pub struct Fold {
    keep: Option<Keep>,
    report: Option<Report>,
    /// How many waves took so many ticks.
    ticks: BTreeMap<u64, u64>,
}

impl Fold {
    /// One that keeps these waves.
    pub fn new(keep: Option<Keep>) -> Self {
        Self { keep, ..Self::default() }
    }

    /// Adds the report of the next part ([`Report::of_part`]).
    pub fn add(&mut self, part: Report) {
        for wave in part.time.iter().flat_map(|time| &time.waves) {
            *self.ticks.entry(wave.ticks).or_default() += 1;
        }
        match &mut self.report {
            Some(report) => report.add_part(part),
            None => self.report = Some(part),
        }
        if let (Some(keep), Some(report)) = (self.keep, &mut self.report) {
            keep.prune(report);
        }
    }

    /// The report, if there was a part.
    pub fn finish(self) -> Option<Report> {
        let mut report = self.report?;
        if let Some(time) = &mut report.time {
            let waves: u64 = self.ticks.values().sum();
            let at = |place: u64| {
                let mut before = 0;
                let found = self.ticks.iter().find(|(_, count)| {
                    before += **count;
                    before > place
                });
                found.map_or(0, |(ticks, _)| *ticks)
            };
            let last = waves.saturating_sub(1);
            (time.least, time.median, time.most) = (at(0), at(last / 2), at(last));
        }
        Some(report)
    }
}

impl Report {
    /// Leaves out what waves did at sites one by one. The sums have it.
    pub fn leave_out_waves(&mut self) {
        let lanes = self.lanes;
        for SiteReport { kind, waves, left_out, .. } in &mut self.sites {
            for wave in std::mem::take(waves) {
                let lost = Lost::of_wave(lanes, kind, &wave.counts);
                left_out.get_or_insert_default().add(&wave.counts, lost);
            }
        }
    }

    /// Adds the next part of the same launch.
    fn add_part(&mut self, part: Self) {
        self.unfinished.extend(part.unfinished);
        if let (Some(time), Some(part)) = (&mut self.time, part.time) {
            time.waves.extend(part.waves);
        }
        for (block, part) in self.blocks.iter_mut().zip(part.blocks) {
            block.counts += part.counts;
            block.waves.extend(part.waves);
        }
        for (site, part) in self.sites.iter_mut().zip(part.sites) {
            site.counts += part.counts;
            site.waves.extend(part.waves);
        }
    }
}

impl Keep {
    fn prune(self, report: &mut Report) {
        let lanes = report.lanes;
        let layout = Layout::new(report.grid, report.block, 0).with_lanes(lanes);
        let number = |id: &WaveId| layout.wave_index(id.workgroup, id.wave);
        for SiteReport { kind, waves, left_out, .. } in &mut report.sites {
            let lost = |counts: &Counts| Lost::of_wave(lanes, kind, counts);
            let rank = |wave: &super::WaveReport| (lost(&wave.counts).lanes, wave.counts.diverged);
            for wave in self.take_others(waves, |wave| number(&wave.id), rank) {
                left_out.get_or_insert_default().add(&wave.counts, lost(&wave.counts));
            }
        }
        for BlockReport { waves, waves_left_out, .. } in &mut report.blocks {
            let others = self.take_others(waves, |wave| number(&wave.id), |wave| wave.counts.executions);
            *waves_left_out += others.len() as u64;
        }
        if let Some(TimeReport { waves, waves_left_out, .. }) = &mut report.time {
            let others = self.take_others(waves, |wave| number(&wave.id), |wave| wave.ticks);
            *waves_left_out += others.len() as u64;
        }
    }

    /// Takes out of `waves`, which are in the order of their numbers, those that are not kept. Of waves of
    /// one rank, the first are.
    fn take_others<T: Copy, R: Ord>(
        self,
        waves: &mut Vec<T>,
        number: impl Fn(&T) -> u64,
        rank: impl Fn(&T) -> R,
    ) -> Vec<T> {
        if waves.len() <= self.worst {
            return Vec::new();
        }
        let key = |at: &usize| std::cmp::Reverse((rank(&waves[*at]), std::cmp::Reverse(*at)));
        let mut order: Vec<usize> = (0..waves.len()).collect();
        if self.worst > 0 {
            order.select_nth_unstable_by_key(self.worst - 1, key);
        }
        let mut kept = vec![false; waves.len()];
        order[..self.worst].iter().for_each(|at| kept[*at] = true);
        let mut others = Vec::with_capacity(waves.len());
        let mut at = 0;
        waves.retain(|wave| {
            let keep = kept[at] || number(wave).is_multiple_of(self.every);
            at += 1;
            if !keep {
                others.push(*wave);
            }
            keep
        });
        others
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Location, WaveReport};
    use super::*;
    use crate::counters::Lanes;

    fn site(waves: Vec<WaveReport>) -> SiteReport {
        SiteReport {
            id: 0,
            kind: "if".to_owned(),
            pc: 16,
            location: Location::default(),
            near: false,
            name: None,
            caller: None,
            expected: false,
            counts: waves.iter().map(|wave| wave.counts).sum(),
            waves,
            left_out: None,
        }
    }

    fn report(waves: std::ops::Range<u32>) -> Report {
        let wave = |number: u32| {
            let lanes_taken = 1 + u64::from(number.wrapping_mul(2_654_435_761) >> 26);
            let diverged = u64::from(lanes_taken < 64);
            let counts =
                Counts { executions: 1, all: 1 - diverged, none: 0, diverged, lanes_in: 64, lanes_taken };
            WaveReport { id: WaveId { workgroup: [number / 4, 0, 0], wave: number % 4 }, counts }
        };
        Report { sites: vec![site(waves.map(wave).collect())], ..Report::default() }
            .of_grid([5000, 1, 1], [256, 1, 1])
    }

    impl Report {
        fn of_grid(self, grid: [u32; 3], block: [u32; 3]) -> Self {
            Self { grid, block, ..self }
        }
    }

    #[test]
    fn sums_are_those_of_all_and_the_same_whatever_the_parts() {
        let waves = 20_000;
        let whole = report(0..waves);
        let lost = |site: &SiteReport| {
            let listed = site.waves.iter().map(|wave| Lost::of_wave(Lanes::Wave64, &site.kind, &wave.counts));
            Lost::sum(listed.chain(site.left_out.map(|others| others.lost)))
        };
        let keep = Keep::of(waves.into()).unwrap();
        assert_eq!((keep.every, Keep::of(Keep::ALL)), (313, None));
        let folded = [1, 977, 4096, waves].map(|part| {
            let mut fold = Fold::new(Some(keep));
            for first in (0..waves).step_by(part as usize) {
                fold.add(report(first..waves.min(first + part)));
            }
            fold.finish().unwrap()
        });
        for report in &folded {
            let (site, all) = (&report.sites[0], &whole.sites[0]);
            assert_eq!((site.counts, lost(site)), (all.counts, lost(all)));
            let others = site.left_out.unwrap();
            assert_eq!(site.waves.len() as u64 + others.waves, u64::from(waves));
            let diverged =
                |waves: &[WaveReport]| waves.iter().filter(|wave| wave.counts.diverged > 0).count();
            assert_eq!(diverged(&site.waves) as u64 + others.diverged, diverged(&all.waves) as u64);
            // The first ones of those that lost most, and every 313th.
            let mut worst: Vec<_> = all.waves.clone();
            worst.sort_by_key(|wave| wave.counts.lanes_taken);
            assert!(worst[..16].iter().all(|wave| site.waves.contains(wave)));
            assert!(all.waves.iter().step_by(313).all(|wave| site.waves.contains(wave)));
            assert!(site.waves.len() <= 16 + 64);
            assert!(site.waves.is_sorted_by_key(|wave| wave.id));
            assert_eq!(*report, folded[0]);
        }
        // The sum of launches that keep no waves.
        let mut sum = report(0..waves);
        sum.leave_out_waves();
        sum.add_launch(&sum.clone());
        let (site, all) = (&sum.sites[0], lost(&whole.sites[0]));
        assert!(site.waves.is_empty() && all.lanes > 0);
        assert_eq!(lost(site), Lost::sum([all, all]));
        assert_eq!(site.left_out.map(|others| others.waves), Some(u64::from(2 * waves)));
        let mut fold = Fold::new(None);
        [0..5, 5..9].into_iter().for_each(|part| fold.add(report(part)));
        assert_eq!(fold.finish(), Some(report(0..9)));
    }
}
