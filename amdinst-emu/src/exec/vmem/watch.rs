//! What is looked at of accesses to vector memory: for races, and for what a loop changes. The look for races
//! leaves out accesses that convert, and those of a buffer's records in pieces.

use super::{LaneAddress, bytes_of};
use crate::check::{AccessKind, Outcome};
use crate::exec::lane_race;
use crate::memory::Memory;
use crate::program::{Action, Context, MemoryAccess, Step};
use crate::races::{Access, DeviceScan};
use crate::watch::{Polled, Trace, Watch};
use crate::wave::{LANES, Wave};

/// Notes what the active lanes are about to do to device memory.
///
/// # Errors
/// When that races with what was done before.
pub(super) fn note(
    context: &mut Context<'_>,
    step: &Step,
    access: &MemoryAccess,
    places: &[LaneAddress; LANES],
) -> Outcome {
    let how = access.action.access(passes_the_cache(step));
    let w = &*context.wave;
    let active = places.iter().enumerate().filter(|(lane, _)| w.active(*lane));
    match &mut context.watch {
        Watch::Nobody => Ok(()),
        Watch::Scan(scan) => {
            scan_all(scan, context.memory, w, how, active.map(|(_, place)| place));
            Ok(())
        }
        Watch::Races(races) => {
            let places = active.filter_map(|(lane, place)| match *place {
                LaneAddress::Global(address) if w.scratch.offset_of(address).is_none() => {
                    Some((address, Some(lane)))
                }
                _ => None,
            });
            races.lock().note(context.memory, w, how, places)
        }
        Watch::Trace(_) if how.kind == AccessKind::Read => Ok(()),
        Watch::Trace(trace) => {
            let stores = active.filter_map(|(lane, place)| match *place {
                LaneAddress::Global(address) => Some((address, how.bytes, Some(lane))),
                _ => None,
            });
            Trace::note(trace, w, stores);
            Ok(())
        }
    }
}

/// Notes the accesses of lanes in a scan for races, which cannot fail.
fn scan_all<'a>(
    scan: &mut DeviceScan,
    memory: &Memory,
    w: &Wave,
    how: Access,
    places: impl Iterator<Item = &'a LaneAddress>,
) {
    if how.kind == AccessKind::Read && how.synchronises && !scan.notes_synchronising() {
        return;
    }
    for place in places {
        match *place {
            LaneAddress::Global(address) => scan.note(memory, w, how, address),
            LaneAddress::Pieces { .. } => scan.report_unseen(),
            LaneAddress::Lds(_)
            | LaneAddress::Private(_)
            | LaneAddress::Swizzled { .. }
            | LaneAddress::Nowhere => {}
        }
    }
}

/// Whether a load is one that compilers choose for atomic and volatile loads. Those with SLC are non-temporal
/// ones (AMDGPU user guide, "Memory Model", the tables of code sequences; SC0 and SC1 of gfx940 are in the
/// places of GLC and SCC). On GFX12 such loads have a scope beyond the compute unit.
pub(crate) fn passes_the_cache(step: &Step) -> bool {
    step.extra.as_ref().is_some_and(|extra| {
        let mods = &extra.inst.mods;
        mods.glc && !mods.slc || mods.scc || mods.scope != 0
    })
}

/// The active lanes have done that.
///
/// # Errors
/// When they have changed what others had written, or when they have stored different values to one place.
pub(super) fn settle(
    context: &mut Context<'_>,
    access: &MemoryAccess,
    places: &[LaneAddress; LANES],
) -> Outcome {
    if !context.watch.is_there() || !matches!(access.action, Action::Store { .. }) {
        return Ok(());
    }
    if let Some(mut races) = context.device_races() {
        races.settle(context.memory)?;
    }
    let w = &*context.wave;
    if ascend(w, access, places) {
        return Ok(());
    }
    // To device memory, then to LDS.
    for memory in [Some(context.memory), None] {
        let stores = places.iter().enumerate().filter(|(lane, _)| w.active(*lane));
        let stores = stores.filter_map(|(lane, place)| match *place {
            LaneAddress::Global(address) if memory.is_some() => Some((address, lane)),
            LaneAddress::Lds(address) if memory.is_none() => Some((address, lane)),
            _ => None,
        });
        let stores = stores.map(|(address, lane)| lane_race::Store { address, lane, row: access.data[0] });
        let checked = lane_race::check(w, memory, access.action, &mut stores.collect::<Vec<_>>());
        match &context.watch {
            Watch::Nobody | Watch::Trace(_) => {}
            Watch::Scan(scan) if checked.is_err() => scan.report_lanes(),
            Watch::Scan(_) => {}
            Watch::Races(races) => lane_race::judged(races, w, checked)?,
        }
    }
    Ok(())
}

