//! Formats by their definition: ±2^(exponent - bias) · (1 + mantissa / 2^width), computed, not shifted.

use amdgpu_isa::Arch;

/// What a format's codes mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    /// Two's complement.
    I8,
    F64,
    /// Exponent and mantissa bits, bias, and whether the largest exponents, or negative zero, are special.
    Float {
        exponent: u32,
        mantissa: u32,
        bias: i32,
        specials: Specials,
    },
    /// Single precision with a mantissa cut to 10 bits.
    Xf32,
}

/// Codes that are not numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Specials {
    Ieee,
    AllOnesIsNan,
    NegativeZeroIsNan,
    None,
}

const fn float(exponent: u32, mantissa: u32, bias: i32, specials: Specials) -> Format {
    Format::Float { exponent, mantissa, bias, specials }
}

pub(crate) const F32: Format = float(8, 23, 127, Specials::Ieee);
pub(crate) const F16: Format = float(5, 10, 15, Specials::Ieee);
pub(crate) const BF16: Format = float(8, 7, 127, Specials::Ieee);
pub(crate) const FP6: Format = float(2, 3, 1, Specials::None);
pub(crate) const BF6: Format = float(3, 2, 3, Specials::None);
pub(crate) const FP4: Format = float(2, 1, 1, Specials::None);

/// A format as mnemonics name it.
pub(crate) fn named(arch: Arch, name: &str) -> Format {
    let ocp = matches!(arch, Arch::Gfx950 | Arch::Gfx1201);
    match name {
        "i8" => Format::I8,
        "f64" => Format::F64,
        "f32" => F32,
        "xf32" => Format::Xf32,
        "f16" => F16,
        "bf16" => BF16,
        "fp8" if ocp => float(4, 3, 7, Specials::AllOnesIsNan),
        "fp8" => float(4, 3, 8, Specials::NegativeZeroIsNan),
        "bf8" if ocp => float(5, 2, 15, Specials::Ieee),
        "bf8" => float(5, 2, 16, Specials::NegativeZeroIsNan),
        "fp6" => FP6,
        "bf6" => BF6,
        "fp4" => FP4,
        other => panic!("format {other}"),
    }
}

/// A format as CBSZ and BLGP of `f8f6f4` name it.
pub(crate) fn by_code(code: u8) -> Format {
    let names = ["fp8", "bf8", "fp6", "bf6", "fp4"];
    named(Arch::Gfx950, names[usize::from(code)])
}

impl Format {
    /// Bits of a code.
    pub(crate) fn bits(self) -> usize {
        match self {
            Self::I8 => 8,
            Self::F64 => 64,
            Self::Xf32 => 32,
            Self::Float { exponent, mantissa, .. } => (1 + exponent + mantissa) as usize,
        }
    }

    /// The value of a code.
    pub(crate) fn value(self, code: u64) -> f64 {
        match self {
            Self::I8 => f64::from(code as u8 as i8),
            Self::F64 => f64::from_bits(code),
            Self::Xf32 => f64::from(f32::from_bits(code as u32 / 0x2000 * 0x2000)),
            Self::Float { exponent: width, mantissa: fraction, bias, specials } => {
                let sign = if code >> (width + fraction) & 1 == 1 { -1.0 } else { 1.0 };
                let exponent = code >> fraction & ((1 << width) - 1);
                let mantissa = code & ((1 << fraction) - 1);
                let largest = exponent == (1 << width) - 1;
                let unit = f64::from(1u32 << fraction);
                match specials {
                    Specials::Ieee if largest && mantissa == 0 => return sign * f64::INFINITY,
                    Specials::Ieee if largest => return f64::NAN,
                    Specials::AllOnesIsNan if largest && mantissa == (1 << fraction) - 1 => return f64::NAN,
                    Specials::NegativeZeroIsNan if sign < 0.0 && exponent == 0 && mantissa == 0 => {
                        return f64::NAN;
                    }
                    _ => {}
                }
                if exponent == 0 {
                    sign * mantissa as f64 / unit * f64::from(1 - bias).exp2()
                } else {
                    sign * (1.0 + mantissa as f64 / unit) * f64::from(exponent as i32 - bias).exp2()
                }
            }
        }
    }

    /// A code of the value, which the format must have.
    pub(crate) fn code(self, value: f64) -> u64 {
        match self {
            Self::F64 => value.to_bits(),
            Self::Xf32 | F32 => u64::from((value as f32).to_bits()),
            _ => (0..1u64 << self.bits())
                .find(|code| self.value(*code) == value)
                .unwrap_or_else(|| panic!("{self:?} has no {value}")),
        }
    }

    /// The smallest exponent of a number that is not subnormal.
    pub(crate) fn least_exponent(self) -> i32 {
        match self {
            Self::Float { bias, .. } => 1 - bias,
            _ => -126,
        }
    }
}
