//! Buffer formats: how components lie in memory, and what they are in registers (Vega ISA manual, MTBUF's
//! DFMT and NFMT fields; names of data formats list components from the high bits down).
//!
//! The manuals do not give the conversions' rounding. Here it is to the nearest, ties to even, and what does
//! not fit is clamped; loads of normalised numbers are the correctly rounded quotients.

use crate::exec::half;
use crate::wave::Half;

/// Number formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    /// An unsigned integer, a float in registers.
    Uscaled,
    /// A signed integer, a float in registers.
    Sscaled,
    Uint,
    Sint,
    Float,
}

/// A data format with a number format.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Bits of each component, x first, which lies lowest.
    widths: &'static [u8],
    number: Number,
}

impl Format {
    /// The format of MTBUF's two fields: data format in bits 0-3, number format in bits 4-6. `None` for those
    /// that do not exist.
    pub(super) fn new(bits: u8) -> Option<Self> {
        let number = match bits >> 4 & 7 {
            0 => Number::Unorm,
            1 => Number::Snorm,
            2 => Number::Uscaled,
            3 => Number::Sscaled,
            4 => Number::Uint,
            5 => Number::Sint,
            7 => Number::Float,
            _ => return None,
        };
        let widths: &[u8] = match bits & 15 {
            1 => &[8],
            2 => &[16],
            3 => &[8, 8],
            4 => &[32],
            5 => &[16, 16],
            // 10_11_11, 11_11_10, 10_10_10_2, 2_10_10_10.
            6 => &[11, 11, 10],
            7 => &[10, 11, 11],
            8 => &[2, 10, 10, 10],
            9 => &[10, 10, 10, 2],
            10 => &[8, 8, 8, 8],
            11 => &[32, 32],
            12 => &[16, 16, 16, 16],
            13 => &[32, 32, 32],
            14 => &[32, 32, 32, 32],
            _ => return None,
        };
        let no_float = widths.contains(&8) || widths.contains(&2);
        (number != Number::Float || !no_float).then_some(Self { widths, number })
    }

    /// Bytes of an element: 1, 2, 4, 8, 12 or 16.
    pub(super) fn bytes(&self) -> u8 {
        (self.widths.iter().map(|bits| u32::from(*bits)).sum::<u32>() / 8) as u8
    }

    pub(super) fn components(&self) -> usize {
        self.widths.len()
    }

    /// The value that DST_SEL's "1" selects.
    pub(super) fn one(&self) -> u32 {
        if self.is_integer() { 1 } else { 1f32.to_bits() }
    }

    fn is_integer(&self) -> bool {
        matches!(self.number, Number::Uint | Number::Sint)
    }

    /// First bit and width of a component.
    fn field(&self, component: usize) -> (u32, u32) {
        let first = self.widths[..component].iter().map(|bits| u32::from(*bits)).sum();
        (first, u32::from(self.widths[component]))
    }

    /// A component of an element, as a register has it.
    pub(super) fn component(&self, element: u128, component: usize) -> u32 {
        let (first, width) = self.field(component);
        let raw = (element >> first) as u32 & low_bits(width);
        let signed = ((raw << (32 - width)) as i32) >> (32 - width);
        if width == 32 {
            // "Data in memory that is 32 or 64 bits do not undergo any format conversion."
            return raw;
        }
        match self.number {
            Number::Unorm => (raw as f32 / low_bits(width) as f32).to_bits(),
            Number::Snorm => (signed as f32 / low_bits(width - 1) as f32).max(-1.0).to_bits(),
            Number::Uscaled => (raw as f32).to_bits(),
            Number::Sscaled => (signed as f32).to_bits(),
            Number::Uint => raw,
            Number::Sint => signed as u32,
            Number::Float if width == 16 => half::value(Half(raw as u16)).to_bits(),
            Number::Float => small_float_to_f32(raw, width - 5),
        }
    }

    /// An element with one component replaced by the value of a register.
    pub(super) fn with_component(&self, element: u128, component: usize, value: u32) -> u128 {
        let (first, width) = self.field(component);
        let raw = u128::from(self.raw(value, width)) << first;
        let mask = u128::from(low_bits(width)) << first;
        element & !mask | raw & mask
    }

    fn raw(&self, value: u32, width: u32) -> u32 {
        let float = f64::from(f32::from_bits(value));
        let (unsigned, positive) = (low_bits(width), low_bits(width - 1));
        // `as` turns NaN into zero and clamps.
        let rounded = |scale: f64| (float * scale).round_ties_even();
        let clamped = |value: f64, low: f64, high: f64| value.clamp(low, high) as i64 as u32;
        let (low, high) = (-f64::from(positive) - 1.0, f64::from(positive));
        match self.number {
            _ if width == 32 => value,
            Number::Unorm => clamped(rounded(f64::from(unsigned)), 0.0, f64::from(unsigned)),
            Number::Snorm => clamped(rounded(high), -high, high),
            Number::Uscaled => clamped(rounded(1.0), 0.0, f64::from(unsigned)),
            Number::Sscaled => clamped(rounded(1.0), low, high),
            Number::Uint => value.min(unsigned),
            Number::Sint => (value as i32).clamp(-(positive as i32) - 1, positive as i32) as u32,
            Number::Float if width == 16 => u32::from(half::from_f64(float, 0).0),
            Number::Float => f32_to_small_float(f32::from_bits(value), width - 5),
        }
    }

    /// A component of 32 bits as one of 16.
    pub(super) fn narrow(&self, value: u32) -> u16 {
        if self.is_integer() { value as u16 } else { half::from_f64(f64::from(f32::from_bits(value)), 0).0 }
    }

    /// A component of 16 bits as one of 32.
    pub(super) fn widen(&self, value: u16) -> u32 {
        match self.number {
            Number::Uint => u32::from(value),
            Number::Sint => value as i16 as u32,
            _ => half::value(Half(value)).to_bits(),
        }
    }
}

fn low_bits(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

/// An unsigned float of 5 exponent bits (bias 15) and `fraction` fraction bits: a half without sign and with
/// less precision.
fn small_float_to_f32(raw: u32, fraction: u32) -> u32 {
    half::value(Half((raw << (10 - fraction)) as u16)).to_bits()
}

/// To the nearest, ties to even; negative numbers become zero, too large ones infinity.
fn f32_to_small_float(value: f32, fraction: u32) -> u32 {
    let infinity = 31 << fraction;
    if value.is_nan() {
        return infinity | 1 << (fraction - 1);
    }
    if value <= 0.0 {
        return 0;
    }
    if value.is_infinite() {
        return infinity;
    }
    // Scaled so that one unit of the last place is 1: exact, since only the exponent changes.
    let exponent = ((value.to_bits() >> 23) as i32 - 127).max(-14);
    let scaled = f64::from(value) * 2f64.powi(fraction as i32 - exponent);
    // A carry runs from the fraction into the exponent as it should; subnormals have exponent 0.
    let magnitude = scaled.round_ties_even() as u32 + (((exponent + 14) as u32) << fraction);
    magnitude.min(infinity)
}
