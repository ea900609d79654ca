//! Addresses of vector memory instructions that are about to run.

use super::{LaneAddress, buffer, flat};
use crate::exec::footprint::Footprint;
use crate::program::{MemoryAccess, Space, Step};
use crate::wave::{LANES, Scratch, Wave};

/// The places of an instruction, as addresses of device memory (private memory at its swizzled place) and of
/// LDS.
pub(crate) fn footprint(w: &Wave, step: &Step, access: &MemoryAccess, out: &mut Footprint) {
    let mut places = [LaneAddress::Nowhere; LANES];
    match access.space {
        Space::Flat => drop(flat::flat_places(w, access, &mut places)),
        Space::Global => drop(flat::global_places(w, access, &mut places)),
        Space::Scratch => drop(flat::scratch_places(w, access, &mut places)),
        // What cannot be addressed traps when it runs.
        Space::Buffer => drop(buffer::places(w, access, step.op, &mut places)),
        Space::Lds => {}
    }
    for (lane, place) in places.into_iter().enumerate().filter(|(lane, _)| w.active(*lane)) {
        let address = match place {
            LaneAddress::Global(address) => address,
            LaneAddress::Private(offset) => w.flat_scratch() + Scratch::swizzle(offset, lane),
            LaneAddress::Swizzled { base, offset } => base + Scratch::swizzle(offset, lane),
            LaneAddress::Pieces { index, offset } => {
                buffer::Resource::read(w, access).address(index, offset, lane)
            }
            LaneAddress::Lds(offset) => {
                out.local |= 1 << lane;
                out.offset[lane] = offset as u32;
                continue;
            }
            LaneAddress::Nowhere => continue,
        };
        out.global |= 1 << lane;
        out.address[lane] = address;
    }
}
