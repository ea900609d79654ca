//! Where everything goes: old code, insertions, padding and islands, in order of the old address.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::ops::Range;

use amdgpu_object::CodeObject;
use amdgpu_object::rewrite::Edge;
use amdinst_format::probes::{AddressMap, Run};

use super::index::{ByAddress, Index};
use super::insertions::{Inserted, Insertions};
use super::places::Places;
use super::stays::Stays;
use super::variable::Formed;
use crate::analysis::program::Program;

const S_NOP: [u8; 4] = [0x00, 0x00, 0x80, 0xbf];

/// The new text, its branches not corrected yet.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Its address.
    pub(super) address: u64,
    /// Its bytes.
    pub(super) text: Vec<u8>,
    /// Where everything came from.
    pub(super) map: AddressMap,
    /// Addresses of the old text.
    pub(super) old: Range<u64>,
    /// Where the islands at an old address start.
    pub(super) zones: BTreeMap<u64, u64>,
    /// Where old addresses went.
    places: Places,
    /// New address for branches, where it is not simply that of the copied instruction.
    branches: ByAddress,
    /// Where prologues form the address of the buffer's variable, with their new addresses.
    formed: Vec<(u64, Formed)>,
    /// Of the runs, by old address.
    runs: Index,
}

impl Layout {
    /// At `address`, with so many instructions of islands before old addresses.
    pub(super) fn new(
        object: &CodeObject,
        program: &Program,
        inserted: &Insertions,
        islands: &BTreeMap<u64, usize>,
        stays: &Stays,
        address: u64,
    ) -> Self {
        let start = object.text.address;
        let old_text = object.text_bytes();
        let mut this = Self {
            address,
            text: Vec::with_capacity(old_text.len() * 2),
            map: AddressMap::default(),
            old: start..start + old_text.len() as u64,
            zones: BTreeMap::new(),
            places: Places::new(old_text.len(), address),
            branches: ByAddress::default(),
            formed: Vec::new(),
            runs: Index::default(),
        };
        // Most patches have two parts, and stand between two pieces of old code.
        this.map.runs.reserve(4 * inserted.len() + 2 * program.functions.len());
        this.branches.reserve(inserted.len());
        let bytes = |from: u64, to: u64| &old_text[(from - start) as usize..(to - start) as usize];

        let alignments = alignments(object, program, islands, stays);
        let stops = Stops {
            aligned: alignments.into_iter().peekable(),
            patched: inserted.iter().map(|patch| (program.insts[patch.index].pc, patch)).peekable(),
        };
        let mut at = start;
        for (pc, alignment, patched) in stops {
            if pc < at && patched.is_none() {
                // It begins within an instruction that was just copied whole, in a damaged file.
                continue;
            }
            stays.moving(at..pc).for_each(|part| this.copy(part.start, bytes(part.start, part.end)));
            at = pc;
            if let Some(&islands) = islands.get(&pc) {
                this.zones.insert(pc, this.end());
                this.insert(pc, &S_NOP.repeat(islands));
            }
            let padding = this.end().next_multiple_of(alignment) - this.end();
            if padding > 0 {
                this.insert(pc, &S_NOP.repeat(padding as usize / 4));
            }
            let Some(inserted) = patched else { continue };
            let located = &program.insts[inserted.index];
            let entry = this.end();
            this.formed.extend(inserted.formed.map(|formed| (entry, formed)));
            this.insert(pc, inserted.entry);
            this.branches.push(pc, this.end());
            this.insert(pc, inserted.before);
            if inserted.instead.is_empty() {
                this.copy(pc, bytes(pc, located.end()));
                at = located.end();
            } else {
                // Byte for byte in the old one's place.
                this.copy(pc, inserted.instead);
                at = pc + inserted.instead.len() as u64;
            }
            this.insert(pc, inserted.after);
            this.places.set(pc - start, at - start, entry, this.end());
        }
        stays.moving(at..this.old.end).for_each(|part| this.copy(part.start, bytes(part.start, part.end)));
        this.branches.finish(&this.old);
        this.runs = Index::new(&this.old, this.map.runs.iter().map(|run| run.old));
        this
    }

