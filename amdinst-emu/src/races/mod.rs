//! Data races: accesses to one byte that nothing orders, one of them at least a write.
//!
//! Waves run in turn here, so a result says nothing about what another order would have given. Whether the order matters
//! shows in the accesses themselves.
//!
//! * Two atomics never race: the device orders them.
//! * An atomic and a plain read race unless the read begins a loop of compare-and-swap (`reads`).
//! * Two plain writes race if the later one changes the byte. Waves that all store one value are a common idiom, and
//!   relaxed atomic stores, which are the same instructions as plain ones, are written for it.
//! * Lanes of one wave do not race with each other here: a wave's instruction comes after the one before it for all lanes.
//!   Those of one store are another matter (`exec/lane_race`).

mod cells;
mod contexts;
mod device;
mod lds;
#[cfg(test)]
mod pairs;
mod reads;
mod suspects;
mod words;

pub(crate) use device::{Access, DeviceRaces, lock};
pub(crate) use lds::LdsRaces;
pub(crate) use reads::Late;
pub(crate) use words::Mark;
