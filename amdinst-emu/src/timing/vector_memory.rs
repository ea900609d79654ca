//! The vector memory path of one compute unit: address unit, vL1D, translations.

use std::collections::HashMap;

use amdgpu_isa::MemoryOperation;

use super::address_unit::quarter_cycles;
use super::cache::Cache;
use super::calendar::Calendar;
use super::hierarchy::{Hierarchy, halves};
use super::instructions::Access;
use super::parameters::Parameters;
use crate::exec::footprint::{Footprint, SECTOR, Touched, TouchedLines, most_at_one};
use crate::wave::lanes_of;

/// Log2 of the bytes of a page.
const PAGE: u32 = 21;

/// One compute unit's part.
#[derive(Clone, Debug)]
pub(super) struct VectorMemory {
    /// When the address unit is free, in quarter-cycles.
    free: u64,
    l1: Cache,
    fill: Calendar,
    translations: Cache,
    /// From when on sectors take another atomic, if atomics take turns.
    turns: HashMap<u64, u64>,
    /// Room for the lines of an instruction.
    lines: TouchedLines,
}

impl VectorMemory {
    pub(super) fn new(p: &Parameters) -> Self {
        Self {
            free: 0,
            l1: Cache::new(p.l1_bytes / SECTOR as u32, p.l1_ways),
            fill: Calendar::new(f64::from(p.l1_fill_bytes)),
            translations: Cache::new(p.tlb_pages, p.tlb_pages),
            turns: HashMap::new(),
            lines: TouchedLines::default(),
        }
    }

    /// From when on the address unit takes another instruction.
    pub(super) fn accepts_from(&self, p: &Parameters) -> u64 {
        (self.free / 4).saturating_sub(p.address_queue)
    }

    /// Nothing arrives before a time any more.
    pub(super) fn forget(&mut self, now: u64) {
        self.fill.forget(now);
        self.turns.retain(|_, free| *free > now);
    }

    /// An instruction issues; returns when its results can be used, or it is acknowledged.
    pub(super) fn access(
        &mut self,
        now: u64,
        access: Access,
        footprint: &Footprint,
        hierarchy: &mut Hierarchy,
        p: &Parameters,
    ) -> u64 {
        if footprint.global == 0 {
            // All lanes are off: it passes through.
            return now + p.l1_hit;
        }
        let mut work = quarter_cycles(footprint, p);
        let store = matches!(access.operation, MemoryOperation::Store);
        if store {
            let lanes = u64::from(footprint.global.count_ones());
            work = work.max(4 * (lanes * 4 * u64::from(access.dwords)).div_ceil(u64::from(p.store_bytes)));
        }
        let start = self.free.max(4 * now);
        self.free = start + work;
        let mut lines = std::mem::take(&mut self.lines);
        lines.take(footprint);
        let count = lines.long();
        let mut done = self.free / 4;
        for (at, touched) in lines.iter().enumerate() {
            let &Touched { line, sectors, .. } = touched;
            // Lines come up one after the other while the address unit works.
            let time = (start + work * (at as u64 + 1) / count) / 4;
            let time = time + self.translate(line, time, p);
            let back = match access.operation {
                MemoryOperation::Load if access.past_l1 => {
                    self.leave(touched, None);
                    hierarchy.read(p, time, line, sectors) + p.l1_hit
                }
                MemoryOperation::Load => self.load(time, line, sectors, hierarchy, p) + p.l1_hit,
                MemoryOperation::Store => {
                    self.leave(touched, (!access.past_l1).then_some(time));
                    hierarchy.write(p, time, line, sectors)
                }
                MemoryOperation::Atomic { .. } => {
                    self.leave(touched, None);
                    let lanes = busiest(footprint, line);
                    let time = self.take_turns(touched, time, p);
                    hierarchy.atomic(p, time, line, sectors, lanes) + p.l1_hit
                }
            };
            done = done.max(back);
        }
        self.lines = lines;
        done
    }

    /// When an atomic that comes at a time goes on to L2.
    fn take_turns(&mut self, touched: &Touched, time: u64, p: &Parameters) -> u64 {
        if p.atomic == 0 {
            return time;
        }
        let sectors = || halves(touched.sectors).map(|half| 2 * touched.line + half as u64);
        let free = sectors().filter_map(|sector| self.turns.get(&sector)).max();
        let time = free.map_or(time, |&free| free.max(time));
        self.turns.extend(sectors().map(|sector| (sector, time + p.atomic)));
        time
    }

    /// What finding the page's translation takes.
    fn translate(&mut self, line: u64, time: u64, p: &Parameters) -> u64 {
        let page = (line * 2 * SECTOR) >> PAGE;
        match self.translations.find(page, 0) {
            Some(ready) => ready.saturating_sub(time),
            None => {
                self.translations.fill(page, 0, time + p.tlb_miss);
                p.tlb_miss
            }
        }
    }