/// What the places of a store or an atomic hold, if a round of a loop is looked at.
pub(super) fn before(
    context: &Context<'_>,
    access: &MemoryAccess,
    places: &[LaneAddress; LANES],
) -> Option<Vec<u8>> {
    let writes = !matches!(access.action, Action::Load { .. });
    (writes && context.round.is_some()).then(|| contents(context, access, places))
}

/// The access has been done, of which the places held `before`.
pub(super) fn after(
    context: &mut Context<'_>,
    access: &MemoryAccess,
    places: &[LaneAddress; LANES],
    before: Option<&[u8]>,
) {
    if context.round.is_none() {
        return;
    }
    let changed = before.is_some_and(|before| contents(context, access, places) != before);
    let pieces = places.iter().any(|place| matches!(place, LaneAddress::Pieces { .. }));
    let polled = device_places(context.wave, places).next();
    let step = context.wave.current;
    let lds = |(lane, place): (usize, &LaneAddress)| {
        matches!(place, LaneAddress::Lds(_)) && context.wave.active(lane)
    };
    let lds = places.iter().enumerate().any(lds);
    let Some(round) = context.round.as_deref_mut() else { return };
    round.changed |= changed || pieces && before.is_some();
    if matches!(access.action, Action::Store { .. }) {
        return;
    }
    round.asks |= pieces || polled.is_some();
    round.reads_lds |= lds;
    if let Some((lane, address)) = polled {
        round.polled = Some(Polled { step, lane, address, bytes: bytes_of(access.action) });
    }
}

/// What device memory holds at the places of the active lanes.
fn contents(context: &Context<'_>, access: &MemoryAccess, places: &[LaneAddress; LANES]) -> Vec<u8> {
    let size = usize::from(bytes_of(access.action));
    let mut bytes = vec![0; size * LANES];
    for (place, (_, address)) in bytes.chunks_exact_mut(size).zip(device_places(context.wave, places)) {
        // Of a place that is none, the access makes a fault.
        let _ = context.memory.read(address, place);
    }
    bytes
}

/// Active lanes, and where in device memory they access something, other than their private memory.
fn device_places(w: &Wave, places: &[LaneAddress; LANES]) -> impl Iterator<Item = (usize, u64)> {
    places.iter().enumerate().filter_map(|(lane, place)| match *place {
        LaneAddress::Global(address) if w.active(lane) && w.scratch.offset_of(address).is_none() => {
            Some((lane, address))
        }
        _ => None,
    })
}

/// Whether the places of the active lanes, from lane to lane, are behind each other: no two lanes store to
/// one then.
fn ascend(w: &Wave, access: &MemoryAccess, places: &[LaneAddress; LANES]) -> bool {
    let Action::Store { bytes, .. } = access.action else { return true };
    // LDS has addresses of its own.
    let (mut in_memory, mut in_lds) = (0, 0);
    places.iter().enumerate().filter(|(lane, _)| w.active(*lane)).all(|(_, place)| {
        let (end, address) = match *place {
            LaneAddress::Global(address) => (&mut in_memory, address),
            LaneAddress::Lds(address) => (&mut in_lds, address),
            _ => return true,
        };
        let behind = *end <= address;
        *end = address.saturating_add(u64::from(bytes));
        behind
    })
}
