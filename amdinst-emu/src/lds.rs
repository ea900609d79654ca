//! A workgroup's LDS.
//!
//! What hardware does with an access beyond it, the manuals tell alike for GFX9 to GFX11 ("Out-of-Range
//! behavior"): reads return zero, also where a part of what is read is in range, and writes are discarded. On
//! GFX12 each dword that is read, and each byte that is written, counts by itself ([`PartlyOut`]). The range
//! is what the workgroup is allotted, in whole granules. [`OutOfRange::AsHardware`] does so: such an access
//! goes to a place of its own behind the LDS, which is zero before each.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut, Range};

use amdgpu_isa::Arch;

use crate::check::{AccessKind, Outcome, Passed};
use crate::config::{OutOfRange, Uninitialised};
use crate::races::{Late, LdsRaces, LdsScan, Mark, Scope};
use crate::rules::{PartlyOut, Rules};
use crate::watch::Look;
use crate::wave::{Stage, UnwrittenRead, fill_dwords};

/// How many waves of a workgroup have signalled its barrier, where that is not waiting at it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrivals {
    /// Waves of the workgroup.
    pub(crate) members: u32,
    /// Those that have signalled since the barrier was last complete.
    pub(crate) signals: u32,
}

/// The bytes, and who has accessed them if that is asked for ([`crate::Config::check_races`]).
#[derive(Debug, Default)]
pub(crate) struct Lds {
    /// Of the barrier, which the workgroup's waves share as they do the bytes.
    pub(crate) barrier: Arrivals,
    /// What the kernel asks for; with [`OutOfRange::AsHardware`], behind it, what else is in its last
    /// granule, and [`NOWHERE`].
    bytes: Vec<u8>,
    /// Bytes that the kernel asks for.
    size: usize,
    beyond: Option<Beyond>,
    uninitialised: u32,
    watch: Watcher,
}

/// Bytes of the place where an access goes that is out of range: as many as the widest one has.
const NOWHERE: usize = 16;

/// What lies beyond, and who has accessed it.
#[derive(Debug)]
struct Beyond {
    /// Bytes that the workgroup is allotted.
    allotted: usize,
    /// The first access of each step.
    accesses: BTreeMap<u32, Passed>,
}

/// How accesses are looked at.
#[derive(Debug, Default)]
enum Watcher {
    #[default]
    Not,
    /// For what may be a race.
    Scan(Box<LdsScan>),
    /// Each by itself.
    Races(Box<LdsRaces>),
    /// For reads of unwritten bytes.
    Written(Box<Written>),
}

impl Lds {
    /// LDS of `size` bytes for one workgroup, looked at as `look` says. The bytes are to be cleared for each
    /// workgroup.
    pub(crate) fn new(
        size: u32,
        uninitialised: Uninitialised,
        look: &Look,
        arch: Arch,
        out_of_range: OutOfRange,
    ) -> Self {
        let size = size as usize;
        let beyond = (out_of_range == OutOfRange::AsHardware).then(|| Beyond {
            allotted: size.next_multiple_of(arch.limits().lds_granule as usize),
            accesses: BTreeMap::new(),
        });
        let bytes = vec![0; beyond.as_ref().map_or(size, |beyond| beyond.allotted + NOWHERE)];
        let split_barriers = Rules::of(arch.generation()).split_barriers;
        let watch = match look {
            Look::Not => Watcher::Not,
            Look::Scan(launch) if launch.scope() == Scope::Workgroups => Watcher::Not,
            Look::Scan(launch) => Watcher::Scan(Box::new(LdsScan::new(bytes.len(), split_barriers, launch))),
            Look::Races(races) => Watcher::Races(Box::new(LdsRaces::new(bytes.len(), split_barriers, races))),
            Look::Trace(_) => {
                Watcher::Written(Box::new(Written { bytes: vec![false; bytes.len()], reads: Vec::new() }))
            }
        };
        Self { barrier: Arrivals::default(), bytes, size, beyond, uninitialised: uninitialised.0, watch }
    }