    /// What vL1D keeps of sectors that went past it: those that a store wrote whole, from a time on ("CDNA2"
    /// ISA manual, "GLC Bit Explained").
    fn leave(&mut self, touched: &Touched, written: Option<u64>) {
        for half in halves(touched.sectors) {
            let sector = 2 * touched.line + half as u64;
            match written.filter(|_| touched.bytes[half] == u64::MAX) {
                Some(time) => self.l1.fill(sector, 0, time),
                None => self.l1.drop(sector),
            }
        }
    }

    /// When vL1D has the sectors.
    fn load(&mut self, time: u64, line: u64, sectors: u8, hierarchy: &mut Hierarchy, p: &Parameters) -> u64 {
        let mut ready = time;
        let mut missing = 0;
        for half in halves(sectors) {
            match self.l1.find(2 * line + half as u64, 0) {
                Some(filled) => {
                    hierarchy.traffic.l1_hits += 1;
                    ready = ready.max(filled);
                }
                None => missing |= 1 << half,
            }
        }
        if missing != 0 {
            let sectors = u64::from(u8::count_ones(missing));
            hierarchy.traffic.l1_misses += sectors;
            let back = hierarchy.read(p, time, line, missing);
            let filled = self.fill.serve(back, (sectors * SECTOR) as f64);
            for half in halves(missing) {
                self.l1.fill(2 * line + half as u64, 0, filled);
            }
            ready = ready.max(filled);
        }
        ready
    }
}

/// Lanes at the busiest address of a line.
fn busiest(footprint: &Footprint, line: u64) -> u64 {
    let addresses = lanes_of(footprint.global).map(|lane| footprint.address[lane]);
    most_at_one(addresses.filter(|address| address / (2 * SECTOR) == line))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sectors that a load finds in vL1D after another access, of the 16 that both touch.
    fn hits_after(operation: MemoryOperation, past_l1: bool, bytes: u8) -> u64 {
        let p = Parameters::mi210();
        let (mut hierarchy, mut memory) = (Hierarchy::new(&p), VectorMemory::new(&p));
        let access = |operation, past_l1| Access { operation, dwords: 4, past_l1 };
        // 64 lanes, 16 bytes apart.
        let mut footprint = Footprint { global: !0, bytes: 16, ..Footprint::default() };
        for (lane, address) in footprint.address.iter_mut().enumerate() {
            *address = 0x1000 + 16 * lane as u64;
        }
        let load = access(MemoryOperation::Load, false);
        memory.access(0, load, &footprint, &mut hierarchy, &p);
        let between = Footprint { bytes, ..footprint.clone() };
        memory.access(1000, access(operation, past_l1), &between, &mut hierarchy, &p);
        let before = hierarchy.traffic.l1_hits;
        memory.access(2000, load, &footprint, &mut hierarchy, &p);
        hierarchy.traffic.l1_hits - before
    }

    /// "GLC Bit Explained" of the ISA manual.
    #[test]
    fn l1_keeps_what_a_store_wrote_whole() {
        assert_eq!(hits_after(MemoryOperation::Store, false, 16), 16);
        assert_eq!(hits_after(MemoryOperation::Store, true, 16), 0);
        assert_eq!(hits_after(MemoryOperation::Store, false, 4), 0);
        assert_eq!(hits_after(MemoryOperation::Load, false, 4), 16);
        assert_eq!(hits_after(MemoryOperation::Load, true, 4), 0);
    }

    /// Atomics on the same sector go on one after the other, those on another as they come.
    #[test]
    fn atomics_on_a_sector_take_turns() {
        let later = |atomic: u64, address: u64| {
            let p = Parameters { atomic, ..Parameters::vega10() };
            let (mut hierarchy, mut memory) = (Hierarchy::new(&p), VectorMemory::new(&p));
            let mut access = |now: u64, address: u64| {
                let mut footprint = Footprint { global: 1, bytes: 4, ..Footprint::default() };
                footprint.address[0] = address;
                let operation = MemoryOperation::Atomic { returns: false };
                let access = Access { operation, dwords: 1, past_l1: false };
                memory.access(now, access, &footprint, &mut hierarchy, &p)
            };
            // The first two find L2 empty, and the translation missing.
            access(0, 0x1000);
            access(0, address);
            let first = access(100_000, 0x1000);
            access(100_000, address) - first
        };
        let close = later(0, 0x1004);
        assert!(close < 50, "{close}");
        assert_eq!(later(1000, 0x1004), 1000);
        assert_eq!(later(1000, 0x1040), later(0, 0x1040));
    }
}
