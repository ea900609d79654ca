//! Generic kernels, and kernels of one name.

use core::ops::{Add, Mul};

use amdinst_device::{PerItem, Strided, global_id_x, kernel, probe};

/// Multiplies each value, `N` by each work-item.
#[kernel(T = [f32, f64, u32], N = [2, 4])]
pub fn scale<T: Copy + Mul<Output = T>, const N: usize>(by: T, mut values: PerItem<T, N>) {
    for value in values.chunk() {
        *value = *value * by;
    }
}

/// Adds `other`, backwards if that is asked for.
///
/// # Safety
/// `other` is to as many elements as `values`.
#[kernel(T = [u8, i64], BACKWARDS = [true, false])]
pub unsafe fn add<T, const BACKWARDS: bool>(other: *const T, mut values: Strided<T>)
where
    T: Copy + Add<Output = T>,
{
    let len = values.len();
    for (i, value) in values.iter_mut() {
        // SAFETY: as the caller vouches.
        *value = *value + unsafe { *other.add(if BACKWARDS { len - 1 - i } else { i }) };
    }
}

/// Gives 1, and the index of those in the upper half.
pub mod left {
    use super::*;

    /// Of [`super::right::tell`]'s name.
    #[kernel]
    pub fn tell(mut output: PerItem<u32>) {
        if let Some(output) = output.get() {
            *output = 1;
            #[probe("upper")]
            if global_id_x() > 31 {
                *output = global_id_x();
            }
        }
    }
}

/// Gives 2.
pub mod right {
    use super::*;

    /// Of [`super::left::tell`]'s name, and of other parameters.
    #[kernel]
    pub fn tell(two: u64, mut output: PerItem<u64>) {
        if let Some(output) = output.get() {
            *output = two;
        }
    }
}
