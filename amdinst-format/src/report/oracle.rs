//! Comparing counters with what an emulator saw in the original code object.
//!
//! The emulator notes every write of EXEC, without knowing of sites; a rewriter that misses a site, or counts
//! one wrongly, disagrees with it here.

use std::collections::BTreeMap;
use std::fmt;

use crate::counters::{BlockCounts, SiteCounts, WaveRecord};
use crate::probes::{KernelProbes, Level};

use super::{Location, WaveId, build};

/// What one instruction did to EXEC, in one wave of the original.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Native {
    /// Times that it wrote EXEC.
    pub executions: u64,
    /// Of these: NEW == OLD ≠ 0.
    pub all: u64,
    /// Of these: NEW == 0.
    pub none: u64,
    /// Of these: NEW was a proper subset of OLD, and not empty.
    pub diverged: u64,
    /// Active lanes before, summed.
    pub lanes_in: u64,
    /// Active lanes after, summed.
    pub lanes_taken: u64,
    /// The instruction switched active lanes off at least once.
    pub narrowed: bool,
}

/// One point on which counters and emulator disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// A site counted something else.
    Counts {
        /// The site's number in the probe map.
        site: u32,
        /// Its address in the original.
        pc: u64,
        /// Its place in the source.
        location: Location,
        /// The wave.
        wave: WaveId,
        /// The emulator's count.
        seen: SiteCounts,
        /// The record's count.
        counted: SiteCounts,
    },
    /// An instruction narrowed EXEC, and the probe map has nothing to say of it.
    Unexplained {
        /// Its address in the original.
        pc: u64,
        /// The first wave in which it did.
        wave: WaveId,
        /// How many waves it did so in.
        waves: u64,
    },
    /// A block counted something else than what one of its instructions did.
    Block {
        /// The block's number in the probe map.
        block: u32,
        /// The instruction's address in the original.
        pc: u64,
        /// The wave.
        wave: WaveId,
        /// The emulator's count.
        seen: BlockCounts,
        /// The record's count.
        counted: BlockCounts,
    },
    /// An instruction ran that stands in no block of the probe map, though all were asked for.
    NoBlock {
        /// Its address in the original.
        pc: u64,
        /// The wave.
        wave: WaveId,
    },
    /// A wave's time differs from the emulator's.
    Time {
        /// The wave.
        wave: WaveId,
        /// The ticks of the emulator's clock, without instructions of the probe itself.
        seen: u64,
        /// The record's ticks.
        counted: u64,
    },
    /// A wave never wrote its record.
    Unfinished {
        /// The wave.
        wave: WaveId,
    },
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Counts { site, pc, location, wave, seen, counted } => write!(
                f,
                "site {site} (pc {pc:#x}, {location}), {wave}: counted {}, the emulator saw {}",
                Figures(counted),
                Figures(seen)
            ),
            Self::Unexplained { pc, wave, waves } => write!(
                f,
                "the instruction at pc {pc:#x} switched lanes off in {waves} waves (first: {wave}) and is no site of the \
                 probe map"
            ),
            Self::Block { block, pc, wave, seen, counted } => write!(
                f,
                "block {block} (instruction at pc {pc:#x}), {wave}: counted {} executions with {} lanes, the emulator saw {} with {}",
                counted.executions, counted.lanes, seen.executions, seen.lanes
            ),
            Self::NoBlock { pc, wave } => {
                write!(f, "{wave} ran the instruction at pc {pc:#x}, which is in no block of the probe map")
            }
            Self::Time { wave, seen, counted } => {
                write!(
                    f,
                    "{wave}: ran {counted} ticks by its record, {seen} and a few by the emulator's clock"
                )
            }
            Self::Unfinished { wave } => write!(f, "{wave} ended without writing its record"),
        }
    }
}

struct Figures<'a>(&'a SiteCounts);

impl fmt::Display for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SiteCounts { executions, all, none, lanes_in, lanes_taken } = self.0;
        write!(f, "executions {executions} all {all} none {none} lanes {lanes_taken} of {lanes_in}")
    }
}

/// Compares the records of an instrumented kernel with the emulator's counts of each wave of the original, by
/// address. `native` is in the order of `records`. Returns the first `limit` disagreements; none means equal.
pub fn compare(
    probes: &KernelProbes,
    records: &[WaveRecord],
    native: &[BTreeMap<u64, Native>],
    limit: usize,
) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for (record, native) in records.iter().zip(native) {
        let wave = WaveId { workgroup: record.workgroup, wave: record.wave };
        if !record.flushed {
            found.push(Disagreement::Unfinished { wave });
            continue;
        }
        for site in &probes.sites {
            let native = native.get(&site.pc).copied().unwrap_or_default();
            let lanes = |sum: u64| if probes.level == Level::Lanes { sum } else { 0 };
            let seen = SiteCounts {
                executions: native.executions,
                all: native.all,
                none: native.none,
                lanes_in: lanes(native.lanes_in),
                lanes_taken: lanes(native.lanes_taken),
            };
            let counted = record.sites.get(site.id as usize).copied().unwrap_or_default();
            if seen != counted {
                let location = build::location(&probes.frames(site.place));
                found.push(Disagreement::Counts {
                    site: site.id,
                    pc: site.pc,
                    location,
                    wave,
                    seen,
                    counted,
                });
            }
        }
        if found.len() >= limit {
            break;
        }
    }
    found.extend(unexplained(probes, records, native));
    found.truncate(limit);
    found
}

