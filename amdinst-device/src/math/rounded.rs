//! What the hardware rounds correctly.

/// `f32` or `f64`.
pub trait Float: Copy + sealed::Functions {}

impl Float for f32 {}
impl Float for f64 {}

/// The square root, correctly rounded.
#[inline(always)]
pub fn sqrt<F: Float>(x: F) -> F {
    sealed::Functions::sqrt(x)
}

/// `a · b + c`, rounded once.
#[inline(always)]
pub fn mul_add<F: Float>(a: F, b: F, c: F) -> F {
    sealed::Functions::mul_add(a, b, c)
}

/// The greatest integer not above.
#[inline(always)]
pub fn floor<F: Float>(x: F) -> F {
    sealed::Functions::floor(x)
}

/// The least integer not below.
#[inline(always)]
pub fn ceil<F: Float>(x: F) -> F {
    sealed::Functions::ceil(x)
}

/// The integer part.
#[inline(always)]
pub fn trunc<F: Float>(x: F) -> F {
    sealed::Functions::trunc(x)
}

/// The nearest integer; halves go away from zero.
#[inline(always)]
pub fn round<F: Float>(x: F) -> F {
    sealed::Functions::round(x)
}

/// The nearest integer; halves go to the even one.
#[inline(always)]
pub fn round_ties_even<F: Float>(x: F) -> F {
    sealed::Functions::round_ties_even(x)
}

mod sealed {
    /// No methods: of such, the compiler would say that users may import this. All of these are correctly
    /// rounded on the device and on the host, so that a reference computed there agrees.
    pub trait Functions: Sized {
        fn sqrt(x: Self) -> Self;
        fn mul_add(x: Self, factor: Self, summand: Self) -> Self;
        fn floor(x: Self) -> Self;
        fn ceil(x: Self) -> Self;
        fn trunc(x: Self) -> Self;
        fn round(x: Self) -> Self;
        fn round_ties_even(x: Self) -> Self;
    }
}

macro_rules! math {
    ($($float:ident $device:ident: $sqrt:literal $fma:literal $floor:literal $ceil:literal $trunc:literal $round:literal $even:literal;)*) => {$(
        /// LLVM's own functions, whose names stay; those of `core::intrinsics` change with compilers.
        #[cfg(target_arch = "amdgpu")]
        mod $device {
            unsafe extern "C" {
                #[link_name = $sqrt]
                pub(super) safe fn sqrt(x: $float) -> $float;
                #[link_name = $fma]
                pub(super) safe fn mul_add(x: $float, factor: $float, summand: $float) -> $float;
                #[link_name = $floor]
                pub(super) safe fn floor(x: $float) -> $float;
                #[link_name = $ceil]
                pub(super) safe fn ceil(x: $float) -> $float;
                #[link_name = $trunc]
                pub(super) safe fn trunc(x: $float) -> $float;
                #[link_name = $round]
                pub(super) safe fn round(x: $float) -> $float;
                #[link_name = $even]
                pub(super) safe fn round_ties_even(x: $float) -> $float;
            }
        }

        #[cfg(target_arch = "amdgpu")]
        impl sealed::Functions for $float {
            #[inline(always)]
            fn sqrt(x: Self) -> Self {
                $device::sqrt(x)
            }
            #[inline(always)]
            fn mul_add(x: Self, factor: Self, summand: Self) -> Self {
                $device::mul_add(x, factor, summand)
            }
            #[inline(always)]
            fn floor(x: Self) -> Self {
                $device::floor(x)
            }
            #[inline(always)]
            fn ceil(x: Self) -> Self {
                $device::ceil(x)
            }
            #[inline(always)]
            fn trunc(x: Self) -> Self {
                $device::trunc(x)
            }
            #[inline(always)]
            fn round(x: Self) -> Self {
                $device::round(x)
            }
            #[inline(always)]
            fn round_ties_even(x: Self) -> Self {
                $device::round_ties_even(x)
            }
        }

        #[cfg(not(target_arch = "amdgpu"))]
        impl sealed::Functions for $float {
            fn sqrt(x: Self) -> Self {
                $float::sqrt(x)
            }
            fn mul_add(x: Self, factor: Self, summand: Self) -> Self {
                $float::mul_add(x, factor, summand)
            }
            fn floor(x: Self) -> Self {
                $float::floor(x)
            }
            fn ceil(x: Self) -> Self {
                $float::ceil(x)
            }
            fn trunc(x: Self) -> Self {
                $float::trunc(x)
            }
            fn round(x: Self) -> Self {
                $float::round(x)
            }
            fn round_ties_even(x: Self) -> Self {
                $float::round_ties_even(x)
            }
        }
    )*};
}

math! {
    f32 device_f32: "llvm.sqrt.f32" "llvm.fma.f32" "llvm.floor.f32" "llvm.ceil.f32" "llvm.trunc.f32" "llvm.round.f32" "llvm.roundeven.f32";
    f64 device_f64: "llvm.sqrt.f64" "llvm.fma.f64" "llvm.floor.f64" "llvm.ceil.f64" "llvm.trunc.f64" "llvm.round.f64" "llvm.roundeven.f64";
}
