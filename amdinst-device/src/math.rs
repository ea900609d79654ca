//! Floating-point functions that `core` lacks and the hardware has.

/// Functions of `f32` and `f64` that compile to a few instructions.
///
/// On the host they are the standard library's, so that a reference computed there agrees: all of these are correctly
/// rounded on both sides.
pub trait Math: Copy {
    /// The square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// `self · factor + summand`, rounded once.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// The greatest integer not above.
    fn floor(self) -> Self;
    /// The least integer not below.
    fn ceil(self) -> Self;
    /// The integer part.
    fn trunc(self) -> Self;
    /// The nearest integer; halves go to the even one.
    fn round_ties_even(self) -> Self;
}

macro_rules! math {
    ($($float:ident: $sqrt:ident $fma:ident $floor:ident $ceil:ident $trunc:ident $round:ident;)*) => {$(
        #[cfg(target_arch = "amdgpu")]
        impl Math for $float {
            #[inline(always)]
            fn sqrt(self) -> Self {
                core::intrinsics::$sqrt(self)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                core::intrinsics::$fma(self, factor, summand)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                core::intrinsics::$floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                core::intrinsics::$ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                core::intrinsics::$trunc(self)
            }
            #[inline(always)]
            fn round_ties_even(self) -> Self {
                core::intrinsics::$round(self)
            }
        }

        #[cfg(not(target_arch = "amdgpu"))]
        impl Math for $float {
            fn sqrt(self) -> Self {
                $float::sqrt(self)
            }
            fn mul_add(self, factor: Self, summand: Self) -> Self {
                $float::mul_add(self, factor, summand)
            }
            fn floor(self) -> Self {
                $float::floor(self)
            }
            fn ceil(self) -> Self {
                $float::ceil(self)
            }
            fn trunc(self) -> Self {
                $float::trunc(self)
            }
            fn round_ties_even(self) -> Self {
                $float::round_ties_even(self)
            }
        }
    )*};
}

math! {
    f32: sqrtf32 fmaf32 floorf32 ceilf32 truncf32 round_ties_even_f32;
    f64: sqrtf64 fmaf64 floorf64 ceilf64 truncf64 round_ties_even_f64;
}