    /// Where an old address went, as a symbol or a pointer names it.
    #[inline]
    pub(super) fn place(&self, old: u64, edge: Edge) -> Option<u64> {
        let offset = old.checked_sub(self.old.start)?;
        // Nothing was inserted within a dword.
        match edge {
            _ if offset.is_multiple_of(4) => self.places.get(offset, edge),
            Edge::Start => self.copied(old),
            Edge::End => Some(self.copied(old - 1)? + 1),
        }
    }

    /// Where a branch to an old address goes.
    pub(super) fn branch_target(&self, to: u64) -> Option<u64> {
        self.branches.get(to).or_else(|| self.copied(to))
    }

    /// The new address of a copied byte.
    pub(super) fn copied(&self, old: u64) -> Option<u64> {
        // Runs are in order of the old address too; at equal ones, the copied run is among the last.
        let before = self.runs.before(old);
        let end = before + self.map.runs[before..].iter().take_while(|run| run.old <= old).count();
        let run = self.map.runs[..end].iter().rev().find(|run| !run.inserted)?;
        (old - run.old < run.size).then(|| run.new + (old - run.old))
    }

    /// Forms the address of the buffer's variable in the prologues.
    pub(super) fn place_variable(&mut self, variable: u64) {
        for (start, formed) in std::mem::take(&mut self.formed) {
            for (at, literal) in formed.literals(start, variable) {
                let at = (at - self.address) as usize;
                if let Some(word) = self.text.get_mut(at..at + 4) {
                    word.copy_from_slice(&literal.to_le_bytes());
                }
            }
        }
    }

    fn end(&self) -> u64 {
        self.address + self.text.len() as u64
    }

    fn copy(&mut self, old: u64, bytes: &[u8]) {
        self.places.copy(old - self.old.start, bytes.len() as u64, self.end());
        self.append(old, bytes, false);
    }

    fn insert(&mut self, old: u64, bytes: &[u8]) {
        self.append(old, bytes, true);
    }

    fn append(&mut self, old: u64, bytes: &[u8], inserted: bool) {
        if !bytes.is_empty() {
            self.map.runs.push(Run { new: self.end(), old, size: bytes.len() as u64, inserted });
            self.text.extend_from_slice(bytes);
        }
    }
}

/// Multiples that code must begin at, by old address: that of functions, and of islands, which may stand
/// anywhere.
fn alignments(
    object: &CodeObject,
    program: &Program,
    islands: &BTreeMap<u64, usize>,
    stays: &Stays,
) -> BTreeMap<u64, u64> {
    let mut alignments = BTreeMap::new();
    for function in &program.functions {
        if stays.left_out(function.range.start).is_some() {
            continue;
        }
        // The hardware starts kernels at multiples of 256; functions keep their alignment to cache lines.
        let natural = 1 << function.range.start.trailing_zeros().min(6);
        alignments.insert(function.range.start, if function.kernel.is_some() { 256 } else { natural });
    }
    // The descriptors of code object version 2 stand right in front of the entries.
    for kernel in object.kernels.iter().filter(|_| object.version == 2) {
        alignments.insert(kernel.descriptor_address, 256);
    }
    for &zone in islands.keys() {
        alignments.entry(zone).or_insert(1);
    }
    alignments
}

/// Old addresses at which the copy of the text stops for an insertion, ascending.
struct Stops<A: Iterator, P: Iterator> {
    /// Addresses and their alignment.
    aligned: Peekable<A>,
    /// Addresses and their patches.
    patched: Peekable<P>,
}

impl<'a, A, P> Iterator for Stops<A, P>
where
    A: Iterator<Item = (u64, u64)>,
    P: Iterator<Item = (u64, Inserted<'a>)>,
{
    /// The address, its alignment, and the patch.
    type Item = (u64, u64, Option<Inserted<'a>>);

    fn next(&mut self) -> Option<Self::Item> {
        match (self.aligned.peek().copied(), self.patched.peek()) {
            (Some((pc, alignment)), patch) if patch.is_none_or(|&(at, _)| pc < at) => {
                self.aligned.next();
                Some((pc, alignment, None))
            }
            (aligned_at, Some(&(at, patch))) => {
                let alignment = aligned_at.filter(|&(pc, _)| pc == at).map(|(_, alignment)| alignment);
                if alignment.is_some() {
                    self.aligned.next();
                }
                self.patched.next();
                Some((at, alignment.unwrap_or(1), Some(patch)))
            }
            (_, None) => None,
        }
    }
}