/// Adds the disagreements of the next waves of the same launch to those of the ones before, up to `limit`.
pub fn add(found: &mut Vec<Disagreement>, next: Vec<Disagreement>, limit: usize) {
    for next in next {
        let room = found.len() < limit;
        let known = found.iter_mut().find_map(|known| match (known, &next) {
            (
                Disagreement::Unexplained { pc, waves, .. },
                Disagreement::Unexplained { pc: same, waves: more, .. },
            ) if pc == same => Some((waves, *more)),
            _ => None,
        });
        match known {
            Some((waves, more)) => *waves += more,
            None if room => found.push(next),
            None => {}
        }
    }
}

/// Compares the blocks of an instrumented kernel with the emulator's counts of the original. It compares
/// executions and lanes active before, by wave in the order of `records`, and by address. If `all`, every
/// block was asked for, so it must be counted unless it was refused. Returns the first `limit` disagreements.
pub fn compare_blocks(
    probes: &KernelProbes,
    records: &[WaveRecord],
    native: &[BTreeMap<u64, BlockCounts>],
    all: bool,
    limit: usize,
) -> Vec<Disagreement> {
    let mut found = Vec::new();
    for (record, native) in records.iter().zip(native) {
        let wave = WaveId { workgroup: record.workgroup, wave: record.wave };
        if !record.flushed {
            found.push(Disagreement::Unfinished { wave });
            continue;
        }
        let mut covered = 0;
        for block in &probes.blocks {
            let counted = record.blocks.get(block.id as usize).copied().unwrap_or_default();
            let inside = native.range(block.pc..block.end_pc);
            covered += inside.clone().count();
            let agrees = |pc: u64, seen: &BlockCounts| {
                let depends = (block.lanes_pcs[0]..block.lanes_pcs[1]).contains(&pc);
                let lanes = !depends || probes.level == Level::Basic || seen.lanes == counted.lanes;
                seen.executions == counted.executions && lanes
            };
            let other = inside.map(|(&pc, &seen)| (pc, seen)).find(|(pc, seen)| !agrees(*pc, seen));
            // A block that never ran in the original has no entry.
            let never = native.get(&block.pc).is_none() && counted != BlockCounts::default();
            let other = other.or_else(|| never.then_some((block.pc, BlockCounts::default())));
            if let Some((pc, seen)) = other {
                found.push(Disagreement::Block { block: block.id, pc, wave, seen, counted });
            }
        }
        if all && covered < native.len() {
            let lost = |pc: &u64| {
                !probes.blocks.iter().any(|block| (block.pc..block.end_pc).contains(pc))
                    && !probes.refusals.iter().any(|refusal| refusal.has_block_of(*pc))
            };
            found.extend(native.keys().copied().find(lost).map(|pc| Disagreement::NoBlock { pc, wave }));
        }
        if found.len() >= limit {
            break;
        }
    }
    found.truncate(limit);
    found
}

/// Ticks that the instructions of the probe between its two readings may take: waiting, and moving the time
/// where it stays.
const BETWEEN_READINGS: u64 = 24;

/// Compares the times of an instrumented kernel with the emulator's clock for each wave of the original, in
/// the order of `records`: a tick per instruction, and 64 per reading of the clock. Returns the first `limit`
/// disagreements.
pub fn compare_times(records: &[WaveRecord], ticks: &[u64], limit: usize) -> Vec<Disagreement> {
    /// What the reading at the end adds.
    const READING: u64 = 64;
    let check = |(record, &seen): (&WaveRecord, &u64)| {
        let wave = WaveId { workgroup: record.workgroup, wave: record.wave };
        let Some(time) = record.time.filter(|_| record.flushed) else {
            return Some(Disagreement::Unfinished { wave });
        };
        let (seen, counted) = (seen + READING, time.ticks());
        let agrees = (seen..=seen + BETWEEN_READINGS).contains(&counted);
        (!agrees).then_some(Disagreement::Time { wave, seen, counted })
    };
    records.iter().zip(ticks).filter_map(check).take(limit).collect()
}

/// The instructions that narrowed EXEC and are neither sites nor explained otherwise.
fn unexplained(
    probes: &KernelProbes,
    records: &[WaveRecord],
    native: &[BTreeMap<u64, Native>],
) -> impl Iterator<Item = Disagreement> {
    let sites = probes.sites.iter().map(|site| site.pc);
    let known: std::collections::BTreeSet<u64> = sites.chain(probes.explained_pcs()).collect();
    let mut strays = BTreeMap::<u64, (WaveId, u64)>::new();
    for (record, native) in records.iter().zip(native) {
        for (&pc, _) in native.iter().filter(|(pc, native)| native.narrowed && !known.contains(pc)) {
            let wave = WaveId { workgroup: record.workgroup, wave: record.wave };
            strays.entry(pc).or_insert((wave, 0)).1 += 1;
        }
    }
    strays.into_iter().map(|(pc, (wave, waves))| Disagreement::Unexplained { pc, wave, waves })
}
