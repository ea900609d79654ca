//! Which of a workgroup's records a wave takes, where that follows from one multiplication.
//!
//! On gfx90a and later the three ids of a work-item arrive in one register, ten bits each. The number of its
//! wave would take nine instructions to work out: three to take the ids apart, and z · size_xy + y · size_x +
//! x, divided by the lanes of a wave. Waves only need different records, though, and the launcher knows which
//! ids their first work-items have. So it looks for a factor by which the highest bits of the product differ:
//! a perfect hash of 32 values at most.
//!
//! A wave takes record `(ids · multiplier mod 2^32) >> shift` of its workgroup. `ids` is `x | y << 10 | z <<
//! 20` of its first work-item. Each of the 30,343 shapes of a workgroup has a multiplier, most with as many
//! records as waves; a test tries all.

use super::lanes::Lanes;

/// A wave takes record `(ids · multiplier mod 2^32) >> shift` of its workgroup, where `ids` is x | y << 10 |
/// z << 20 of its first work-item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// A multiple of four: bits 30 and 31 of the register, which nothing is said of, then have no part in it.
    pub multiplier: u32,
    /// Below 32.
    pub shift: u32,
    /// Lanes of a wave.
    pub lanes: Lanes,
}

impl Slots {
    /// The hash for workgroups of a size in work-items, whose waves have so many lanes; `None` for a size
    /// that no device launches.
    pub fn find(size: [u32; 3], lanes: Lanes) -> Option<Self> {
        let [x, y, z] = size;
        let items = x.checked_mul(y)?.checked_mul(z)?;
        if items == 0 || items > 1024 {
            return None;
        }
        let waves = lanes.waves(items);
        if waves == 1 {
            return Some(Self { multiplier: 0, shift: 31, lanes });
        }
        let ids: Vec<u32> = (0..waves).map(|wave| first_ids(size, wave, lanes)).collect();
        let bits = waves.next_power_of_two().trailing_zeros();
        // Where no factor tells the waves apart in so few bits, in one more.
        (bits..=16).find_map(|bits| {
            let shift = 32 - bits;
            candidates().map(|multiplier| Self { multiplier, shift, lanes }).find(|slots| slots.differ(&ids))
        })
    }

    /// Records a workgroup, of which some may belong to no wave.
    pub const fn count(self) -> u32 {
        if self.multiplier == 0 { 1 } else { 1 << (32 - self.shift) }
    }

    /// The record of a wave in its workgroup, whose size must be that which this was found for.
    pub const fn of_wave(self, size: [u32; 3], wave: u32) -> u32 {
        self.of_ids(first_ids(size, wave, self.lanes))
    }

    const fn of_ids(self, ids: u32) -> u32 {
        ids.wrapping_mul(self.multiplier) >> self.shift
    }

    fn differ(self, ids: &[u32]) -> bool {
        let mut taken = [0u64; 1 << 10];
        ids.iter().all(|&ids| {
            let slot = self.of_ids(ids) as usize;
            let (word, bit) = (&mut taken[slot / 64], 1 << (slot % 64));
            let is_free = *word & bit == 0;
            *word |= bit;
            is_free
        })
    }
}

/// x | y << 10 | z << 20 of the first work-item of a wave.
const fn first_ids(size: [u32; 3], wave: u32, lanes: Lanes) -> u32 {
    let flat = lanes.get() * wave;
    let [x, y, _] = size;
    (flat % x) | ((flat / x % y) << 10) | ((flat / (x * y)) << 20)
}

/// Factors to try: powers of two, which leave waves in order where sizes are powers of two themselves; sums
/// of two; others.
fn candidates() -> impl Iterator<Item = u32> {
    let powers = || (2..32).map(|bit| 1u32 << bit);
    let sums =
        powers().flat_map(move |high| powers().take_while(move |&low| low < high).map(move |low| high | low));
    let others = std::iter::successors(Some(0x9e37_79b1u32), |last| {
        Some(last.wrapping_mul(1_664_525).wrapping_add(1_013_904_223))
    });
    powers()
        .chain(sums)
        .chain(others.take(8192).map(|number| number & !3))
        .filter(|&multiplier| multiplier != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: [Lanes; 2] = [Lanes::Wave32, Lanes::Wave64];

    fn check(size: [u32; 3], lanes: Lanes) -> Slots {
        let slots = Slots::find(size, lanes).unwrap_or_else(|| panic!("{size:?}"));
        let [x, y, z] = size;
        let waves = lanes.waves(x * y * z);
        let mut taken: Vec<u32> = (0..waves).map(|wave| slots.of_wave(size, wave)).collect();
        taken.sort_unstable();
        taken.dedup();
        assert!(taken.len() as u32 == waves && taken.iter().all(|&slot| slot < slots.count()), "{size:?}");
        assert!(slots.multiplier.is_multiple_of(4) && slots.shift < 32, "{size:?}: {slots:?}");
        slots
    }

    /// Every size that a workgroup can have.
    #[test]
    fn waves_of_every_workgroup_take_different_records() {
        let mut most = 0;
        for x in 1..=1024u32 {
            for y in 1..=1024 / x {
                for z in 1..=1024 / (x * y) {
                    for lanes in SIZES {
                        let waves = lanes.waves(x * y * z);
                        most = most.max(check([x, y, z], lanes).count() / waves.next_power_of_two());
                    }
                }
            }
        }
        assert!(most <= 4, "{most} times as many records as waves");
    }

    #[test]
    fn usual_workgroups_have_their_waves_in_order() {
        for size in [[64, 1, 1], [256, 1, 1], [1024, 1, 1], [16, 16, 1], [32, 32, 1], [8, 8, 8], [128, 4, 2]]
        {
            for lanes in SIZES {
                let waves = lanes.waves(size.iter().product());
                assert_eq!(check(size, lanes).count(), waves, "{size:?}");
            }
        }
        for size in [[256, 1, 1], [16, 16, 1], [8, 8, 16]] {
            let slots = check(size, Lanes::Wave64);
            assert!((0..4).all(|wave| slots.of_wave(size, wave) == wave), "{size:?}: {slots:?}");
        }
    }

    #[test]
    fn sizes_that_no_device_launches_have_none() {
        assert_eq!(Slots::find([0, 1, 1], Lanes::Wave64), None);
        assert_eq!(Slots::find([1025, 1, 1], Lanes::Wave32), None);
        assert_eq!(Slots::find([u32::MAX, u32::MAX, 2], Lanes::Wave64), None);
    }
}
