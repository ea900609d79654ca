//! What is inserted, as bytes.

use amdgpu_isa::EncodeError;

use super::variable::Formed;
use crate::instrument::emit::assembler::Assembled;
use crate::instrument::place::patches::{Patch, Patches};

/// Patches as the bytes of their parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Insertions {
    /// Of all parts, one after the other.
    code: Vec<u8>,
    places: Vec<PatchBytes>,
}

/// Where the bytes of a patch are.
#[derive(Clone, Copy, Debug)]
struct PatchBytes {
    /// The instruction of the patch.
    index: usize,
    start: usize,
    /// How many each part has: for the entry, before, after and instead of the instruction.
    sizes: [u32; 4],
    formed: Option<Formed>,
}

/// What is inserted at one instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inserted<'a> {
    pub(super) index: usize,
    pub(super) entry: &'a [u8],
    pub(super) before: &'a [u8],
    pub(super) after: &'a [u8],
    pub(super) instead: &'a [u8],
    /// In the part before it at the entry.
    pub(super) formed: Option<Formed>,
}

impl Insertions {
    /// Takes in the patches of a group of kernels: all of them, or none.
    pub(crate) fn add(&mut self, patches: &Patches) -> Result<(), EncodeError> {
        let before = (self.code.len(), self.places.len());
        for (index, patch) in patches.iter() {
            if let Err(error) = self.add_patch(*index, patch) {
                self.code.truncate(before.0);
                self.places.truncate(before.1);
                return Err(error);
            }
        }
        Ok(())
    }

    fn add_patch(&mut self, index: usize, patch: &Patch) -> Result<(), EncodeError> {
        let start = self.code.len();
        let mut end = start;
        let mut sizes = [0; 4];
        for (part, size) in
            [&patch.entry, &patch.before, &patch.after, &patch.instead].into_iter().zip(&mut sizes)
        {
            self.encode(part)?;
            *size = (self.code.len() - end) as u32;
            end = self.code.len();
        }
        self.places.push(PatchBytes { index, start, sizes, formed: Formed::find(&patch.entry) });
        Ok(())
    }

    fn encode(&mut self, insts: &[Assembled]) -> Result<(), EncodeError> {
        for inst in insts {
            match inst.words()?[..] {
                // Most have one or two, which are soon copied if that is known.
                [word] => self.code.extend_from_slice(&word.to_le_bytes()),
                [low, high] => {
                    self.code.extend_from_slice(&(u64::from(high) << 32 | u64::from(low)).to_le_bytes());
                }
                ref words => self.code.extend(words.iter().flat_map(|word| word.to_le_bytes())),
            }
        }
        Ok(())
    }

    /// Puts them in order of the instructions, when all are there. Of two at the same one, of functions that
    /// overlap, the later stays.
    pub(crate) fn sort(&mut self) {
        self.places.sort_by_key(|place| place.index);
        self.places.dedup_by(|later, earlier| {
            let same = later.index == earlier.index;
            if same {
                *earlier = *later;
            }
            same
        });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What was taken in at the places from this one on, as if the instructions had other indices.
    pub(crate) fn since(&self, first: usize, shift: impl Fn(usize) -> usize) -> Self {
        let start = self.places.get(first).map_or(self.code.len(), |place| place.start);
        let moved = |place: &PatchBytes| PatchBytes {
            index: shift(place.index),
            start: place.start - start,
            ..*place
        };
        Self { code: self.code[start..].to_vec(), places: self.places[first..].iter().map(moved).collect() }
    }

    /// Takes in all of these, as if their instructions had other indices.
    pub(crate) fn extend(&mut self, others: &Self, shift: impl Fn(usize) -> usize) {
        let start = self.code.len();
        let moved = |place: &PatchBytes| PatchBytes {
            index: shift(place.index),
            start: place.start + start,
            ..*place
        };
        self.code.extend_from_slice(&others.code);
        self.places.extend(others.places.iter().map(moved));
    }

    /// How many instructions something is inserted at.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Inserted<'_>> {
        self.places.iter().map(|place| {
            let mut rest = &self.code[place.start..];
            let parts = place.sizes.map(|size| {
                let (part, behind) = rest.split_at(size as usize);
                rest = behind;
                part
            });
            let [entry, before, after, instead] = parts;
            Inserted { index: place.index, entry, before, after, instead, formed: place.formed }
        })
    }
}