    /// Bytes that the kernel asks for.
    #[inline(always)]
    pub(crate) const fn len(&self) -> usize {
        self.size
    }

    /// The bytes that the kernel asks for, as far as an instruction reaches them.
    #[inline(always)]
    pub(crate) fn reached(&mut self, limit: usize) -> &mut [u8] {
        &mut self.bytes[..self.size.min(limit)]
    }

    /// Where a step's access of `bytes` at `address` goes that runs over the end, if hardware lets it pass;
    /// `passed` says whose it is, and what it is otherwise. What is still in the workgroup's last granule is
    /// there, though nobody asked for it.
    ///
    /// # Errors
    /// The trap.
    pub(crate) fn beyond(
        &mut self,
        step: u32,
        address: u64,
        bytes: u8,
        (writes, partly_out, limit): (bool, PartlyOut, usize),
        passed: impl FnOnce() -> Passed,
    ) -> Outcome<Option<usize>> {
        let Some(beyond) = &mut self.beyond else { return Err(passed().trap) };
        beyond.accesses.entry(step).or_insert_with(passed);
        let (allotted, size) = (beyond.allotted.min(limit) as u64, u64::from(bytes));
        if address + size <= allotted {
            return Ok(None);
        }
        let nowhere = beyond.allotted;
        self.bytes[nowhere..].fill(0);
        let first = usize::try_from(address).ok().filter(|&first| first < nowhere);
        match (first, partly_out) {
            // What is written behind the end is nowhere.
            (Some(first), PartlyOut::EachPart) if writes => Ok(Some(first)),
            (Some(first), PartlyOut::EachPart) => {
                let parts = (first..).step_by(4).take_while(|part| part + 4 <= nowhere).enumerate();
                for (number, part) in parts.take(usize::from(bytes / 4)).collect::<Vec<_>>() {
                    self.bytes.copy_within(part..part + 4, nowhere + 4 * number);
                }
                Ok(Some(nowhere))
            }
            _ => Ok(Some(nowhere)),
        }
    }

    /// The first access of each step that hardware let pass, since they were last taken.
    pub(crate) fn take_passed(&mut self) -> BTreeMap<u32, Passed> {
        self.beyond.as_mut().map(|beyond| std::mem::take(&mut beyond.accesses)).unwrap_or_default()
    }

    /// Back to how a workgroup finds it.
    pub(crate) fn clear(&mut self) {
        fill_dwords(&mut self.bytes, self.uninitialised);
        match &mut self.watch {
            Watcher::Scan(scan) => scan.begin(),
            Watcher::Races(races) => races.begin(),
            Watcher::Not | Watcher::Written(_) => {}
        }
    }

    /// All waves of the workgroup have arrived at a barrier, or have ended: what is done next comes after
    /// what they have done. Returns a race that shows only now; its wave is told by its number in the
    /// workgroup.
    pub(crate) fn pass_barrier(&mut self) -> Option<Late> {
        match &mut self.watch {
            Watcher::Not => None,
            Watcher::Scan(scan) => {
                scan.pass_barrier();
                None
            }
            Watcher::Races(races) => races.pass_barrier(),
            Watcher::Written(_) => None,
        }
    }

    /// The first read of each wave, since the workgroup began, of a byte that nobody had written, if these
    /// are looked for.
    pub(crate) fn take_unwritten_reads(&mut self) -> Vec<UnwrittenRead> {
        let Watcher::Written(written) = &mut self.watch else { return Vec::new() };
        written.bytes.fill(false);
        std::mem::take(&mut written.reads)
    }

