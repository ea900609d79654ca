//! Numbers, infinities and NaNs, in the dwords of registers.

use amdgpu_isa::{Element, NumberKind};

use crate::exec::half;
use crate::wave::Half;

/// Whether a value is a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// It is.
    #[default]
    Finite,
    /// An infinity.
    Infinite,
    Nan,
}

/// Bits of the exponent of a single, and of the upper dword of a double.
const SINGLE: u32 = 0x7f80_0000;
const DOUBLE: u32 = 0x7ff0_0000;
/// Those of a half, and of a `bf16`.
const HALF: u32 = 0x7c00;
const BF16: u32 = 0x7f80;

impl Class {
    /// That of an element, which begins in `low`; of halves, the worse one.
    pub(super) fn of(kind: NumberKind, low: u32, high: u32) -> Self {
        let by = |exponent: u32, all: u32, fraction: u32| match (all & exponent == exponent, fraction) {
            (false, _) => Self::Finite,
            (true, 0) => Self::Infinite,
            (true, _) => Self::Nan,
        };
        let half = |exponent: u32, half: u32| by(exponent, half, half & 0x7fff & !exponent);
        let halves = |exponent: u32| half(exponent, low & 0xffff).max(half(exponent, low >> 16));
        match kind {
            NumberKind::F32 => by(SINGLE, low, low & 0x007f_ffff),
            NumberKind::F64 => by(DOUBLE, high, high & 0x000f_ffff | low),
            NumberKind::F16 => halves(HALF),
            NumberKind::Bf16 => halves(BF16),
            _ => Self::Finite,
        }
    }
}

/// Whether a dword may be of a value that is no number; of a double, its upper dword may.
pub(super) const fn may_be(kind: NumberKind, dword: u32) -> bool {
    let low = dword & 0xffff;
    let high = dword >> 16;
    match kind {
        NumberKind::F32 => dword & SINGLE == SINGLE,
        NumberKind::F64 => dword & DOUBLE == DOUBLE,
        NumberKind::F16 => low & HALF == HALF || high & HALF == HALF,
        NumberKind::Bf16 => low & BF16 == BF16 || high & BF16 == BF16,
        _ => false,
    }
}

/// Whether numbers of a kind can be other than finite.
pub(super) const fn is_float(kind: NumberKind) -> bool {
    kind.is_float() || matches!(kind, NumberKind::Bf16)
}

/// The kind of number that an element of a matrix is. `None` of small floats, which are not looked at.
pub(super) const fn of_element(element: Element) -> Option<NumberKind> {
    Some(match element {
        Element::F64 => NumberKind::F64,
        Element::F32 | Element::Xf32 => NumberKind::F32,
        Element::F16 => NumberKind::F16,
        Element::Bf16 => NumberKind::Bf16,
        Element::I8 | Element::Iu8 | Element::Iu4 => NumberKind::Bits32,
        Element::Fp8 | Element::Bf8 | Element::Small => return None,
    })
}

/// An element as people read it; of halves, both, if the upper one is not zero.
pub(super) fn shown(kind: NumberKind, low: u32, high: u32) -> String {
    let halves = |value: fn(u16) -> f32| match (value(low as u16), value((low >> 16) as u16)) {
        (first, _) if low >> 16 == 0 => format!("{first:?}"),
        (first, second) => format!("({first:?}, {second:?})"),
    };
    match kind {
        NumberKind::F32 => format!("{:?}", f32::from_bits(low)),
        NumberKind::F64 => format!("{:?}", f64::from_bits(u64::from(high) << 32 | u64::from(low))),
        NumberKind::F16 => halves(|bits| half::value(Half(bits))),
        NumberKind::Bf16 => halves(half::bf16),
        _ => (low as i32).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host's own classification.
    fn host(value: f64) -> Class {
        match (value.is_nan(), value.is_infinite()) {
            (true, _) => Class::Nan,
            (_, true) => Class::Infinite,
            _ => Class::Finite,
        }
    }

    #[test]
    fn values_are_what_the_host_takes_them_for() {
        let mut dword = 1_u32;
        for _ in 0..100_000 {
            dword = dword.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
            let high = if dword & 3 == 0 { dword | 0x7ff0_0000 } else { dword.rotate_left(11) };
            let single = Class::of(NumberKind::F32, high, 0);
            assert_eq!(single, host(f32::from_bits(high).into()), "{high:#x}");
            let double = f64::from_bits(u64::from(high) << 32 | u64::from(dword & 1));
            assert_eq!(Class::of(NumberKind::F64, dword & 1, high), host(double), "{double}");
            let halves = [high as u16, (high >> 16) as u16].map(|bits| host(half::value(Half(bits)).into()));
            assert_eq!(Class::of(NumberKind::F16, high, 0), halves[0].max(halves[1]), "{high:#x}");
            for kind in [NumberKind::F32, NumberKind::F16, NumberKind::Bf16] {
                let is_finite = Class::of(kind, high, 0) == Class::Finite;
                assert_eq!(may_be(kind, high), !is_finite, "{kind:?} {high:#x}");
            }
        }
        assert_eq!(Class::of(NumberKind::F64, 0, 0x7ff0_0000), Class::Infinite);
        assert_eq!(Class::of(NumberKind::Bits32, u32::MAX, u32::MAX), Class::Finite);
    }

    #[test]
    fn operands_are_shown_as_what_they_are() {
        assert_eq!(shown(NumberKind::F32, 1.5_f32.to_bits(), 0), "1.5");
        assert_eq!(shown(NumberKind::F16, 0x7c00, 0), "inf");
        assert_eq!(shown(NumberKind::F16, 0x3c00_4000, 0), "(2.0, 1.0)");
        assert_eq!(shown(NumberKind::F64, 0, (0.25_f64.to_bits() >> 32) as u32), "0.25");
    }
}
