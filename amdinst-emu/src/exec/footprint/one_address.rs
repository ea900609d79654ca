//! Lanes of an instruction that meet at one address: atomics there go one after the other.

use crate::wave::LANES;

/// The greatest number of equal addresses; 0 if there are none.
pub(crate) fn most_at_one(addresses: impl Iterator<Item = u64>) -> u64 {
    let mut sorted = [0u64; LANES];
    let mut count = 0;
    for (place, address) in sorted.iter_mut().zip(addresses) {
        *place = address;
        count += 1;
    }
    let sorted = &mut sorted[..count];
    sorted.sort_unstable();
    sorted.chunk_by(|one, other| one == other).map(<[u64]>::len).max().unwrap_or(0) as u64
}
