//! Float formats of 4 to 16 bits: what their codes mean, and how numbers are rounded to them.
//!
//! gfx942's 8-bit formats have no negative zero, its code is their NaN ("FNUZ"); those of gfx950 and RDNA 4
//! are the Open Compute Project's (CDNA3 ISA manual, table 30; CDNA4 ISA manual, table 30; RDNA4 ISA, section
//! 7.6.2).

mod encode;

pub(crate) use encode::{Number, Rounding};

use std::sync::LazyLock;

use amdgpu_isa::{Arch, Feature};

use super::half;

/// Which codes are not finite numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Specials {
    /// The largest exponent means infinity or NaN.
    Ieee,
    /// The code of all ones is NaN, whatever the sign (OCP E4M3).
    AllOnes,
    /// The code of negative zero is NaN (FNUZ).
    NegativeZero,
    /// Every code is a number (FP4, FP6, BF6).
    None,
}

/// A binary float format: sign, exponent, mantissa.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) exponent_bits: u32,
    pub(crate) mantissa_bits: u32,
    pub(crate) bias: i32,
    pub(crate) specials: Specials,
}

const fn format(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> Format {
    Format { exponent_bits, mantissa_bits, bias, specials }
}

pub(crate) const F32: Format = format(8, 23, 127, Specials::Ieee);
pub(crate) const F16: Format = format(5, 10, 15, Specials::Ieee);
pub(crate) const BF16: Format = format(8, 7, 127, Specials::Ieee);
pub(crate) const FP8_OCP: Format = format(4, 3, 7, Specials::AllOnes);
pub(crate) const BF8_OCP: Format = format(5, 2, 15, Specials::Ieee);
pub(crate) const FP8_FNUZ: Format = format(4, 3, 8, Specials::NegativeZero);
pub(crate) const BF8_FNUZ: Format = format(5, 2, 16, Specials::NegativeZero);
/// E2M3.
pub(crate) const FP6: Format = format(2, 3, 1, Specials::None);
/// E3M2.
pub(crate) const BF6: Format = format(3, 2, 3, Specials::None);
/// E2M1.
pub(crate) const FP4: Format = format(2, 1, 1, Specials::None);

/// FP8 of a processor.
pub(crate) fn fp8(arch: Arch) -> Format {
    if arch.has(Feature::OcpFloats) { FP8_OCP } else { FP8_FNUZ }
}

/// BF8 of a processor.
pub(crate) fn bf8(arch: Arch) -> Format {
    if arch.has(Feature::OcpFloats) { BF8_OCP } else { BF8_FNUZ }
}

/// The bits of an inline constant in a format (Vega ISA manual, "Scalar operands").
pub(crate) fn inline_constant(code: u8, format: Format) -> u32 {
    const SINGLES: [f32; 9] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, std::f32::consts::FRAC_1_PI / 2.0];
    match code {
        128..=192 => u32::from(code) - 128,
        193..=208 => (192 - i32::from(code)) as u32,
        240..=248 => {
            let value = SINGLES[usize::from(code - 240)];
            match format {
                F16 => u32::from(half::from_f32(value, 0).0),
                BF16 => value.to_bits() >> 16,
                _ => value.to_bits(),
            }
        }
        _ => 0,
    }
}

impl Format {
    /// Bits of a code.
    pub(crate) const fn bits(self) -> u32 {
        1 + self.exponent_bits + self.mantissa_bits
    }

    /// The bit of the sign.
    pub(crate) const fn sign(self) -> u32 {
        1 << (self.bits() - 1)
    }

