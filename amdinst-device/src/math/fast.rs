//! The hardware's own functions of `f32`: one instruction each (sine and cosine: two or three), in a few
//! units of the last place.
//!
//! On the host they are computed in another way, and round otherwise: a test compares with some tolerance.
//!
//! ```
//! use amdinst_device::math::fast;
//!
//! assert!((fast::rsqrt(16.0) - 0.25).abs() < 1e-6);
//! assert!((fast::pow(2.0, 0.5) - 2_f32.sqrt()).abs() < 1e-6);
//! ```

use core::f32::consts::{LN_2, LOG2_E, TAU};

macro_rules! fast {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident($x:ident) = $intrinsic:literal, $host:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        $vis fn $name($x: f32) -> f32 {
            #[cfg(target_arch = "amdgpu")]
            {
                unsafe extern "C" {
                    #[link_name = $intrinsic]
                    safe fn instruction(x: f32) -> f32;
                }
                instruction($x)
            }
            #[cfg(not(target_arch = "amdgpu"))]
            $host
        }
    )*};
}

fast! {
    /// `1 / x` (`v_rcp_f32`).
    pub fn recip(x) = "llvm.amdgcn.rcp.f32", 1.0 / x;
    /// `1 / √x` (`v_rsq_f32`).
    pub fn rsqrt(x) = "llvm.amdgcn.rsq.f32", 1.0 / x.sqrt();
    /// `√x` (`v_sqrt_f32`).
    pub fn sqrt(x) = "llvm.amdgcn.sqrt.f32", x.sqrt();
    /// 2 to the power of `x` (`v_exp_f32`). A subnormal result is zero.
    pub fn exp2(x) = "llvm.amdgcn.exp2.f32", libm::exp2f(x);
    /// The logarithm to the base 2 (`v_log_f32`). A subnormal argument counts as zero.
    pub fn log2(x) = "llvm.amdgcn.log.f32", libm::log2f(x);
    /// The sine of an angle in full turns, which is less than 256 of them (`v_sin_f32`).
    pub fn sin_turns(x) = "llvm.amdgcn.sin.f32", libm::sinf(x.fract() * TAU);
    /// The cosine of an angle in full turns, which is less than 256 of them (`v_cos_f32`).
    pub fn cos_turns(x) = "llvm.amdgcn.cos.f32", libm::cosf(x.fract() * TAU);
    fn fract(x) = "llvm.amdgcn.fract.f32", x - x.floor();
}

/// The sine of an angle in radians, whose error grows with the angle.
#[inline(always)]
pub fn sin(x: f32) -> f32 {
    sin_turns(fract(x * (1.0 / TAU)))
}

/// The cosine of an angle in radians, whose error grows with the angle.
#[inline(always)]
pub fn cos(x: f32) -> f32 {
    cos_turns(fract(x * (1.0 / TAU)))
}

/// e to the power of `x`.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    exp2(x * LOG2_E)
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    log2(x) * LN_2
}

/// `x` to the power of `y`, for a positive `x`. Its error grows with the result.
#[inline(always)]
pub fn pow(x: f32, y: f32) -> f32 {
    exp2(log2(x) * y)
}
