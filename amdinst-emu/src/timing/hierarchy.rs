//! L2 and HBM, which all compute units share.

use serde::Serialize;

use super::cache::Cache;
use super::calendar::Calendar;
use super::parameters::Parameters;
use crate::exec::footprint::SECTOR;

/// What moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// 64-byte lines that vector loads found in vL1D.
    pub l1_hits: u64,
    /// 64-byte lines that vector loads did not find in vL1D.
    pub l1_misses: u64,
    /// 64-byte sectors that L2 had.
    pub l2_hits: u64,
    /// 64-byte sectors that L2 did not have.
    pub l2_misses: u64,
    /// Bytes read from HBM.
    pub hbm_read: u64,
    /// Bytes written to HBM.
    pub hbm_written: u64,
}

/// L2 with what is behind it. Its contents outlive a dispatch, its queues do not.
#[derive(Clone, Debug)]
pub(super) struct Hierarchy {
    l2: Cache,
    channels: Vec<Calendar>,
    memory: Vec<Calendar>,
    pub(super) traffic: Traffic,
}

impl Hierarchy {
    pub(super) fn new(p: &Parameters) -> Self {
        let mut hierarchy = Self {
            l2: Cache::new(p.l2_bytes / (2 * SECTOR as u32), p.l2_ways),
            channels: Vec::new(),
            memory: Vec::new(),
            traffic: Traffic::default(),
        };
        hierarchy.begin(p);
        hierarchy
    }

    /// A dispatch begins, at cycle 0: what L2 holds stays.
    pub(super) fn begin(&mut self, p: &Parameters) {
        self.traffic = Traffic::default();
        self.channels = vec![Calendar::new(p.l2_channel_bytes); p.channels as usize];
        self.memory = vec![Calendar::new(p.hbm_bytes / f64::from(p.channels)); p.channels as usize];
        self.l2.settle();
    }

    /// Nothing arrives before a time any more.
    pub(super) fn forget(&mut self, now: u64) {
        self.channels.iter_mut().chain(&mut self.memory).for_each(|calendar| calendar.forget(now));
    }

    /// The channel of an address: 256 bytes each in turn, higher bits folded in so that powers of two spread
    /// (inference).
    fn channel(&self, address: u64) -> usize {
        let block = address >> 8;
        let folded = block ^ block >> 5 ^ block >> 10 ^ block >> 15 ^ block >> 20;
        folded as usize % self.channels.len()
    }

    /// The line as L2's tags know it: its set below, its number above. Each channel has sets of its own.
    /// Which of them a line is in looks random, as the hash and scattered pages make it. M `gpu-latency`: a
    /// chase through 5.6 MiB misses here and there, and one through 10 MiB hits now and then; with sets in
    /// turn neither would.
    fn tag(&self, line: u64, channel: usize) -> u64 {
        let sets = self.l2.sets();
        let of_channel = (sets / self.channels.len() as u64).max(1);
        let set = channel as u64 * of_channel + spread(line) % of_channel;
        line.wrapping_mul(sets) + set % sets
    }

    /// Read one or both sectors of a line of L2 (`sectors`: bits 0 and 1), for a request that leaves a
    /// compute unit's cache at a time; returns when the data is back there, besides the time of a hit in that
    /// cache.
    pub(super) fn read(&mut self, p: &Parameters, now: u64, line: u64, sectors: u8) -> u64 {
        let channel = self.channel(line * 2 * SECTOR);
        // Half of the way is before L2. A channel takes one request a cycle at most, however small.
        let bytes = (f64::from(sectors.count_ones()) * SECTOR as f64).max(p.l2_channel_bytes);
        let served = self.channels[channel].serve(now + p.l2_hit / 2, bytes);
        let mut back = served;
        let tag = self.tag(line, channel);
        for half in halves(sectors) {
            let ready = match self.l2.find(tag, half) {
                Some(ready) => {
                    self.traffic.l2_hits += 1;
                    ready
                }
                None => {
                    self.traffic.l2_misses += 1;
                    self.traffic.hbm_read += SECTOR;
                    let ready = self.memory[channel].serve(served + p.hbm, SECTOR as f64);
                    self.l2.fill(tag, half, ready);
                    ready
                }
            };
            back = back.max(ready);
        }
        back + p.l2_hit - p.l2_hit / 2
    }

    /// Write sectors of a line; returns when the acknowledgement is back. A sector that was clean takes its
    /// bandwidth of HBM now, in place of the eviction that makes room for it sooner or later.
    pub(super) fn write(&mut self, p: &Parameters, now: u64, line: u64, sectors: u8) -> u64 {
        let channel = self.channel(line * 2 * SECTOR);
        // As a read, but half of a line a cycle.
        let cycles = f64::from(sectors.count_ones());
        let served = self.channels[channel].serve(now + p.l2_hit / 2, cycles * p.l2_channel_bytes);
        let mut done = served;
        let tag = self.tag(line, channel);
        for half in halves(sectors) {
            if self.l2.write(tag, half, served) {
                self.traffic.hbm_written += SECTOR;
                done = done.max(self.memory[channel].serve(served, SECTOR as f64));
            }
        }
        done + p.store_acknowledge
    }

    /// Atomics on sectors of a line, `lanes` of them at the busiest address; returns when the old values are
    /// back.
    pub(super) fn atomic(&mut self, p: &Parameters, now: u64, line: u64, sectors: u8, lanes: u64) -> u64 {
        let channel = self.channel(line * 2 * SECTOR);
        // The unit works at one address for as long as a lane each takes: nothing else gets through.
        let units = (lanes * p.atomic_lane) as f64 * p.l2_channel_bytes;
        let back = self.read(p, now, line, sectors);
        let served = self.channels[channel].serve(now + p.l2_hit / 2, units);
        let tag = self.tag(line, channel);
        for half in halves(sectors) {
            if self.l2.write(tag, half, served) {
                self.traffic.hbm_written += SECTOR;
                self.memory[channel].serve(served, SECTOR as f64);
            }
        }
        back.max(served + p.l2_hit - p.l2_hit / 2)
    }
}

/// The halves of a line of L2 that are among sectors (bits 0 and 1).
pub(super) fn halves(sectors: u8) -> impl Iterator<Item = usize> {
    (0..2).filter(move |half| sectors >> half & 1 != 0)
}

/// A number that looks random (the finalizer of SplitMix64).
fn spread(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