    /// The code of the largest finite number.
    pub(crate) const fn max(self) -> u32 {
        let all = self.sign() - 1;
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa_bits),
            Specials::AllOnes => all - 1,
            Specials::NegativeZero | Specials::None => all,
        }
    }

    /// What a code is.
    pub(crate) const fn number(self, code: u32) -> Number {
        let negative = code & self.sign() != 0;
        let magnitude = code & (self.sign() - 1);
        let exponent = magnitude >> self.mantissa_bits;
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let all_exponent = (1 << self.exponent_bits) - 1;
        match self.specials {
            Specials::Ieee if exponent == all_exponent && mantissa == 0 => {
                return Number::Infinite { negative };
            }
            Specials::Ieee if exponent == all_exponent => return Number::Nan { negative },
            Specials::AllOnes if magnitude == self.sign() - 1 => return Number::Nan { negative },
            Specials::NegativeZero if magnitude == 0 && negative => return Number::Nan { negative: false },
            _ => {}
        }
        if magnitude == 0 {
            return Number::Zero { negative };
        }
        let mut power = exponent as i32 - self.bias;
        let mut fraction = mantissa;
        if exponent == 0 {
            // Subnormal: bring the leading one to where the implied one of the others is.
            let up = mantissa.leading_zeros() as i32 - (31 - self.mantissa_bits as i32);
            power = 1 - self.bias - up;
            fraction = mantissa << up & ((1 << self.mantissa_bits) - 1);
        }
        Number::Finite { negative, power, fraction, width: self.mantissa_bits }
    }

    /// The value of a code of at most 8 bits, exact. NaN is the positive quiet NaN.
    pub(crate) const fn value(self, code: u32) -> f32 {
        let (negative, magnitude) = match self.number(code) {
            Number::Nan { .. } => (false, 0x7fc0_0000),
            Number::Infinite { negative } => (negative, 0x7f80_0000),
            Number::Zero { negative } => (negative, 0),
            Number::Finite { negative, power, fraction, width } => {
                (negative, ((power + 127) as u32) << 23 | fraction << (23 - width))
            }
        };
        f32::from_bits((negative as u32) << 31 | magnitude)
    }

    /// The codes that a wider format has for the numbers of one of at most 8 bits, which it all has; `None`
    /// if this is another pair.
    pub(crate) fn codes_in(self, wide: Self) -> Option<&'static [u32; 256]> {
        const NARROW: [Format; 7] = [FP8_OCP, BF8_OCP, FP8_FNUZ, BF8_FNUZ, FP6, BF6, FP4];
        const WIDE: [Format; 3] = [F32, F16, BF16];
        static TABLES: LazyLock<[[[u32; 256]; WIDE.len()]; NARROW.len()]> = LazyLock::new(|| {
            NARROW.map(|narrow| {
                let code = |code: usize, wide: Format| {
                    let number = narrow.number(code as u32 & ((1 << narrow.bits()) - 1));
                    wide.encode(number, Rounding::NearestEven, false)
                };
                WIDE.map(|wide| std::array::from_fn(|at| code(at, wide)))
            })
        });
        let find = |formats: &[Format], one| formats.iter().position(|format| *format == one);
        Some(&TABLES[find(&NARROW, self)?][find(&WIDE, wide)?])
    }

    const fn table(self) -> [f32; 256] {
        let mut table = [0.0; 256];
        let mut code = 0;
        while code < 256 {
            table[code] = self.value(code as u32 & ((1 << self.bits()) - 1));
            code += 1;
        }
        table
    }

    /// The values of all codes of a format of at most 8 bits; higher bits of the index mean nothing.
    pub(crate) fn values(self) -> &'static [f32; 256] {
        static TABLES: [(Format, [f32; 256]); 7] = [
            (FP8_OCP, FP8_OCP.table()),
            (BF8_OCP, BF8_OCP.table()),
            (FP8_FNUZ, FP8_FNUZ.table()),
            (BF8_FNUZ, BF8_FNUZ.table()),
            (FP6, FP6.table()),
            (BF6, BF6.table()),
            (FP4, FP4.table()),
        ];
        let found = TABLES.iter().find(|(format, _)| *format == self);
        &found.unwrap_or(&TABLES[0]).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest, smallest normal and smallest subnormal values that the manuals' tables 30 list.
    #[test]
    fn ranges_are_the_manuals() {
        let power = |n: i32| f64::from(n).exp2() as f32;
        for (format, max, normal, subnormal) in [
            (FP8_OCP, 448.0, power(-6), power(-9)),
            (BF8_OCP, 57344.0, power(-14), power(-16)),
            (FP8_FNUZ, 240.0, power(-7), power(-10)),
            (BF8_FNUZ, 57344.0, power(-15), power(-17)),
            (FP6, 7.5, 1.0, 0.125),
            (BF6, 28.0, 0.25, 0.0625),
            (FP4, 6.0, 1.0, 0.5),
        ] {
            assert_eq!(format.value(format.max()), max, "{format:?}");
            assert_eq!(format.value(1 << format.mantissa_bits), normal, "{format:?}");
            assert_eq!(format.value(1), subnormal, "{format:?}");
            assert_eq!(format.value(format.sign() | 1), -subnormal, "{format:?}");
            assert_eq!(format.values()[1], subnormal, "{format:?}");
        }
        assert!(FP8_OCP.value(0x7f).is_nan() && FP8_OCP.value(0xff).is_nan());
        assert!(FP8_FNUZ.value(0x80).is_nan() && BF8_FNUZ.value(0x80).is_nan());
        assert_eq!(BF8_OCP.value(0xfc), f32::NEG_INFINITY);
    }
}
