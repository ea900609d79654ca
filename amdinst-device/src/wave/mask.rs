//! Lanes of a wave, as a set.

use core::fmt;
use core::ops::{BitAnd, BitOr, BitXor, Not};

/// A set of lanes: the answer of a ballot. It has a bit for each lane of the wave; in waves of 32, no more
/// can be set.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct LaneMask(u64);

impl LaneMask {
    /// No lane.
    pub const EMPTY: Self = Self(0);

    /// The lanes whose bits are set.
    #[inline(always)]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// A bit a lane. With 32 lanes, the upper half is zero.
    #[inline(always)]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// How many lanes it has.
    #[inline(always)]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether it has none.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether it has all lanes of the wave.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn is_full(self) -> bool {
        self == Self::full()
    }

    /// All lanes of the wave.
    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    pub fn full() -> Self {
        Self(u64::MAX >> (64 - super::wave_size()))
    }

    /// Whether it has that lane.
    #[inline(always)]
    pub const fn contains(self, lane: u32) -> bool {
        lane < 64 && self.0 >> lane & 1 != 0
    }

    /// Its first lane.
    #[inline(always)]
    pub const fn first(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(self.0.trailing_zeros()) }
    }

    /// Its last lane.
    #[inline(always)]
    pub const fn last(self) -> Option<u32> {
        if self.0 == 0 { None } else { Some(63 - self.0.leading_zeros()) }
    }

    /// Its lanes before `lane`. Their count is the place of an active lane among those that have something to
    /// write.
    #[inline(always)]
    pub const fn below(self, lane: u32) -> Self {
        if lane >= 64 { self } else { Self(self.0 & ((1 << lane) - 1)) }
    }
}

impl BitAnd for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for LaneMask {
    type Output = Self;

    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

/// The other lanes of the wave.
impl Not for LaneMask {
    type Output = Self;

    #[inline(always)]
    #[cfg_attr(not(target_arch = "amdgpu"), track_caller)]
    fn not(self) -> Self {
        Self(!self.0) & Self::full()
    }
}

impl fmt::Debug for LaneMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LaneMask({:#x})", self.0)
    }
}
