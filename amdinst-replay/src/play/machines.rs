//! The emulated GPU, and a second one beside it on which instrumented kernels run. Both are kept in step:
//! each allocation, copy and free is done on both, so after a launch any difference is the counters' doing.

use std::collections::BTreeMap;
use std::ops::Range;

use amdinst_emu::{Machine, MemoryError};

/// Bytes that are compared or copied at a time.
const CHUNK: u64 = 1 << 20;

/// An allocation of the recorded program.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) bytes: u64,
}

/// Both machines, and what the recorded program has allocated on them.
#[derive(Debug)]
pub(super) struct Machines {
    pub(super) original: Machine,
    pub(super) twin: Option<Machine>,
    /// By address.
    pub(super) pieces: BTreeMap<u64, Piece>,
}

impl Machines {
    pub(super) const fn new(original: Machine, twin: Option<Machine>) -> Self {
        Self { original, twin, pieces: BTreeMap::new() }
    }

    pub(super) fn allocate(&mut self, at: u64, piece: Piece, label: &str) -> Result<(), MemoryError> {
        self.original.alloc_at(at, piece.bytes, label)?;
        if let Some(twin) = &mut self.twin
            && let Err(error) = twin.alloc_at(at, piece.bytes, label)
        {
            self.original.free(at)?;
            return Err(error);
        }
        self.pieces.insert(at, piece);
        Ok(())
    }

    pub(super) fn free(&mut self, at: u64) -> Result<(), MemoryError> {
        self.original.free(at)?;
        if let Some(twin) = &mut self.twin {
            twin.free(at)?;
        }
        self.pieces.remove(&at);
        Ok(())
    }

    /// The allocation that an address is in.
    pub(super) fn piece(&self, address: u64) -> Option<(u64, &Piece)> {
        let (at, piece) = self.pieces.range(..=address).next_back()?;
        (address - at < piece.bytes).then_some((*at, piece))
    }

    /// Whether all of a range is in one allocation.
    pub(super) fn holds(&self, address: u64, bytes: u64) -> bool {
        self.piece(address).is_some_and(|(at, piece)| bytes <= piece.bytes - (address - at))
    }

    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.original.write(address, bytes)?;
        self.twin.as_mut().map_or(Ok(()), |twin| twin.write(address, bytes))
    }

    pub(super) fn read(&self, address: u64, bytes: u64) -> Result<Vec<u8>, MemoryError> {
        if !self.holds(address, bytes) && self.original.allocation_around(address).is_none() {
            return Err(MemoryError::OutOfBounds { address, size: bytes });
        }
        let mut into = vec![0; bytes as usize];
        self.original.read(address, &mut into)?;
        Ok(into)
    }

    /// Copies within the GPU's memory, on both, for each has what its kernels left.
    pub(super) fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), MemoryError> {
        for machine in [Some(&mut self.original), self.twin.as_mut()].into_iter().flatten() {
            let mut part = vec![0; bytes as usize];
            machine.read(from, &mut part)?;
            machine.write(to, &part)?;
        }
        Ok(())
    }

    /// Bytes of all allocations.
    pub(super) fn bytes(&self) -> u64 {
        self.pieces.values().map(|piece| piece.bytes).sum()
    }

    fn chunks(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let starts = range.clone().step_by(CHUNK as usize);
        starts.map(move |start| start..range.end.min(start + CHUNK))
    }

    /// The first byte in which allocations of both machines differ, by its address.
    pub(super) fn difference(&self, pieces: &[u64]) -> Option<u64> {
        let twin = self.twin.as_ref()?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for at in pieces {
            let Some(piece) = self.pieces.get(at) else { continue };
            for part in Self::chunks(*at..at + piece.bytes) {
                let size = (part.end - part.start) as usize;
                ours.resize(size, 0);
                theirs.resize(size, 0);
                // Both have all of it.
                if self
                    .original
                    .read(part.start, &mut ours)
                    .and_then(|()| twin.read(part.start, &mut theirs))
                    .is_err()
                {
                    return Some(part.start);
                }
                if ours != theirs {
                    let same = ours.iter().zip(&theirs).take_while(|(one, other)| one == other).count();
                    return Some(part.start + same as u64);
                }
            }
        }
        None
    }

    /// Gives the second machine what the first one has.
    pub(super) fn align(&mut self) -> Result<(), MemoryError> {
        let Some(twin) = &mut self.twin else { return Ok(()) };
        let mut bytes = Vec::new();
        for (at, piece) in &self.pieces {
            for part in Self::chunks(*at..at + piece.bytes) {
                bytes.resize((part.end - part.start) as usize, 0);
                self.original.read(part.start, &mut bytes)?;
                twin.write(part.start, &bytes)?;
            }
        }
        Ok(())
    }

    /// What an allocation is called, and where an address is in it.
    pub(super) fn told(&self, address: u64) -> String {
        match self.original.allocation_around(address) {
            Some((at, _, label)) => format!("byte {} of {label}", address - at),
            None => format!("{address:#x}"),
        }
    }
}
