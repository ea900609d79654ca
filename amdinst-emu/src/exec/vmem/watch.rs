//! What `--check-races` looks at in vector memory. Accesses that convert, and those of a buffer's records in pieces, it
//! leaves out.

use super::Place;
use crate::check::Outcome;
use crate::exec::{Context, lane_race};
use crate::program::{Action, MemoryAccess, Step};
use crate::races::Access;
use crate::wave::LANES;

/// Notes what the active lanes are about to do to device memory.
///
/// # Errors
/// When that races with what was done before.
pub(super) fn note(
    context: &mut Context<'_>,
    step: &Step,
    access: &MemoryAccess,
    places: &[Place; LANES],
) -> Outcome {
    let Some(mut races) = context.device_races() else { return Ok(()) };
    let w = &*context.wave;
    let lanes = places.iter().enumerate().filter(|(lane, _)| w.active(*lane));
    let lanes = lanes.filter_map(|(lane, place)| match *place {
        Place::Global(address) if w.scratch.offset_of(address).is_none() => Some((address, Some(lane))),
        _ => None,
    });
    races.note(context.memory, w, Access::new(access.action, passes_the_cache(step)), lanes)
}

/// Whether a load is one that compilers choose for atomic and volatile loads. Those with SLC are non-temporal ones (AMDGPU
/// user guide, "Memory Model", the tables of code sequences; SC0 and SC1 of gfx940 are in the places of GLC and SCC).
fn passes_the_cache(step: &Step) -> bool {
    step.extra.as_ref().is_some_and(|extra| {
        let mods = &extra.inst.mods;
        mods.glc && !mods.slc || mods.scc
    })
}

/// The active lanes have done that.
///
/// # Errors
/// When they have changed what others had written, or when they have stored different values to one place.
pub(super) fn settle(context: &Context<'_>, access: &MemoryAccess, places: &[Place; LANES]) -> Outcome {
    if !context.lds.is_watched() || !matches!(access.action, Action::Store { .. }) {
        return Ok(());
    }
    if let Some(mut races) = context.device_races() {
        races.settle(context.memory)?;
    }
    let w = &*context.wave;
    // To device memory, then to LDS.
    for memory in [Some(context.memory), None] {
        let stores = places.iter().enumerate().filter(|(lane, _)| w.active(*lane));
        let stores = stores.filter_map(|(lane, place)| match *place {
            Place::Global(address) if memory.is_some() => Some((address, lane)),
            Place::Lds(address) if memory.is_none() => Some((address, lane)),
            _ => None,
        });
        let stores = stores.map(|(address, lane)| lane_race::Store { address, lane, row: access.data[0] });
        lane_race::check(w, memory, access.action, &mut stores.collect::<Vec<_>>())?;
    }
    Ok(())
}
