//! Which arithmetic a processor's matrix unit does.
//!
//! Integers and doubles need no choice: wrapping sums, and a chain of fused multiply-adds in ascending k. For
//! the other formats AMD documents neither the order of additions nor what is rounded in between. The models
//! here are those that Xie et al. derived on MI100, MI210 and MI300X and found equal, bit for bit, to what
//! these do ("MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores", arXiv 2511.10909):
//!
//! | processor | f32, f64 | f16 | bf16 | xf32 | fp8, bf8 |
//! |---|---|---|---|---|---|
//! | gfx908 | chain | exact sum of 4 products and C, one rounding | the same of 2 | | |
//! | gfx90a | chain | products flushed, added in pairs, pairs in pairs, to C | the same; without `_1k` one pair | | |
//! | gfx942 | chain | truncated sum of 8 | truncated sum of 8 | truncated sum of 4 | two truncated sums of 8 |
//!
//! They are *approximate* where nobody has published measurements: for gfx950, which is given gfx942's
//! arithmetic; for SMFMAC, whose selected products are summed as a dense instruction's would be; and for
//! `f8f6f4`, where products are exact, sums of 32 are formed in double precision, scaled exactly, and added
//! to C with one rounding at the end. A hardware result may then differ in the last bits.
//!
//! A NaN that a sum of products gives is the positive quiet NaN without payload; chains follow the rules of
//! [`crate::exec::float`].

use amdgpu_isa::{Arch, Element, MatrixProduct};

use super::shape;

/// How products are summed to a single.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numerics {
    /// Fused multiply-adds.
    Chain,
    /// Exact sums of so many products and the old value, each rounded to nearest even.
    Exact(usize),
    /// Subnormals are zero; so many products are added pairwise, then to the old value.
    Flushed(usize),
    /// Sums of so many products, aligned to the largest and truncated.
    Truncated(usize),
    /// Sums of so many products, aligned to the largest and truncated: products of even and of odd k apart,
    /// then these two sums.
    TwoTruncated(usize),
    /// Sums of 32 products in double precision, each with its scale.
    Blocks,
}

impl Numerics {
    /// The arithmetic of an instruction.
    pub(super) fn of(arch: Arch, shape: &MatrixProduct) -> Self {
        match (shape.a, arch) {
            (Element::Small, _) => Self::Blocks,
            (Element::Fp8 | Element::Bf8, _) => Self::TwoTruncated(16),
            (Element::Xf32, _) => Self::Truncated(4),
            (Element::F16, Arch::Gfx908) => Self::Exact(4),
            (Element::Bf16, Arch::Gfx908) => Self::Exact(2),
            (Element::F16, Arch::Gfx90a) => Self::Flushed(4),
            (Element::Bf16, Arch::Gfx90a) => Self::Flushed(shape::per_lane(shape)),
            (Element::F16 | Element::Bf16, _) => Self::Truncated(shape.depth.min(8)),
            _ => Self::Chain,
        }
    }
}

/// The NaN of a sum of products.
pub(super) const NAN: f32 = f32::from_bits(0x7fc0_0000);

/// Exponents between which products of two single-precision values, and sums of such products, neither
/// overflow nor lose bits to subnormals.
pub(super) const SAFE: std::ops::RangeInclusive<i32> = -48..=58;

/// Whether all values are zero or have exponents in [`SAFE`].
#[inline(always)]
pub(super) fn all_safe(values: &[f32]) -> bool {
    let mut safe = true;
    for value in values {
        let magnitude = value.to_bits() & 0x7fff_ffff;
        let low = ((SAFE.start() + 127) as u32) << 23;
        let high = ((SAFE.end() + 128) as u32) << 23;
        safe &= magnitude == 0 || (magnitude >= low) & (magnitude < high);
    }
    safe
}

/// 2^n, for exponents that a normal double has.
#[inline(always)]
pub(super) fn power(n: i32) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// Zero for a subnormal, with its sign.
#[inline(always)]
pub(super) fn flush(value: f32) -> f32 {
    let bits = value.to_bits();
    f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits })
}
