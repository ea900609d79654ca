//! The wave that a work-item is a lane of: its size, votes, and values that lanes give to each other.
//!
//! Values are of any type of at most 8 bytes that a kernel may take ([`Plain`]): numbers, arrays of them,
//! structures with `#[derive(KernelArg)]`. All functions work in waves of 32 and of 64 lanes, and while some
//! lanes are inactive.
//!
//! On the host, [`Lanes`] does the same with a list of values, so that a test knows what a kernel has to
//! give:
//!
//! ```
//! use amdinst_device::wave::Lanes;
//!
//! let lanes = Lanes::from([3, 1, 2, 5]);
//! assert_eq!(lanes.shuffle_up(1), [3, 3, 1, 2]);
//! assert_eq!(lanes.shuffle_xor(1), [1, 3, 5, 2]);
//! assert_eq!(lanes.scan(|a, b| a + b), [3, 4, 6, 11]);
//! assert_eq!(lanes.reduce(u32::max), 5);
//! assert_eq!(lanes.ballot(|&value| value > 2).bits(), 0b1001);
//! ```

#[cfg(not(target_arch = "amdgpu"))]
mod lanes;
mod mask;

#[cfg(not(target_arch = "amdgpu"))]
pub use lanes::Lanes;
pub use mask::LaneMask;

#[cfg(not(target_arch = "amdgpu"))]
use crate::__private::device_only;
use crate::kernel_arg::Plain;

macro_rules! wave {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),*) -> $result:ty $body:block)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
        $vis fn $name($($arg: $ty),*) -> $result {
            #[cfg(target_arch = "amdgpu")]
            $body
            #[cfg(not(target_arch = "amdgpu"))]
            {
                $(let _ = $arg;)*
                device_only()
            }
        }
    )*};
}

wave! {
    /// The lane's index in its wave, from 0 to [`wave_size`] - 1.
    pub fn lane_id() -> u32 {
        core::arch::amdgpu::mbcnt_hi(u32::MAX, core::arch::amdgpu::mbcnt_lo(u32::MAX, 0))
    }

    /// Lanes of a wave: 64 on GFX9, 32 or 64 on GFX11, as `--wave-size` says.
    ///
    /// It is a constant when the kernel is compiled: the compiler drops the branch for the other size.
    pub fn wave_size() -> u32 {
        core::arch::amdgpu::wavefrontsize()
    }

    fn ballot_bits(condition: bool) -> u64 {
        core::arch::amdgpu::ballot(condition)
    }

    fn first_word(value: u32) -> u32 {
        core::arch::amdgpu::readfirstlane_u32(value)
    }

    fn word_of(value: u32, lane: u32) -> u32 {
        // The instruction wants a scalar; taking the first lane's keeps a divergent `lane` from being
        // undefined.
        let lane = core::arch::amdgpu::readfirstlane_u32(lane) & (wave_size() - 1);
        // SAFETY: the lane select is uniform and in range.
        unsafe { core::arch::amdgpu::readlane_u32(value, lane) }
    }

    fn shuffle_word(value: u32, lane: u32) -> u32 {
        unsafe extern "C" {
            // The link step defines it, for the processor and the size of waves.
            #[link_name = "__amdinst_shuffle"]
            safe fn exchange(value: u32, lane: u32) -> u32;
        }
        exchange(value, lane)
    }
}

/// Does what `word` does of a word with the one or two of a value.
#[inline(always)]
fn by_words<T: Plain>(value: T, word: impl Fn(u32) -> u32) -> T {
    const { assert!(size_of::<T>() <= 8, "lanes give each other values of at most 8 bytes") };
    let mut bytes = [0; 8];
    value.store(&mut bytes);
    let stored = u64::from_le_bytes(bytes);
    let low = word(stored as u32);
    let high = if size_of::<T>() > 4 { word((stored >> 32) as u32) } else { 0 };
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    // SAFETY: these are the bytes of a value of the type: another lane's, or zeros where there is none.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// Which active lanes `condition` holds in.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn ballot(condition: bool) -> LaneMask {
    LaneMask::from_bits(ballot_bits(condition))
}

/// Which lanes are active.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn active_lanes() -> LaneMask {
    ballot(true)
}

/// Whether `condition` holds in any active lane.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn any(condition: bool) -> bool {
    ballot_bits(condition) != 0
}

/// Whether `condition` holds in all active lanes.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn all(condition: bool) -> bool {
    ballot_bits(!condition) == 0
}

/// The value of the first active lane, in every lane.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn read_first_lane<T: Plain>(value: T) -> T {
    by_words(value, first_word)
}

