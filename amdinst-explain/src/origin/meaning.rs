//! Values as people read them.

use amdgpu_isa::NumberKind;

/// A value of 32 bits as the number that it is.
pub(super) fn shown(kind: NumberKind, value: u32) -> String {
    match kind {
        NumberKind::F32 => format!("{:?}", f32::from_bits(value)),
        _ if value > 0xffff_0000 => format!("{} ({value:#x})", value as i32),
        // A copy does not say what it is of.
        _ if is_likely_single(value) => format!("{:?} ({value:#x})", f32::from_bits(value)),
        _ if value > 0xffff => format!("{value:#x}"),
        _ => value.to_string(),
    }
}

/// Whether bits are those of a single of a size that people compute with.
fn is_likely_single(value: u32) -> bool {
    const SMALLEST: f32 = 1e-9;
    const LARGEST: f32 = 1e9;
    (SMALLEST..LARGEST).contains(&f32::from_bits(value).abs())
}

/// Whether a dword is a NaN or an infinity, or the upper one of a double that is.
pub(super) fn is_special(kind: NumberKind, value: u32) -> bool {
    match kind {
        NumberKind::F32 | NumberKind::Bits32 => !f32::from_bits(value).is_finite(),
        NumberKind::F64 => value & 0x7ff0_0000 == 0x7ff0_0000,
        _ => false,
    }
}

/// Whether a dword is, or holds, a number that is not zero and smaller than normal ones.
pub(super) fn is_subnormal(kind: NumberKind, value: u32) -> bool {
    // Exponent and fraction of a half.
    let is_half = |half: u32| half & 0x7c00 == 0 && half & 0x03ff != 0;
    match kind {
        NumberKind::F32 => f32::from_bits(value).is_subnormal(),
        NumberKind::F16 => is_half(value) || is_half(value >> 16),
        NumberKind::Bf16 => {
            f32::from_bits(value << 16).is_subnormal() || f32::from_bits(value & 0xffff_0000).is_subnormal()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nans_and_infinities_are_special() {
        assert!(is_special(NumberKind::F32, f32::NAN.to_bits()));
        assert!(is_special(NumberKind::F64, (f64::INFINITY.to_bits() >> 32) as u32));
        assert!(!is_special(NumberKind::F64, (f64::MAX.to_bits() >> 32) as u32));
        assert!(!is_special(NumberKind::F32, 0));
    }

    #[test]
    fn small_numbers_are_subnormal() {
        assert!(is_subnormal(NumberKind::F32, 1));
        assert!(!is_subnormal(NumberKind::F32, 0x8000_0000));
        assert!(is_subnormal(NumberKind::F16, 0x8001_3c00));
        assert!(!is_subnormal(NumberKind::F16, 0x8000_0400));
        assert!(is_subnormal(NumberKind::Bf16, 0x0001_3f80));
        assert!(!is_subnormal(NumberKind::Bf16, 0x8000_3f80));
    }

    #[test]
    fn numbers_are_shown_as_what_they_are() {
        assert_eq!(shown(NumberKind::F32, 1.5f32.to_bits()), "1.5");
        assert_eq!(shown(NumberKind::Bits32, 40), "40");
        assert_eq!(shown(NumberKind::Bits32, 24.5f32.to_bits()), "24.5 (0x41c40000)");
        assert_eq!(shown(NumberKind::Bits32, u32::MAX), "-1 (0xffffffff)");
    }
}
