//! The types of elements, and numbers of them.

use std::fmt;
use std::num::{IntErrorKind, ParseIntError};

use half::{bf16, f16};
use serde::{Serialize, Serializer};

/// A type of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "Rust's own names, and `half`'s")]
pub enum Element {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    BF16,
    F32,
    F64,
}

impl Element {
    /// Every type.
    pub const ALL: [Self; 12] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::F64,
    ];
    /// Their names.
    pub const NAMES: &str = "u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64";

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// The type of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.name() == name)
    }

    /// Bytes of a number.
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Whether its numbers are floats.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }

    /// The number in the first bytes, little-endian. Bytes that are not there are zero.
    pub fn read(self, bytes: &[u8]) -> Scalar {
        let mut all = [0; 8];
        for (to, from) in all.iter_mut().zip(bytes).take(self.size()) {
            *to = *from;
        }
        let bits = u64::from_le_bytes(all);
        match self {
            Self::U8 => Scalar::U8(bits as u8),
            Self::I8 => Scalar::I8(bits as i8),
            Self::U16 => Scalar::U16(bits as u16),
            Self::I16 => Scalar::I16(bits as i16),
            Self::U32 => Scalar::U32(bits as u32),
            Self::I32 => Scalar::I32(bits as i32),
            Self::U64 => Scalar::U64(bits),
            Self::I64 => Scalar::I64(bits as i64),
            Self::F16 => Scalar::F16(f16::from_bits(bits as u16)),
            Self::BF16 => Scalar::BF16(bf16::from_bits(bits as u16)),
            Self::F32 => Scalar::F32(f32::from_bits(bits as u32)),
            Self::F64 => Scalar::F64(f64::from_bits(bits)),
        }
    }

    /// A whole number of it, if it fits. Of a float: the nearest.
    pub fn whole(self, number: i128) -> Option<Scalar> {
        Some(match self {
            Self::U8 => Scalar::U8(number.try_into().ok()?),
            Self::I8 => Scalar::I8(number.try_into().ok()?),
            Self::U16 => Scalar::U16(number.try_into().ok()?),
            Self::I16 => Scalar::I16(number.try_into().ok()?),
            Self::U32 => Scalar::U32(number.try_into().ok()?),
            Self::I32 => Scalar::I32(number.try_into().ok()?),
            Self::U64 => Scalar::U64(number.try_into().ok()?),
            Self::I64 => Scalar::I64(number.try_into().ok()?),
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => self.nearest(number as f64),
        })
    }

    /// The nearest float of it. A whole number is cut off.
    pub fn nearest(self, number: f64) -> Scalar {
        match self {
            Self::F16 => Scalar::F16(f16::from_f64(number)),
            Self::BF16 => Scalar::BF16(bf16::from_f64(number)),
            Self::F32 => Scalar::F32(number as f32),
            Self::F64 => Scalar::F64(number),
            Self::U8 => Scalar::U8(number as u8),
            Self::I8 => Scalar::I8(number as i8),
            Self::U16 => Scalar::U16(number as u16),
            Self::I16 => Scalar::I16(number as i16),
            Self::U32 => Scalar::U32(number as u32),
            Self::I32 => Scalar::I32(number as i32),
            Self::U64 => Scalar::U64(number as u64),
            Self::I64 => Scalar::I64(number as i64),
        }
    }

    /// The least and the greatest whole number of it; `None` of floats.
    pub const fn limits(self) -> Option<(i128, i128)> {
        let bits = 8 * self.size() as u32;
        match self {
            Self::U8 | Self::U16 | Self::U32 | Self::U64 => Some((0, (1 << bits) - 1)),
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
            Self::F16 | Self::BF16 | Self::F32 | Self::F64 => None,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A number with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "Rust's own names, and `half`'s")]
pub enum Scalar {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    U64(u64),
    I64(i64),
    F16(f16),
    BF16(bf16),
    F32(f32),
    F64(f64),
}

impl Scalar {
    /// Its type.
    pub const fn element(self) -> Element {
        match self {
            Self::U8(_) => Element::U8,
            Self::I8(_) => Element::I8,
            Self::U16(_) => Element::U16,
            Self::I16(_) => Element::I16,
            Self::U32(_) => Element::U32,
            Self::I32(_) => Element::I32,
            Self::U64(_) => Element::U64,
            Self::I64(_) => Element::I64,
            Self::F16(_) => Element::F16,
            Self::BF16(_) => Element::BF16,
            Self::F32(_) => Element::F32,
            Self::F64(_) => Element::F64,
        }
    }

