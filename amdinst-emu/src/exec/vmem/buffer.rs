//! Addresses of MUBUF (Vega ISA manual, "Buffer Addressing").

use super::{Place, Span, bytes_of, note};
use crate::program::MemoryAccess;
use crate::wave::{LANES, Wave};

/// Buffer addressing (Vega ISA manual, "Buffer addressing").
pub(super) fn buffer_places(w: &Wave, access: &MemoryAccess, places: &mut [Place; LANES]) -> Span {
    let low = w.s64(access.resource);
    let high = w.s64(access.resource + 2);
    let (base, mut stride) = (low & 0xffff_ffff_ffff, low >> 48 & 0x3fff);
    let swizzle = low >> 63 != 0;
    let records = high & 0xffff_ffff;
    let word3 = (high >> 32) as u32;
    let index_stride = 8u64 << (word3 >> 21 & 3);
    let add_lane = word3 & 1 << 23 != 0;
    if add_lane {
        // The data format's bits are the upper ones of the stride then; for scratch the stride is 0 and they are not.
        stride |= if stride != 0 { u64::from(word3 >> 15 & 15) << 14 } else { 0 };
    }
    let scalar = u64::from(w.scalar32(access.scalar));
    let mut span = None;
    let mut only_global = true;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let mut registers = access.vaddr.into_iter().flat_map(|row| [row, row + 1]);
        let mut next = |wanted: bool| {
            if wanted { registers.next().map_or(0, |row| u64::from(w.lane::<u32>(row, lane))) } else { 0 }
        };
        let index = next(access.idxen) + if add_lane { lane as u64 } else { 0 };
        let offset = next(access.offen).wrapping_add_signed(access.offset) & 0xffff_ffff;
        places[lane] = if swizzle && add_lane && stride == 0 && index_stride == LANES as u64 {
            // The form of private memory: no range check.
            only_global = false;
            Place::Swizzled { base: base + scalar, offset }
        } else {
            let size = u64::from(bytes_of(access.action));
            let outside = if stride == 0 || !access.idxen && !swizzle {
                offset + size > records
            } else {
                index >= records
            };
            let element = 4u64;
            let linear = if swizzle {
                let (index_high, index_low) = (index / index_stride, index % index_stride);
                let (offset_high, offset_low) = (offset / element, offset % element);
                (index_high * stride + offset_high * element) * index_stride
                    + index_low * element
                    + offset_low
            } else {
                index * stride + offset
            };
            if outside {
                only_global = false;
                Place::Nowhere
            } else {
                let address = base + scalar + linear;
                note(&mut span, address);
                Place::Global(address)
            }
        };
    }
    span.filter(|_| only_global)
}
