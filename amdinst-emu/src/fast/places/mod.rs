//! Where the active lanes' bytes are: looked at once an instruction, in vectors, and then reached lane by
//! lane without another look.

mod device;
mod group;

pub(super) use device::{Addresses, Place};
pub(super) use group::{LanesInLds, Reads};

use super::level::Level;
use crate::wave::LANES;

/// Numbers of the lanes.
static LANE: [u32; LANES] = {
    let mut lanes = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        lanes[lane] = lane as u32;
        lane += 1;
    }
    lanes
};

/// Numbers of the lanes within a vector.
#[inline(always)]
fn numbers<L: Level>(level: L) -> L::V {
    level.load(&LANE, 0)
}

/// Whether a vector's lanes follow each other dword by dword, from its first one on.
#[inline(always)]
fn are_side_by_side<L: Level>(level: L, addresses: L::V, first: u32) -> bool {
    let expected = level.add(level.splat(first), level.shl(numbers(level), level.splat(2)));
    level.equal(addresses, expected) == ((1u64 << L::N) - 1) as u32
}
