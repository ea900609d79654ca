//! Builds the new `.text`: the old one with insertions, and with every branch and address computation
//! corrected.
//!
//! The text is rebuilt from its first byte to its last. What no path reaches (padding, data) is copied as it
//! is. A branch to a patched instruction goes to what stands before it; a branch behind one does not run what
//! stands after it. Only the entry from outside runs a kernel's prologue: a loop back to the first
//! instruction does not.
//!
//! What cannot move stays where it is, with what leads there ([`Stays`]).

mod index;
mod insertions;
mod islands;
mod layout;
mod places;
mod stays;
mod targets;
mod variable;

use std::collections::BTreeMap;

use amdgpu_object::CodeObject;
use amdgpu_object::rewrite::{Edge, variable_address};
use amdinst_format::probes::{AddressMap, Run};
use thiserror::Error;

use crate::analysis::program::Program;
pub(crate) use insertions::Insertions;
use islands::{Islands, Slots};
use layout::Layout;
pub(crate) use stays::Stays;
use targets::Wrong;

/// Why the text cannot be rebuilt.
#[derive(Clone, Debug, Error)]
pub(crate) enum RelocateError {
    /// A branch in this function does not reach its target any more.
    #[error("the branch at {pc:#x} would have to span {distance} bytes")]
    BranchOutOfRange { function: usize, pc: u64, distance: i64 },
    /// Something that depends on its address in a way that is not understood.
    #[error("{detail}")]
    NotRelocatable { pc: u64, detail: String },
}

/// The new text.
#[derive(Clone, Debug)]
pub(crate) struct Relocated {
    layout: Layout,
    stays: Stays,
    /// Dwords outside of it that become others, by address.
    data: BTreeMap<u64, u32>,
}

/// Islands move code and so can put further branches out of reach; each round makes room for those.
const ROUNDS: usize = 16;

/// Rounds in which branches of a length that a processor does not get right become longer; one may bring
/// another there.
const PADDING_ROUNDS: usize = 256;

impl Relocated {
    /// Rebuilds the text at `address` with what is inserted.
    pub(crate) fn new(
        object: &CodeObject,
        program: &Program,
        inserted: &Insertions,
        stays: &Stays,
        address: u64,
    ) -> Result<Self, RelocateError> {
        let mut islands = Islands::default();
        let mut slots = None;
        let (mut round, mut padding_round) = (0, 0);
        loop {
            let mut layout = Layout::new(object, program, inserted, &islands.sizes(), stays, address);
            let Wrong { far, unsafe_past } = targets::retarget(&mut layout, program, &islands)?;
            let Some(first) = far.first() else {
                if let Some(&pc) = unsafe_past.first() {
                    if padding_round == PADDING_ROUNDS {
                        let detail =
                            format!("a branch before {pc:#x} has an offset that {} gets wrong", program.arch);
                        return Err(RelocateError::NotRelocatable { pc, detail });
                    }
                    unsafe_past.into_iter().for_each(|pc| islands.pad(pc));
                    padding_round += 1;
                    continue;
                }
                for address in &program.addresses {
                    targets::readdress(&mut layout, program, stays, address)?;
                }
                let mut data = BTreeMap::new();
                for table in &program.tables {
                    targets::retable(&mut layout, program, stays, table, &mut data)?;
                }
                data.retain(|at, _| !layout.old.contains(at));
                layout.place_variable(variable_address(address, layout.text.len() as u64));
                return Ok(Self { layout, stays: stays.clone(), data });
            };
            let slots = slots.get_or_insert_with(|| Slots::new(object, program, stays));
            for far in &far {
                if round == ROUNDS || !islands.lead(slots, &layout, far.source, far.target, far.span)? {
                    return Err(first.error());
                }
            }
            round += 1;
        }
    }

    /// Its bytes.
    pub(crate) fn text(&self) -> &[u8] {
        &self.layout.text
    }

    /// Dwords outside of it that become others, by address.
    pub(crate) const fn data(&self) -> &BTreeMap<u64, u32> {
        &self.data
    }

    /// Whether the old code stays as well.
    pub(crate) const fn keeps_code(&self) -> bool {
        self.stays.any()
    }

    /// Where everything came from.
    pub(crate) fn map(&self) -> AddressMap {
        let Layout { map, old, .. } = &self.layout;
        let mut map = map.clone();
        if self.keeps_code() {
            // The new code stands behind the old.
            let size = old.end - old.start;
            map.runs.insert(0, Run { new: old.start, old: old.start, size, inserted: false });
        }
        map
    }

    /// Where an old address went, as a symbol or a pointer names it.
    #[inline]
    pub(crate) fn place(&self, old: u64, edge: Edge) -> Option<u64> {
        let byte = match edge {
            Edge::Start => old,
            Edge::End => old.wrapping_sub(1),
        };
        if self.stays.contains(byte) { Some(old) } else { self.layout.place(old, edge) }
    }

    /// The new address of an old instruction itself.
    pub(crate) fn instruction(&self, old: u64) -> Option<u64> {
        self.layout.copied(old)
    }
}
