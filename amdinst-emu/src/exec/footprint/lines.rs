//! The cache lines that an instruction touches.

use std::ops::Range;

use super::Footprint;
use crate::wave::lanes_of;

/// Bytes of a line of a first-level cache of GCN and CDNA 2, and of half a line of the others.
pub(crate) const SECTOR: u64 = 64;
/// Sectors of a long line.
const SECTORS: usize = 2;

/// The sectors of one long line that an instruction touches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Touched {
    /// The line's number: its address, in long lines.
    pub(crate) line: u64,
    /// The sectors, a bit each.
    pub(crate) sectors: u8,
    /// The bytes of each sector, a bit each.
    pub(crate) bytes: [u64; SECTORS],
}

/// The long lines that an instruction touches, in the order of the first lane that does.
#[derive(Clone, Debug, Default)]
pub(crate) struct TouchedLines(Vec<Touched>);

impl TouchedLines {
    /// Those of all accesses to device memory of a footprint, in place of what was here.
    pub(crate) fn take(&mut self, footprint: &Footprint) {
        self.clear();
        let bytes = u64::from(footprint.bytes.max(1));
        for lane in lanes_of(footprint.global) {
            self.add(footprint.address[lane], bytes);
        }
    }

    /// Without any.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds those of so many bytes: [`SECTOR`] at most.
    pub(crate) fn add(&mut self, first: u64, bytes: u64) {
        let last = first.saturating_add(bytes.max(1) - 1);
        let (sector, end) = (first / SECTOR, last / SECTOR);
        if sector == end {
            self.put(sector, first % SECTOR..last % SECTOR + 1);
        } else {
            self.put(sector, first % SECTOR..SECTOR);
            self.put(end, 0..last % SECTOR + 1);
        }
    }

    /// Adds some bytes of a sector.
    fn put(&mut self, sector: u64, bytes: Range<u64>) {
        let (line, half) = (sector / SECTORS as u64, (sector % SECTORS as u64) as usize);
        // Neighbours mostly share a line: look at the last ones first.
        let at = match self.0.iter().rposition(|touched| touched.line == line) {
            Some(at) => at,
            None => {
                self.0.push(Touched { line, ..Touched::default() });
                self.0.len() - 1
            }
        };
        let touched = &mut self.0[at];
        touched.sectors |= 1 << half;
        touched.bytes[half] |= below(bytes.end) & !below(bytes.start);
    }

    /// Each long line.
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Touched> {
        self.0.iter()
    }

    /// Long lines.
    pub(crate) fn long(&self) -> u64 {
        self.0.len() as u64
    }

    /// Short lines: sectors.
    pub(crate) fn short(&self) -> u64 {
        self.0.iter().map(|touched| u64::from(touched.sectors.count_ones())).sum()
    }

    /// Bytes, each once however many lanes want it.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.iter().flat_map(|touched| touched.bytes).map(|bytes| u64::from(bytes.count_ones())).sum()
    }
}

/// The bits below one.
const fn below(bit: u64) -> u64 {
    if bit >= SECTOR { u64::MAX } else { (1 << bit) - 1 }
}
