//! Addresses of FLAT, GLOBAL and SCRATCH (Vega ISA manual, chapter "Flat Memory Instructions").

use super::{LaneAddress, Span, note};
use crate::memory::{PRIVATE_APERTURE, SHARED_APERTURE};
use crate::program::MemoryAccess;
use crate::wave::{LANES, Src, Wave};

fn address64(w: &Wave, row: u16, lane: usize) -> u64 {
    w.lane::<u64>(row, lane)
}

pub(super) fn flat_places(w: &Wave, access: &MemoryAccess, places: &mut [LaneAddress; LANES]) -> Span {
    let row = access.vaddr?;
    let mut span = None;
    let mut only_global = true;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let address = address64(w, row, lane).wrapping_add_signed(access.offset);
        places[lane] = match address >> 32 {
            high if high == SHARED_APERTURE >> 32 => LaneAddress::Lds(address & 0xffff_ffff),
            high if high == PRIVATE_APERTURE >> 32 => LaneAddress::Private(address & 0xffff_ffff),
            _ => {
                note(&mut span, address);
                LaneAddress::Global(address)
            }
        };
        only_global &= matches!(places[lane], LaneAddress::Global(_));
    }
    span.filter(|_| only_global)
}

pub(super) fn global_places(w: &Wave, access: &MemoryAccess, places: &mut [LaneAddress; LANES]) -> Span {
    let base = match access.scalar {
        Src::None => None,
        source => Some(w.scalar64(source)),
    };
    let mut span = None;
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let address = match (base, access.vaddr) {
            (Some(base), Some(row)) => base.wrapping_add(u64::from(w.lane::<u32>(row, lane))),
            (Some(base), None) => base,
            (None, Some(row)) => address64(w, row, lane),
            (None, None) => 0,
        };
        let address = address.wrapping_add(if access.adds_lane { 4 * lane as u64 } else { 0 });
        let address = address.wrapping_add_signed(access.offset);
        note(&mut span, address);
        places[lane] = LaneAddress::Global(address);
    }
    span
}

pub(super) fn scratch_places(w: &Wave, access: &MemoryAccess, places: &mut [LaneAddress; LANES]) -> Span {
    let base = w.scalar32(access.scalar);
    for lane in (0..LANES).filter(|lane| w.active(*lane)) {
        let offset = access.vaddr.map_or(0, |row| w.lane::<u32>(row, lane)).wrapping_add(base);
        places[lane] =
            LaneAddress::Private(u64::from(offset).wrapping_add_signed(access.offset) & 0xffff_ffff);
    }
    None
}
