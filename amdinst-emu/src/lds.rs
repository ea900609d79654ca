//! A workgroup's LDS.

use std::ops::{Deref, DerefMut};

use crate::check::{AccessKind, Outcome};
use crate::machine::Config;
use crate::races::{Late, LdsRaces, Mark};
use crate::wave::fill_dwords;

/// The bytes, and who has accessed them if that is asked for ([`crate::Config::check_races`]).
#[derive(Debug, Default)]
pub(crate) struct Lds {
    bytes: Vec<u8>,
    uninitialised: u32,
    races: Option<Box<LdsRaces>>,
}

impl Lds {
    /// As many bytes. They are to be cleared for each workgroup.
    pub(crate) fn new(size: u32, config: &Config) -> Self {
        let bytes = vec![0; size as usize];
        let races = config.check_races.then(|| Box::new(LdsRaces::new(bytes.len())));
        Self { bytes, uninitialised: config.uninitialised.0, races }
    }

    /// Back to how a workgroup finds it.
    pub(crate) fn clear(&mut self) {
        fill_dwords(&mut self.bytes, self.uninitialised);
        // What it returns was of a workgroup that has had a fault.
        let _ = self.pass_barrier();
    }

    /// All waves of the workgroup have arrived at a barrier, or have ended: what is done next comes after what they have done.
    /// Returns a race that shows only now; its wave is told by its number in the workgroup.
    pub(crate) fn pass_barrier(&mut self) -> Option<Late> {
        self.races.as_mut()?.pass_barrier()
    }

    /// Accesses must be told to [`Lds::note`] or [`Lds::note_lanes`].
    #[inline(always)]
    pub(crate) fn is_watched(&self) -> bool {
        self.races.is_some()
    }

    /// A lane is about to access `bytes` from `at`, which are in bounds.
    ///
    /// # Errors
    /// When another wave's access since the last barrier makes that a race.
    #[inline(always)]
    pub(crate) fn note(
        &mut self,
        access: AccessKind,
        by: Mark,
        at: usize,
        bytes: usize,
        lane: usize,
    ) -> Outcome {
        match &mut self.races {
            Some(races) => races.note(&self.bytes, access, by, at..at + bytes, lane),
            None => Ok(()),
        }
    }

    /// The active lanes are about to load (or store, if `WRITE`) `bytes` at each of `offsets` from their addresses, all of which
    /// are in bounds. Returns whether that is known to be no race, neither with another wave nor of lanes with each other; if it
    /// is not, each access is to be looked at by itself.
    #[inline(never)]
    pub(crate) fn note_lanes<const WRITE: bool>(
        &mut self,
        by: Mark,
        addresses: &[u32],
        exec: u64,
        offsets: &[u32],
        bytes: usize,
    ) -> bool {
        let Some(races) = &mut self.races else { return true };
        let mut fine = true;
        let mut end = 0;
        for (lane, address) in addresses.iter().enumerate().filter(|(lane, _)| exec >> lane & 1 != 0) {
            for offset in offsets {
                let at = *address as usize + *offset as usize;
                let access = AccessKind::plain(WRITE);
                fine &= races.note(&self.bytes, access, by, at..at + bytes, lane).is_ok();
                // Stores in ascending order are all to different places.
                fine &= !WRITE || end <= at;
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
        match &mut self.races {
            Some(races) => races.settle(&self.bytes),
            None => Ok(()),
        }
    }

    /// The bytes alone.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl From<Vec<u8>> for Lds {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
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
