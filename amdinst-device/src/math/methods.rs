//! What the compiler says to `x.sin()`: the standard library's methods of floats are not in `core`, so it
//! looks for a trait that has them. It finds this one, and shows the line of its method.

use super::Real;

macro_rules! methods {
    ($($name:ident($($argument:ident: $ty:ty),*) = $instead:literal;)*) => {
        $(
            mod $name {
                /// Of no type.
                #[diagnostic::on_unimplemented(message = $instead, label = $instead)]
                pub trait IsMethod {}
            }
        )*

        /// Methods that floats have in the standard library alone. None can be called: each names the
        /// function to call instead. On the host, methods of these names would be the standard library's, and
        /// round otherwise.
        pub trait FunctionsNotMethods: Sized {
            $(
                #[doc = $instead]
                fn $name(self $(, $argument: $ty)*) -> Self
                where
                    Self: $name::IsMethod;
            )*
        }

        impl<F: Real> FunctionsNotMethods for F {
            $(
                fn $name(self $(, $argument: $ty)*) -> Self
                where
                    Self: $name::IsMethod,
                {
                    $(let _ = $argument;)*
                    self
                }
            )*
        }
    };
}

// The compiler shows the line of the method that was called.
methods! {
    sin() = "write `math::sin(x)`";
    cos() = "write `math::cos(x)`";
    tan() = "write `math::tan(x)`";
    sin_cos() = "write `math::sin_cos(x)`";
    asin() = "write `math::asin(x)`";
    acos() = "write `math::acos(x)`";
    atan() = "write `math::atan(x)`";
    atan2(x: Self) = "write `math::atan2(y, x)`";
    sinh() = "write `math::sinh(x)`";
    cosh() = "write `math::cosh(x)`";
    tanh() = "write `math::tanh(x)`";
    asinh() = "write `math::asinh(x)`";
    acosh() = "write `math::acosh(x)`";
    atanh() = "write `math::atanh(x)`";
    exp() = "write `math::exp(x)`";
    exp2() = "write `math::exp2(x)`";
    exp_m1() = "write `math::exp_m1(x)`";
    ln() = "write `math::ln(x)`";
    ln_1p() = "write `math::ln_1p(x)`";
    log2() = "write `math::log2(x)`";
    log10() = "write `math::log10(x)`";
    cbrt() = "write `math::cbrt(x)`";
    hypot(y: Self) = "write `math::hypot(x, y)`";
    powf(y: Self) = "write `math::pow(x, y)`";
    powi(n: i32) = "write `math::powi(x, n)`";
    sqrt() = "write `math::sqrt(x)`";
    mul_add(factor: Self, summand: Self) = "write `math::mul_add(x, factor, summand)`";
    floor() = "write `math::floor(x)`";
    ceil() = "write `math::ceil(x)`";
    trunc() = "write `math::trunc(x)`";
    round() = "write `math::round(x)`";
    fract() = "write `x - math::trunc(x)`";
    round_ties_even() = "write `math::round_ties_even(x)`";
}
