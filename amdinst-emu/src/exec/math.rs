//! Reciprocals, roots and transcendentals.
//!
//! The hardware's are approximations (1 ULP for the single-precision ones). Here single and half precision
//! are computed in double precision and rounded once: at most 0.5001 ULP from the exact result.
//! Double-precision reciprocal and square root are correctly rounded; the reciprocal square root has two
//! roundings. Single-precision reciprocal, roots, exp and log take subnormal operands for zero and give zero
//! for subnormal results, as the hardware's do; compilers scale around that.

use super::float::{double, single};
use super::half;
use crate::wave::Half;

/// A single-precision function without subnormals.
#[inline(always)]
fn flushed(a: f32, result: f64) -> f32 {
    single::flush(single::fix1(a, result as f32))
}

/// The operand of such a function.
#[inline(always)]
pub(super) fn operand(a: f32) -> f64 {
    single::flush(a).into()
}

#[inline(always)]
pub(super) fn rcp32(a: f32) -> f32 {
    flushed(a, 1.0 / operand(a))
}

#[inline(always)]
pub(super) fn rsq32(a: f32) -> f32 {
    flushed(a, 1.0 / operand(a).sqrt())
}

#[inline(always)]
pub(super) fn sqrt32(a: f32) -> f32 {
    flushed(a, operand(a).sqrt())
}

/// 2^a.
#[inline(never)]
pub(super) fn exp32(a: f32) -> f32 {
    flushed(a, operand(a).exp2())
}

/// log2(a).
#[inline(never)]
pub(super) fn log32(a: f32) -> f32 {
    flushed(a, operand(a).log2())
}

/// sin(2πa).
#[inline(never)]
pub(super) fn sin32(a: f32) -> f32 {
    single::fix1(a, turn(f64::from(a), f64::sin) as f32)
}

/// cos(2πa).
#[inline(never)]
pub(super) fn cos32(a: f32) -> f32 {
    single::fix1(a, turn(f64::from(a), f64::cos) as f32)
}

/// A trigonometric function of an angle in turns, exact in the quarters. "Full range input is supported"
/// (CDNA3 ISA manual, `V_SIN_F32`); Vega's manual names no limit either, and LLVM reduces the range before
/// GFX9 only.
#[inline(never)]
pub(super) fn turn(turns: f64, f: fn(f64) -> f64) -> f64 {
    if turns.is_infinite() {
        return f64::NAN;
    }
    if turns == 0.0 {
        // The sine of -0 is -0.
        return f(turns);
    }
    let fraction = turns - turns.round();
    if (fraction * 4.0).fract() == 0.0 {
        return f(fraction * std::f64::consts::TAU).round();
    }
    f(fraction * std::f64::consts::TAU)
}

#[inline(always)]
pub(super) fn rcp64(a: f64) -> f64 {
    double::fix1(a, 1.0 / a)
}

#[inline(always)]
pub(super) fn rsq64(a: f64) -> f64 {
    double::fix1(a, 1.0 / a.sqrt())
}

#[inline(always)]
pub(super) fn sqrt64(a: f64) -> f64 {
    double::fix1(a, a.sqrt())
}

/// Functions of halves, computed in double precision and rounded once, in a rounding mode.
macro_rules! half_functions {
    ($($name:ident = $function:expr;)*) => {
        $(#[inline(never)]
        pub(super) fn $name(a: Half, round: u32) -> Half {
            half::unary(a, round, $function)
        })*

        /// The same to the nearest half.
        pub(super) mod nearest {
            use crate::wave::Half;

            $(pub(in crate::exec) fn $name(a: Half) -> Half {
                super::$name(a, 0)
            })*
        }
    };
}
half_functions! {
    half_exp = half::exp2;
    half_log = f64::log2;
    half_sin = |a| turn(a, f64::sin);
    half_cos = |a| turn(a, f64::cos);
}