    /// Accesses must be told to [`Lds::note`], [`Lds::note_lanes`] or the scan.
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        !matches!(self.watch, Watcher::Not)
    }

    /// Pairs of accesses that may be races, of the workgroup that has ended.
    pub(crate) fn take_doubts(&mut self) -> Vec<Late> {
        match &mut self.watch {
            Watcher::Races(races) => races.take_doubts(),
            Watcher::Not | Watcher::Scan(_) | Watcher::Written(_) => Vec::new(),
        }
    }

    /// The look for what may be a race, if that is done.
    #[inline(always)]
    pub(crate) fn scan(&mut self) -> Option<&mut LdsScan> {
        match &mut self.watch {
            Watcher::Scan(scan) => Some(scan),
            _ => None,
        }
    }

    /// A lane is about to access `bytes` from `at`, which are in bounds.
    ///
    /// # Errors
    /// When another wave's access since the last barrier makes that a race.
    #[inline(always)]
    pub(crate) fn note(
        &mut self,
        access: AccessKind,
        (by, stage): (Mark, Stage),
        at: usize,
        bytes: usize,
        lane: usize,
    ) -> Outcome {
        match &mut self.watch {
            Watcher::Not => Ok(()),
            Watcher::Scan(scan) => {
                scan.note((by.wave(), stage), access, at, bytes);
                Ok(())
            }
            Watcher::Races(races) => races.note(&self.bytes, access, (by, stage), at..at + bytes, lane),
            Watcher::Written(written) => {
                written.note(access, by, at..at + bytes);
                Ok(())
            }
        }
    }

    /// The active lanes are about to load (or store, if `write`) `bytes` at each of `offsets` from their
    /// addresses, all of which are in bounds. Returns whether that is known to be no race, neither with
    /// another wave nor of lanes with each other; if it is not, each access is to be looked at by itself.
    #[inline(never)]
    pub(crate) fn note_lanes(
        &mut self,
        by: (Mark, Stage),
        addresses: &[u32],
        exec: u64,
        offsets: &[u32],
        bytes: usize,
        write: bool,
    ) -> bool {
        let Watcher::Races(races) = &mut self.watch else { return false };
        let mut fine = true;
        let mut end = 0;
        for (lane, address) in addresses.iter().enumerate().filter(|(lane, _)| exec >> lane & 1 != 0) {
            for offset in offsets {
                let at = *address as usize + *offset as usize;
                let access = AccessKind::plain(write);
                fine &= races.note(&self.bytes, access, by, at..at + bytes, lane).is_ok();
                // Stores in ascending order are all to different places.
                fine &= !write || end <= at;
                end = at + bytes;
            }
        }
        fine & races.is_settled()
    }

    /// The bytes of the last noted accesses have been written.
    ///
    /// # Errors
    /// When that changed what another wave has written since the last barrier.
    #[inline(always)]
    pub(crate) fn settle(&mut self) -> Outcome {
        match &mut self.watch {
            Watcher::Races(races) => races.settle(&self.bytes),
            Watcher::Not | Watcher::Scan(_) | Watcher::Written(_) => Ok(()),
        }
    }

    /// The bytes alone.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        self.bytes.truncate(self.size);
        self.bytes
    }
}

impl From<Vec<u8>> for Lds {
    fn from(bytes: Vec<u8>) -> Self {
        Self { size: bytes.len(), bytes, ..Self::default() }
    }
}

impl Deref for Lds {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Lds {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

/// Which bytes have been written, and the first read of each wave that found one which had not.
#[derive(Debug)]
struct Written {
    bytes: Vec<bool>,
    reads: Vec<UnwrittenRead>,
}

impl Written {
    fn note(&mut self, access: AccessKind, by: Mark, range: Range<usize>) {
        let bytes = &mut self.bytes[range];
        let is_first = || self.reads.iter().all(|read| read.wave != by.wave());
        if access != AccessKind::Write && bytes.contains(&false) && is_first() {
            self.reads.push(UnwrittenRead { wave: by.wave(), step: by.site() });
        }
        if access != AccessKind::Read {
            bytes.fill(true);
        }
    }
}
