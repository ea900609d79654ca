//! Floating-point functions that `core` lacks.
//!
//! | functions | what they are | results |
//! |---|---|---|
//! | `sqrt`, `mul_add`, `floor`, `ceil`, `trunc`, `round`, `round_ties_even` | the hardware's | correctly rounded |
//! | `sin`, `cos`, `tan`, `exp`, `ln`, `pow`, `powi` and others, of `f32` and `f64` | the crate `libm`'s, in software | those of a test that calls the same function, bit for bit |
//! | [`fast`] | one instruction each, of `f32` | some units in the last place off, and not those of the host |
//!
//! All are functions rather than methods: on the host the standard library's methods of the same names would
//! hide them, and the compiler would call the import unused. Those of the standard library may give other
//! last bits than `libm`'s: let a test's reference call these.

pub mod fast;
mod methods;
mod rounded;
mod software;

pub use methods::FunctionsNotMethods;
pub use rounded::{Float, ceil, floor, mul_add, round, round_ties_even, sqrt, trunc};
pub use software::{
    Real, acos, acosh, asin, asinh, atan, atan2, atanh, cbrt, cos, cosh, exp, exp_m1, exp2, hypot, ln, ln_1p,
    log2, log10, pow, powi, sin, sin_cos, sinh, tan, tanh,
};
