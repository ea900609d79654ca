//! Atomic floats: additions, minima and maxima.
//!
//! On the device each is what LLVM makes of `atomicrmw` of the device's scope: the instruction where the
//! processor has it, else a loop that compares and swaps. On the host it is that loop.

use core::fmt;
#[cfg(not(target_arch = "amdgpu"))]
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

macro_rules! floats {
    ($($name:ident $float:ident $bits:ident $atomic:ident $add:literal $min:literal $max:literal $load:literal $store:literal $example:literal;)*) => {$(
        #[doc = concat!("An `", stringify!($float), "` that many work-items add to.")]
        ///
        /// Every operation is relaxed, and atomic for the whole device: what is read by others behind it is
        /// not ordered. In which order floats are added is not known, so a sum may be rounded in another way
        /// each time.
        ///
        /// ```
        #[doc = $example]
        /// ```
        #[repr(transparent)]
        pub struct $name(core::cell::UnsafeCell<$float>);

        // SAFETY: every access is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            /// A new one.
            pub const fn new(value: $float) -> Self {
                Self(core::cell::UnsafeCell::new(value))
            }

            /// The value behind `pointer` as an atomic.
            ///
            /// # Safety
            /// `pointer` is valid and aligned for reads and writes as long as the reference lives. In that
            /// time every access to the value is atomic.
            #[inline(always)]
            pub const unsafe fn from_ptr<'a>(pointer: *mut $float) -> &'a Self {
                // SAFETY: of the same layout; and as the caller vouches.
                unsafe { &*pointer.cast() }
            }

            /// The value.
            #[inline(always)]
            pub fn load(&self) -> $float {
                #[cfg(target_arch = "amdgpu")]
                {
                    unsafe extern "C" {
                        #[link_name = $load]
                        fn load(place: *mut $float) -> $float;
                    }
                    // SAFETY: a place of this type, which outlives the call.
                    unsafe { load(self.0.get()) }
                }
                #[cfg(not(target_arch = "amdgpu"))]
                $float::from_bits(self.bits().load(Ordering::Relaxed))
            }

            /// Replaces the value.
            #[inline(always)]
            pub fn store(&self, value: $float) {
                #[cfg(target_arch = "amdgpu")]
                {
                    unsafe extern "C" {
                        #[link_name = $store]
                        fn store(place: *mut $float, value: $float);
                    }
                    // SAFETY: a place of this type, which outlives the call.
                    unsafe { store(self.0.get(), value) }
                }
                #[cfg(not(target_arch = "amdgpu"))]
                self.bits().store(value.to_bits(), Ordering::Relaxed)
            }

            /// Adds, and returns the value before.
            #[inline(always)]
            pub fn fetch_add(&self, value: $float) -> $float {
                #[cfg(target_arch = "amdgpu")]
                {
                    unsafe extern "C" {
                        #[link_name = $add]
                        fn add(place: *mut $float, value: $float) -> $float;
                    }
                    // SAFETY: a place of this type, which outlives the call.
                    unsafe { add(self.0.get(), value) }
                }
                #[cfg(not(target_arch = "amdgpu"))]
                self.update(|before| before + value)
            }

            /// Takes the lesser of both, and returns the value before. A NaN is taken for none.
            #[inline(always)]
            pub fn fetch_min(&self, value: $float) -> $float {
                #[cfg(target_arch = "amdgpu")]
                {
                    unsafe extern "C" {
                        #[link_name = $min]
                        fn min(place: *mut $float, value: $float) -> $float;
                    }
                    // SAFETY: a place of this type, which outlives the call.
                    unsafe { min(self.0.get(), value) }
                }
                #[cfg(not(target_arch = "amdgpu"))]
                self.update(|before| before.min(value))
            }

            /// Takes the greater of both, and returns the value before. A NaN is taken for none.
            #[inline(always)]
            pub fn fetch_max(&self, value: $float) -> $float {
                #[cfg(target_arch = "amdgpu")]
                {
                    unsafe extern "C" {
                        #[link_name = $max]
                        fn max(place: *mut $float, value: $float) -> $float;
                    }
                    // SAFETY: a place of this type, which outlives the call.
                    unsafe { max(self.0.get(), value) }
                }
                #[cfg(not(target_arch = "amdgpu"))]
                self.update(|before| before.max(value))
            }

            #[cfg(not(target_arch = "amdgpu"))]
            fn bits(&self) -> &$atomic {
                // SAFETY: of the same size and alignment, and every access is atomic.
                unsafe { $atomic::from_ptr(self.0.get().cast()) }
            }

            #[cfg(not(target_arch = "amdgpu"))]
            fn update(&self, next: impl Fn($float) -> $float) -> $float {
                let next = |bits: $bits| Some(next($float::from_bits(bits)).to_bits());
                let before = self.bits().fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
                $float::from_bits(before.unwrap_or_else(|bits| bits))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.load().fmt(f)
            }
        }
    )*};
}

floats! {
    AtomicF32 f32 u32 AtomicU32 "__amdinst_atomic_fadd_f32" "__amdinst_atomic_fmin_f32" "__amdinst_atomic_fmax_f32" "__amdinst_atomic_load_f32" "__amdinst_atomic_store_f32"
        "use amdinst_device::AtomicF32;\n\nlet sum = AtomicF32::new(1.0);\nassert_eq!((sum.fetch_add(0.5), sum.fetch_max(7.0), sum.load()), (1.0, 1.5, 7.0));";
    AtomicF64 f64 u64 AtomicU64 "__amdinst_atomic_fadd_f64" "__amdinst_atomic_fmin_f64" "__amdinst_atomic_fmax_f64" "__amdinst_atomic_load_f64" "__amdinst_atomic_store_f64"
        "use amdinst_device::AtomicF64;\n\nlet least = AtomicF64::new(1.0);\nassert_eq!((least.fetch_min(0.5), least.fetch_min(7.0), least.load()), (1.0, 0.5, 0.5));";
}
