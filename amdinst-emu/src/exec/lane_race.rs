//! Lanes of one store that write different values to one byte: which of them stays there, no manual says.
//!
//! Values that agree are none: lanes that all store one value are a common idiom.

use super::lane_data::get_small;
use crate::check::{FaultKind, MemorySpace, Outcome, Trap};
use crate::memory::Memory;
use crate::program::{Action, Part};
use crate::races::Races;
use crate::wave::{LANES, Wave};

/// What a lane is about to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Store {
    /// First byte, in the memory that all are in.
    pub(super) address: u64,
    pub(super) lane: usize,
    /// The first of the rows that have the data.
    pub(super) row: u16,
}

impl Store {
    /// A byte of the data.
    fn byte(&self, w: &Wave, (bytes, part): (u8, Part), number: usize) -> u8 {
        let (row, shift) = (self.row + (number / 4) as u16, 8 * (number % 4));
        let value = match bytes {
            ..4 => get_small(w, row, self.lane, part),
            _ => u64::from(w.rows[usize::from(row)][self.lane]),
        };
        (value >> shift) as u8
    }
}

/// Whether two active lanes store different values to one byte. The data are in rows from `row` on, a lane's
/// first byte goes to `at`.
pub(crate) fn in_one_store(w: &Wave, action: Action, row: u16, at: impl Fn(usize) -> u64) -> bool {
    let Action::Store { bytes, .. } = action else { return false };
    let lanes = || (0..LANES).filter(|lane| w.active(*lane));
    let mut end = 0;
    let ascend = lanes().all(|lane| {
        let address = at(lane);
        let behind = end <= address;
        end = address + u64::from(bytes);
        behind
    });
    if ascend {
        return false;
    }
    let (mut stores, mut count) = ([Store { address: 0, lane: 0, row }; LANES], 0);
    for lane in lanes() {
        stores[count] = Store { address: at(lane), lane, row };
        count += 1;
    }
    check(w, None, action, &mut stores[..count]).is_err()
}

/// Looks at all that one instruction stores in device memory, or in LDS if that is not given.
///
/// # Errors
/// When two lanes write different values to one byte.
pub(super) fn check(w: &Wave, memory: Option<&Memory>, action: Action, stores: &mut [Store]) -> Outcome {
    let Action::Store { bytes, part } = action else { return Ok(()) };
    let size = u64::from(bytes);
    stores.sort_unstable();
    // Those that store the same to one place are as one: what is behind is compared with the last of them,
    // and told of the first. Where lanes store twice, the lanes count as well.
    let are_single = stores.iter().all(|store| store.row == stores[0].row);
    let (mut first, mut is_next_alike) = (0, false);
    for (number, one) in stores.iter().enumerate() {
        if !std::mem::take(&mut is_next_alike) {
            first = number;
        }
        for other in &stores[number + 1..] {
            // Sorted: those behind begin no earlier.
            let distance = other.address - one.address;
            if distance >= size {
                break;
            }
            let agrees = |number: usize| {
                one.byte(w, (bytes, part), number + distance as usize) == other.byte(w, (bytes, part), number)
            };
            if one.lane != other.lane && !(0..(size - distance) as usize).all(agrees) {
                let one = &stores[first];
                let (last, earlier) = if one.lane < other.lane { (other, one) } else { (one, other) };
                let (address, size) = (last.address, u32::from(bytes));
                let space = if memory.is_some() { MemorySpace::Global } else { MemorySpace::Lds };
                let inside = memory.and_then(|memory| memory.inside(address));
                let kind = FaultKind::LaneRace {
                    space,
                    address,
                    size,
                    inside,
                    other: earlier.lane as u8,
                    certain: true,
                };
                return Err(Trap::at_lane(kind, last.lane));
            }
            if distance == 0 && are_single {
                is_next_alike = true;
                break;
            }
        }
    }
    Ok(())
}

/// Judges what [`check`] has found, where each access is looked at.
///
/// # Errors
/// A race.
pub(super) fn judged(races: &Races, w: &Wave, checked: Outcome) -> Outcome {
    checked.or_else(|trap| races.lock().judge_lanes(w, trap))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::config::Config;

    proptest! {
        /// Against every byte by itself.
        #[test]
        fn as_when_every_byte_is_compared(
            bytes in prop::sample::select(vec![1u8, 2, 4, 8, 12, 16]),
            part in prop::sample::select(vec![Part::Whole, Part::High]),
            data in prop::array::uniform4(prop::collection::vec(0..3u32, 5)),
            places in prop::collection::vec((0..24u64, 0..5usize, any::<bool>()), 0..6),
        ) {
            let mut w = Wave::new(amdgpu_isa::Arch::Gfx90a.into(), Config::default().vectors);
            for (row, values) in data.iter().enumerate() {
                for (lane, value) in values.iter().enumerate() {
                    w.rows[row][lane] = value * 0x0101_0101;
                    w.rows[row + 4][lane] = value * 0x0101_0001;
                }
            }
            let mut stores: Vec<Store> = places
                .iter()
                .map(|&(address, lane, second)| Store { address, lane, row: if second { 4 } else { 0 } })
                .collect();
            let mut written: BTreeMap<u64, Vec<(usize, u8)>> = BTreeMap::new();
            for store in &stores {
                for number in 0..usize::from(bytes) {
                    let dword = w.rows[usize::from(store.row) + number / 4][store.lane];
                    let dword = if bytes < 4 && part == Part::High { dword >> 16 } else { dword };
                    let value = dword.to_le_bytes()[number % 4];
                    written.entry(store.address + number as u64).or_default().push((store.lane, value));
                }
            }
            let differ = |(a, b): (&(usize, u8), &(usize, u8))| a.0 != b.0 && a.1 != b.1;
            let clash = |all: &Vec<(usize, u8)>| all.iter().any(|one| all.iter().any(|other| differ((one, other))));
            let expected = written.values().any(clash);
            let found = check(&w, None, Action::Store { bytes, part }, &mut stores);
            prop_assert_eq!(found.is_err(), expected);
            if let Err(trap) = found {
                let FaultKind::LaneRace { address, other, .. } = trap.kind else { panic!("{:?}", trap.kind) };
                let lane = trap.lane.expect("a lane");
                prop_assert!(other < lane);
                prop_assert!(stores.iter().any(|store| store.address == address && store.lane == usize::from(lane)));
            }
        }
    }
}
