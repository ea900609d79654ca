//! What lanes of a wave tell each other, with all of them at work and with some.

use amdinst_device::wave::{
    LaneMask, active_lanes, all, any, ballot, read_first_lane, reduce, scan, scan_exclusive, shuffle,
    shuffle_down, shuffle_up, shuffle_xor,
};
use amdinst_device::{PerItem, Plain, global_id_x, kernel, lane_id};

/// Results of each work-item of [`exchange`].
pub const RESULTS: usize = 9;

/// A type whose values lanes of [`exchange`] give to each other.
pub trait Value: Plain + PartialOrd {
    /// Nothing, to add to.
    const NONE: Self;

    /// The sum.
    fn plus(self, other: Self) -> Self;
}

macro_rules! values {
    ($($ty:ty = $none:expr, |$a:ident, $b:ident| $sum:expr;)*) => {$(
        impl Value for $ty {
            const NONE: Self = $none;

            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
        }
    )*};
}

values! {
    u8 = 0, |a, b| a.wrapping_add(b);
    u32 = 0, |a, b| a.wrapping_add(b);
    i64 = 0, |a, b| a.wrapping_add(b);
    f32 = 0.0, |a, b| a + b;
    f64 = 0.0, |a, b| a + b;
    [u16; 3] = [0; 3], |a, b| core::array::from_fn(|i| a[i].wrapping_add(b[i]));
}

/// The greater one.
pub fn greater<T: PartialOrd>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// Each lane whose number's bits are not all in `asleep` gives the values that it gets of the others.
#[kernel(T = [u8, u32, i64, f32, f64, [u16; 3]])]
pub fn exchange<T: Value>(values: &[T], asleep: u32, mut output: PerItem<T, RESULTS>) {
    let i = global_id_x() as usize;
    if i >= values.len() || lane_id() & asleep != 0 {
        return;
    }
    let value = values[i];
    let results = [
        shuffle(value, (lane_id() / 2) & !asleep),
        shuffle_xor(value, 5),
        shuffle_up(value, 3),
        shuffle_down(value, 2),
        read_first_lane(value),
        reduce(value, T::plus),
        reduce(value, greater),
        scan(value, T::plus),
        scan_exclusive(value, T::NONE, T::plus),
    ];
    output.chunk().copy_from_slice(&results);
}

/// Votes of the lanes whose numbers have none of the bits of `asleep`: words of masks and answers.
#[kernel]
pub fn vote(values: &[u32], asleep: u32, mut output: PerItem<u32, 8>) {
    let value = values[global_id_x() as usize];
    if lane_id() & asleep != 0 {
        return;
    }
    let odd = ballot(value % 2 == 1);
    let mask = |mask: LaneMask| [mask.bits() as u32, (mask.bits() >> 32) as u32];
    let [low, high] = mask(odd);
    let [others, _] = mask(!odd & active_lanes());
    let words = [
        low,
        high,
        others,
        odd.count(),
        odd.below(lane_id()).count(),
        u32::from(any(value > 90)) * 2 + u32::from(all(value > 3)),
        odd.first().unwrap_or(99),
        odd.last().unwrap_or(99),
    ];
    output.chunk().copy_from_slice(&words);
}
