//! Atomics on what a kernel's pointer parameters point to, and atomic floats.
//!
//! A kernel that adds to shared places needs no pointer: it takes `&[AtomicU32]` or `&[AtomicF32]`, and the
//! launch passes `&mut Buffer<u32>` or `&mut Buffer<f32>`.

mod float;

pub use float::{AtomicF32, AtomicF64};

use core::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, AtomicU64};

macro_rules! atomic {
    ($($name:ident: $int:ty => $atomic:ty;)*) => {$(
        /// The value behind `pointer` as an atomic.
        ///
        /// # Safety
        /// `pointer` is valid and aligned for reads and writes as long as the reference lives. In that time
        /// every access to the value is atomic.
        #[inline(always)]
        pub const unsafe fn $name<'a>(pointer: *mut $int) -> &'a $atomic {
            // SAFETY: passed on to the caller.
            unsafe { <$atomic>::from_ptr(pointer) }
        }
    )*};
}

atomic! {
    atomic_u32: u32 => AtomicU32;
    atomic_i32: i32 => AtomicI32;
    atomic_u64: u64 => AtomicU64;
    atomic_i64: i64 => AtomicI64;
}