/// The value of lane `lane`, which is the same in every active lane; undefined (but some value's) if that
/// lane is inactive. `lane` is taken modulo [`wave_size`].
///
/// An inactive lane's register may hold no value of the type, so that this is for those for which any bytes
/// are one.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn read_lane(value: u32, lane: u32) -> u32 {
    word_of(value, lane)
}

/// The value of the lane that each lane asks for, which has to be active. `lane` is taken modulo
/// [`wave_size`].
///
/// Of an inactive lane, the value is the one whose bytes are all zero.
///
/// It is one instruction a word (`ds_bpermute_b32`) where that reaches every lane: on GFX9, and in waves of
/// 32 lanes. On GFX11 that reaches the lanes of its own half of 64. There it takes two and
/// `v_permlane64_b32`; or, while some lanes are inactive, a loop with a round for each lane that is asked
/// for. On GFX10, in waves of 64 lanes, it is always that loop.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn shuffle<T: Plain>(value: T, lane: u32) -> T {
    by_words(value, |word| shuffle_word(word, lane))
}

/// The value of the lane whose number differs by the bits of `mask`; the lane's own, if that one is inactive.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn shuffle_xor<T: Plain>(value: T, mask: u32) -> T {
    shuffle_or_own(value, lane_id() ^ mask)
}

/// The value of the lane `by` places before; the lane's own, if there is none or it is inactive.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn shuffle_up<T: Plain>(value: T, by: u32) -> T {
    shuffle_or_own(value, lane_id().wrapping_sub(by))
}

/// The value of the lane `by` places behind; the lane's own, if there is none or it is inactive.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn shuffle_down<T: Plain>(value: T, by: u32) -> T {
    shuffle_or_own(value, lane_id().saturating_add(by))
}

#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
fn shuffle_or_own<T: Plain>(value: T, lane: u32) -> T {
    let active = active_lanes();
    let other = shuffle(value, lane);
    if active.contains(lane) { other } else { value }
}

/// What `operation` makes of the values of all active lanes, in every one of them: of the sum,
/// `reduce(value, |a, b| a + b)`.
///
/// With all lanes active, it takes as many steps as the size of waves has bits: adjacent lanes, then pairs,
/// fours, and so on. Otherwise one after the other, from the first lane on. So a sum of floats may be rounded
/// in another way.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn reduce<T: Plain>(value: T, operation: impl Fn(T, T) -> T) -> T {
    let active = active_lanes();
    if !active.is_full() {
        return one_by_one(active, value, |_, sum| sum, operation);
    }
    let (lane, mut result, mut step) = (lane_id(), value, 1);
    while step < wave_size() {
        let other = shuffle(result, lane ^ step);
        // All lanes have the values in the same order.
        let (first, second) = if lane & step == 0 { (result, other) } else { (other, result) };
        result = operation(first, second);
        step *= 2;
    }
    result
}

/// What `operation` makes of the values of the active lanes up to this one, its own at the end.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn scan<T: Plain>(value: T, operation: impl Fn(T, T) -> T) -> T {
    let (active, own) = (active_lanes(), lane_id());
    if !active.is_full() {
        let mut result = value;
        one_by_one(
            active,
            value,
            |lane, sum| {
                if lane == own {
                    result = sum;
                }
                sum
            },
            operation,
        );
        return result;
    }
    let (mut result, mut step) = (value, 1);
    while step < wave_size() {
        let other = shuffle(result, own.wrapping_sub(step));
        if own >= step {
            result = operation(other, result);
        }
        step *= 2;
    }
    result
}

/// What `operation` makes of the values of the active lanes before this one; `nothing` in the first.
#[inline(always)]
#[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
pub fn scan_exclusive<T: Plain>(value: T, nothing: T, operation: impl Fn(T, T) -> T) -> T {
    let own = lane_id();
    let before = active_lanes().below(own);
    let inclusive = scan(value, operation);
    let other = shuffle(inclusive, before.last().unwrap_or(own));
    if before.is_empty() { nothing } else { other }
}

/// Goes through the active lanes in order; `each` sees what has come out so far. All lanes get what comes
/// out.
#[inline(always)]
fn one_by_one<T: Plain>(
    active: LaneMask,
    value: T,
    mut each: impl FnMut(u32, T) -> T,
    operation: impl Fn(T, T) -> T,
) -> T {
    let mut left = active.bits();
    let first = left.trailing_zeros();
    let mut result = each(first, by_words(value, |word| word_of(word, first)));
    left &= left.wrapping_sub(1);
    while left != 0 {
        let lane = left.trailing_zeros();
        result = each(lane, operation(result, by_words(value, |word| word_of(word, lane))));
        left &= left - 1;
    }
    result
}
