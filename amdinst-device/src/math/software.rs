//! Functions in software: the same code on the device and on the host, so the same bits.

use core::ops::{Div, Mul};

/// `f32` or `f64`.
pub trait Real: Copy + From<f32> + Mul<Output = Self> + Div<Output = Self> + sealed::Functions {}

impl Real for f32 {}
impl Real for f64 {}

mod sealed {
    macro_rules! functions {
        ($($name:ident($($argument:ident),*);)*) => {
            /// No methods: of such, the compiler would say that users may import this.
            pub trait Functions: Sized {
                fn sin_cos(x: Self) -> (Self, Self);
                $(fn $name(x: Self $(, $argument: Self)*) -> Self;)*
            }
        };
    }
    functions! {
        sin(); cos(); tan(); asin(); acos(); atan(); sinh(); cosh(); tanh(); asinh(); acosh(); atanh();
        exp(); exp2(); exp_m1(); ln(); ln_1p(); log2(); log10(); cbrt();
        pow(other); atan2(other); hypot(other);
    }
}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($x:ident $(, $argument:ident)*) = $of_f32:ident $of_f64:ident;)*) => {
        $(
            $(#[$doc])*
            ///
            /// As the crate `libm` computes it, on the device and on the host.
            #[inline]
            pub fn $name<F: Real>($x: F $(, $argument: F)*) -> F {
                sealed::Functions::$name($x $(, $argument)*)
            }
        )*

        impl sealed::Functions for f32 {
            #[inline]
            fn sin_cos(x: Self) -> (Self, Self) {
                libm::sincosf(x)
            }
            $(
                #[inline]
                fn $name(x: Self $(, $argument: Self)*) -> Self {
                    libm::$of_f32(x $(, $argument)*)
                }
            )*
        }

        impl sealed::Functions for f64 {
            #[inline]
            fn sin_cos(x: Self) -> (Self, Self) {
                libm::sincos(x)
            }
            $(
                #[inline]
                fn $name(x: Self $(, $argument: Self)*) -> Self {
                    libm::$of_f64(x $(, $argument)*)
                }
            )*
        }
    };
}

functions! {
    /// The sine of an angle in radians.
    sin(x) = sinf sin;
    /// The cosine of an angle in radians.
    cos(x) = cosf cos;
    /// The tangent of an angle in radians.
    tan(x) = tanf tan;
    /// The arc sine, in radians.
    asin(x) = asinf asin;
    /// The arc cosine, in radians.
    acos(x) = acosf acos;
    /// The arc tangent, in radians.
    atan(x) = atanf atan;
    /// The hyperbolic sine.
    sinh(x) = sinhf sinh;
    /// The hyperbolic cosine.
    cosh(x) = coshf cosh;
    /// The hyperbolic tangent.
    tanh(x) = tanhf tanh;
    /// The inverse hyperbolic sine.
    asinh(x) = asinhf asinh;
    /// The inverse hyperbolic cosine.
    acosh(x) = acoshf acosh;
    /// The inverse hyperbolic tangent.
    atanh(x) = atanhf atanh;
    /// e to the power of `x`.
    exp(x) = expf exp;
    /// 2 to the power of `x`.
    exp2(x) = exp2f exp2;
    /// e to the power of `x`, less 1, without loss of digits near 0.
    exp_m1(x) = expm1f expm1;
    /// The natural logarithm.
    ln(x) = logf log;
    /// The natural logarithm of 1 + `x`, without loss of digits near 0.
    ln_1p(x) = log1pf log1p;
    /// The logarithm to the base 2.
    log2(x) = log2f log2;
    /// The logarithm to the base 10.
    log10(x) = log10f log10;
    /// The cube root.
    cbrt(x) = cbrtf cbrt;
    /// `x` to the power of `other`.
    pow(x, other) = powf pow;
    /// The angle of the point whose coordinates are `other` in x and `x` in y.
    atan2(x, other) = atan2f atan2;
    /// The length of the hypotenuse of a triangle with these legs.
    hypot(x, other) = hypotf hypot;
}

/// Sine and cosine of an angle in radians.
///
/// As the crate `libm` computes them, on the device and on the host.
#[inline]
pub fn sin_cos<F: Real>(x: F) -> (F, F) {
    sealed::Functions::sin_cos(x)
}

/// `x` to a whole power, by squaring: the standard library's `powi`, on the device and on the host.
#[inline]
pub fn powi<F: Real>(x: F, n: i32) -> F {
    let one = F::from(1.0);
    let (mut power, mut square, mut left) = (one, x, n.unsigned_abs());
    loop {
        if left & 1 != 0 {
            power = power * square;
        }
        left >>= 1;
        if left == 0 {
            return if n < 0 { one / power } else { power };
        }
        square = square * square;
    }
}
