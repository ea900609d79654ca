//! Rounding to a format.
//!
//! Stochastic rounding adds the seed's highest bits, as many as the source's mantissa has more than the
//! result's, below the result's last place and truncates (CDNA3 ISA manual, `V_CVT_SR_FP8_F32`; AMD's host
//! version of the conversions in HIP's `amd_hip_ocp_host.hpp`). A result beyond the range becomes infinity
//! where there is one, else NaN, or the largest number if MODE.FP16_OVFL saturates or the format has neither
//! (CDNA4 ISA manual, section 7.3).

use super::{Format, Specials};

/// A number before it is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan {
        negative: bool,
    },
    Infinite {
        negative: bool,
    },
    Zero {
        negative: bool,
    },
    /// ±2^power · (1 + fraction / 2^width).
    Finite {
        negative: bool,
        power: i32,
        fraction: u32,
        width: u32,
    },
}

/// How a number that lies between two codes is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    NearestEven,
    /// By a random number.
    Stochastic(u32),
}

impl Number {
    /// Times 2^n.
    pub(crate) fn scaled(self, n: i32) -> Self {
        match self {
            Self::Finite { negative, power, fraction, width } => {
                Self::Finite { negative, power: power + n, fraction, width }
            }
            other => other,
        }
    }
}

impl Format {
    /// The code of a NaN. A format without one gives its largest number.
    fn nan(self, negative: bool) -> u32 {
        let sign = if negative { self.sign() } else { 0 };
        match self.specials {
            // The quiet bit alone, as the wider formats' default NaN has it.
            Specials::Ieee => sign | (self.max() + 1) | 1 << (self.mantissa_bits - 1),
            Specials::AllOnes | Specials::None => sign | (self.sign() - 1),
            Specials::NegativeZero => self.sign(),
        }
    }

    fn zero(self, negative: bool) -> u32 {
        if negative && self.specials != Specials::NegativeZero { self.sign() } else { 0 }
    }

    /// What a number beyond the largest becomes.
    fn overflow(self, negative: bool, saturate: bool) -> u32 {
        let sign = if negative { self.sign() } else { 0 };
        match self.specials {
            Specials::None => sign | self.max(),
            _ if saturate => sign | self.max(),
            Specials::Ieee => sign | (self.max() + 1),
            Specials::AllOnes | Specials::NegativeZero => self.nan(negative),
        }
    }

    /// The code of a number. Its mantissa must be at least as wide as the format's.
    pub(crate) fn encode(self, number: Number, rounding: Rounding, saturate: bool) -> u32 {
        let (negative, power, fraction, width) = match number {
            Number::Nan { negative } => return self.nan(negative),
            Number::Infinite { negative } => return self.overflow(negative, saturate),
            Number::Zero { negative } => return self.zero(negative),
            Number::Finite { negative, power, fraction, width } => (negative, power, fraction, width),
        };
        let least = 1 - self.bias;
        // Bits that fall off because the format is narrower, and because the result is subnormal.
        let narrow = width.saturating_sub(self.mantissa_bits);
        let down = (least - power).max(0) as u32;
        let significand = u64::from(1u32 << width | fraction) << self.mantissa_bits.saturating_sub(width);
        let kept = match rounding {
            Rounding::NearestEven => nearest_even(significand, narrow + down),
            Rounding::Stochastic(seed) => {
                let shifted = if down < 64 { significand >> down } else { 0 };
                let random = if narrow == 0 { 0 } else { u64::from(seed >> (32 - narrow)) };
                (shifted + random) >> narrow
            }
        };
        // The implied one, and a carry out of the mantissa, add to the exponent field.
        let field = u64::from((power - least).max(0) as u32);
        let magnitude = (field << self.mantissa_bits) + kept;
        if magnitude > u64::from(self.max()) {
            return self.overflow(negative, saturate);
        }
        if magnitude == 0 {
            return self.zero(negative);
        }
        magnitude as u32 | if negative { self.sign() } else { 0 }
    }
}

/// `value` without its last bits, rounded to nearest, ties to even.
fn nearest_even(value: u64, bits: u32) -> u64 {
    match bits {
        0 => value,
        1..=62 => {
            let kept = value >> bits;
            let lost = value & ((1 << bits) - 1);
            let half = 1 << (bits - 1);
            kept + u64::from(lost > half || lost == half && kept & 1 == 1)
        }
        _ => 0,
    }
}