    /// The little-endian bytes.
    pub fn bytes(self) -> Vec<u8> {
        match self {
            Self::U8(value) => value.to_le_bytes().to_vec(),
            Self::I8(value) => value.to_le_bytes().to_vec(),
            Self::U16(value) => value.to_le_bytes().to_vec(),
            Self::I16(value) => value.to_le_bytes().to_vec(),
            Self::U32(value) => value.to_le_bytes().to_vec(),
            Self::I32(value) => value.to_le_bytes().to_vec(),
            Self::U64(value) => value.to_le_bytes().to_vec(),
            Self::I64(value) => value.to_le_bytes().to_vec(),
            Self::F16(value) => value.to_le_bytes().to_vec(),
            Self::BF16(value) => value.to_le_bytes().to_vec(),
            Self::F32(value) => value.to_le_bytes().to_vec(),
            Self::F64(value) => value.to_le_bytes().to_vec(),
        }
    }

    /// Its value, if it is a whole number by type.
    pub const fn as_whole(self) -> Option<i128> {
        match self {
            Self::U8(value) => Some(value as i128),
            Self::I8(value) => Some(value as i128),
            Self::U16(value) => Some(value as i128),
            Self::I16(value) => Some(value as i128),
            Self::U32(value) => Some(value as i128),
            Self::I32(value) => Some(value as i128),
            Self::U64(value) => Some(value as i128),
            Self::I64(value) => Some(value as i128),
            Self::F16(_) | Self::BF16(_) | Self::F32(_) | Self::F64(_) => None,
        }
    }

    /// Its value as an `f64`: exact but for whole numbers of more than 53 bits.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::F16(value) => value.to_f64(),
            Self::BF16(value) => value.to_f64(),
            Self::F32(value) => value.into(),
            Self::F64(value) => value,
            other => other.as_whole().unwrap_or_default() as f64,
        }
    }

    /// Its place among the numbers of its type in ascending order: neighbors differ by 1, -0 and 0 by none.
    /// NaNs lie outside.
    pub fn order(self) -> i128 {
        let signed = |bits: u64, size: u32| {
            let magnitude = i128::from(bits & ((1 << (size - 1)) - 1));
            if bits >> (size - 1) & 1 == 0 { magnitude } else { -magnitude }
        };
        match self {
            Self::F16(value) => signed(value.to_bits().into(), 16),
            Self::BF16(value) => signed(value.to_bits().into(), 16),
            Self::F32(value) => signed(value.to_bits().into(), 32),
            Self::F64(value) => signed(value.to_bits(), 64),
            other => other.as_whole().unwrap_or_default(),
        }
    }

    /// Reads a number of a type; what is wrong with it otherwise.
    pub(super) fn parse(element: Element, text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("a number is missing".to_owned());
        }
        let does_not_fit = || format!("`{text}` does not fit in {element}");
        if !element.is_float() {
            let number = whole(text).map_err(|error| match error.kind() {
                IntErrorKind::PosOverflow => does_not_fit(),
                _ => format!("`{text}` is not a whole number"),
            })?;
            return element.whole(number).ok_or_else(does_not_fit);
        }
        let number: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        let scalar = match element {
            // Rounded once, not by way of an `f64`.
            Element::F32 => Self::F32(text.parse().map_err(|_| format!("`{text}` is not a number"))?),
            _ => element.nearest(number),
        };
        // Infinity must be asked for by its name.
        if scalar.to_f64().is_infinite() && text.contains(|c: char| c.is_ascii_digit()) {
            return Err(does_not_fit());
        }
        Ok(scalar)
    }
}

/// A whole number, decimal or `0x…`.
fn whole(text: &str) -> Result<i128, ParseIntError> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse::<u64>(),
    };
    value.map(|value| sign * i128::from(value))
}

impl fmt::Display for Scalar {
    /// Writes a number as `--arg` reads it and Rust writes it: floats have a point or an exponent, and as
    /// many digits as tell them apart.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::F16(value) => format!("{:?}", value.to_f32()),
            Self::BF16(value) => format!("{:?}", value.to_f32()),
            Self::F32(value) => format!("{value:?}"),
            Self::F64(value) => format!("{value:?}"),
            other => other.as_whole().unwrap_or_default().to_string(),
        };
        f.pad(&text)
    }
}

impl Serialize for Scalar {
    /// A number, or one of the strings `NaN`, `inf` and `-inf`, for which JSON has no number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            finite if finite.element().is_float() && !finite.to_f64().is_finite() => {
                serializer.collect_str(&finite)
            }
            Self::F16(value) => serializer.serialize_f32(value.to_f32()),
            Self::BF16(value) => serializer.serialize_f32(value.to_f32()),
            Self::F32(value) => serializer.serialize_f32(value),
            Self::F64(value) => serializer.serialize_f64(value),
            Self::U64(value) => serializer.serialize_u64(value),
            other => serializer.serialize_i64(other.as_whole().unwrap_or_default() as i64),
        }
    }
}
