//! The numbers that constant operands stand for.

use super::Value;
use crate::signature::Ty;

impl Value {
    /// The constant as 32 bits: inline integers, inline floats as f32, literals and immediates. `None` for
    /// registers and special sources.
    pub const fn as_u32(self) -> Option<u32> {
        match self {
            Self::Inline(code) => match (inline_integer(code), inline_float(code)) {
                (Some(value), _) => Some(value as u32),
                (None, Some(value)) => Some((value as f32).to_bits()),
                (None, None) => None,
            },
            Self::Literal(value) => Some(value),
            Self::Imm(value) => Some(value as u32),
            _ => None,
        }
    }

    /// The constant as a 64-bit integer operand has it: inline integers sign-extended, inline floats as f64,
    /// literals zero-extended.
    pub const fn as_u64(self) -> Option<u64> {
        match self {
            Self::Inline(code) => match (inline_integer(code), inline_float(code)) {
                (Some(value), _) => Some(value as i64 as u64),
                (None, Some(value)) => Some(value.to_bits()),
                (None, None) => None,
            },
            Self::Literal(value) => Some(value as u64),
            Self::Imm(value) => Some(value as i64 as u64),
            _ => None,
        }
    }

    /// The constant as the bits of a 64-bit float operand: as [`Self::as_u64`], but a literal is the high
    /// half.
    pub const fn as_f64_bits(self) -> Option<u64> {
        match self {
            Self::Literal(value) => Some((value as u64) << 32),
            _ => self.as_u64(),
        }
    }

    /// The constant as 16 bits: inline floats as f16, the others truncated.
    pub const fn as_u16(self) -> Option<u16> {
        match self {
            Self::Inline(code) => match inline_integer(code) {
                Some(value) => Some(value as u16),
                None => inline_f16(code),
            },
            _ => match self.as_u32() {
                Some(value) => Some(value as u16),
                None => None,
            },
        }
    }
}

/// The integer of an inline constant's code.
pub(super) const fn inline_integer(code: u8) -> Option<i32> {
    match code {
        128..=192 => Some(code as i32 - 128),
        193..=208 => Some(192 - code as i32),
        _ => None,
    }
}

/// The float of an inline constant's code. 1/(2π) is the double nearest to it.
pub(super) const fn inline_float(code: u8) -> Option<f64> {
    Some(match code {
        240 => 0.5,
        241 => -0.5,
        242 => 1.0,
        243 => -1.0,
        244 => 2.0,
        245 => -2.0,
        246 => 4.0,
        247 => -4.0,
        248 => 0.159_154_943_091_895_32,
        _ => return None,
    })
}

/// The half-precision bits of an inline float's code (Vega ISA, table "SDWA/VOP source operands").
pub(super) const fn inline_f16(code: u8) -> Option<u16> {
    Some(match code {
        240 => 0x3800,
        241 => 0xb800,
        242 => 0x3c00,
        243 => 0xbc00,
        244 => 0x4000,
        245 => 0xc000,
        246 => 0x4400,
        247 => 0xc400,
        248 => 0x3118,
        _ => return None,
    })
}

/// Whether a literal's number also exists as an inline constant of the type (doubles apart, of which a
/// literal is only the high half). LLVM tells the two by writing `lit(…)`.
pub(super) fn has_inline_twin(value: u32, ty: Ty) -> bool {
    let integer = |value: i64| (-16..=64).contains(&value);
    let is_float = |bits: u32, of: fn(u8) -> Option<u32>| (240..=248).any(|code| of(code) == Some(bits));
    let half = |code| inline_f16(code).map(u32::from);
    let single = |code| inline_float(code).map(|value| (value as f32).to_bits());
    // The upper half of a single is a bfloat16.
    let brain = |code| inline_float(code).map(|value| (value as f32).to_bits() >> 16);
    let low = value & 0xffff;
    match ty {
        Ty::F64 => false,
        Ty::I64 => integer(value.into()),
        Ty::F16 | Ty::Exponent16 => integer((low as i16).into()) || is_float(low, half),
        Ty::BF16 => integer((low as i16).into()) || is_float(low, brain),
        Ty::V2F16 => integer((value as i32).into()) || is_float(value, half),
        Ty::V2F16Splat => {
            low == value >> 16 && has_inline_twin(low, Ty::F16) || integer((value as i32).into())
        }
        Ty::V2BF16 => integer((value as i32).into()) || is_float(value, brain),
        _ => integer((value as i32).into()) || is_float(value, single),
    }
}

/// The inline constant whose double has this high half, and zeros behind it.
pub(super) fn double_twin(value: u32) -> Option<f64> {
    let codes = 240..=248;
    let wide = u64::from(value) << 32;
    let code = codes.into_iter().find(|&code| Value::Inline(code).as_u64() == Some(wide));
    if value == 0 { Some(0.0) } else { code.and_then(inline_float) }
}
