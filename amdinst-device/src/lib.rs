//! What Rust GPU kernels for AMD link against.
//!
//! A kernel crate is an ordinary library whose root says `#![cfg_attr(target_arch = "amdgpu", no_std)]`. It
//! is compiled twice: for the host, where each [`kernel`](macro@kernel) gives a typed [`Kernel`] handle that
//! a test launches, and for `amdgcn-amd-amdhsa`, where it is code.
//!
//! ```
//! use amdinst_device::{global_id_x, kernel, probe};
//!
//! /// `y += a · x` over `n` elements.
//! ///
//! /// # Safety
//! /// `x` and `y` point to `n` elements each.
//! #[kernel]
//! pub unsafe fn saxpy(n: u32, a: f32, x: *const f32, y: *mut f32) {
//!     let i = global_id_x();
//!     #[probe("tail")]
//!     if i < n {
//!         let i = i as usize;
//!         unsafe { *y.add(i) += a * *x.add(i) };
//!     }
//! }
//!
//! # fn main() {
//! assert_eq!(saxpy().name(), "saxpy");
//! assert_eq!(saxpy().probes()[0].name, "tail");
//! # }
//! ```
//!
//! Device functions compile on the host so that kernels are type-checked there; calling one on the host
//! panics.
//!
//! # Atomics
//! [`core::sync::atomic`] works on global memory and on LDS. Rust's atomics are of system scope. For a
//! counter that other work-items add to as well, use `Ordering::Relaxed`: it is one `global_atomic_*` (or
//! `ds_*`) instruction. Any stronger ordering adds waits and, on gfx90a and later, cache write-backs and
//! invalidations that reach beyond the device. [`atomic_u32`] and its kin make an atomic of a kernel's
//! pointer parameter; a kernel that takes `&[AtomicU32]` needs none. [`AtomicF32`] and [`AtomicF64`] add
//! floats.
//!
//! # Panics
//! A panic ends the wave with a trap (`s_trap 2`); no message is formatted. `cargo amdinst` builds `core` so
//! that the trap stands where the panic was, so its source line is that of the failed check.

#![cfg_attr(target_arch = "amdgpu", no_std)]
#![cfg_attr(
    target_arch = "amdgpu",
    feature(stdarch_amdgpu, core_intrinsics, gpu_intrinsics, link_llvm_intrinsics)
)]
#![cfg_attr(
    target_arch = "amdgpu",
    expect(internal_features, reason = "there is no other way to these instructions")
)]

// The macros name this crate by its absolute path; its own tests and examples use them too.
extern crate self as amdinst_device;

mod atomic;
mod clock;
mod element;
#[cfg(all(target_arch = "amdgpu", feature = "alloc"))]
mod heap;
mod ids;
mod kernel_arg;
mod local_data_share;
pub mod math;
mod per_item;
mod print;
mod rows;
mod split;
mod sync;
pub mod wave;

#[cfg(not(target_arch = "amdgpu"))]
mod handle;
#[cfg(target_arch = "amdgpu")]
mod panic;

pub use amdinst_macros::{KernelArg, kernel, probe, shared};
pub use atomic::{AtomicF32, AtomicF64, atomic_i32, atomic_i64, atomic_u32, atomic_u64};
pub use clock::{clock, realtime};
pub use element::Element;
#[cfg(not(target_arch = "amdgpu"))]
pub use handle::{Kernel, NamedKernel, Probe};
pub use ids::{
    global_id_x, global_id_y, global_id_z, global_size_x, global_size_y, global_size_z, local_id,
    workgroup_id_x, workgroup_id_y, workgroup_id_z, workgroup_size_x, workgroup_size_y, workgroup_size_z,
    workitem_id_x, workitem_id_y, workitem_id_z,
};
pub use kernel_arg::{KernelArg, Plain};
pub use local_data_share::{DynamicShared, Shared};
pub use math::{Float, ceil, floor, mul_add, round, round_ties_even, sqrt, trunc};
pub use per_item::{PerGroup, PerItem, Strided, StridedIter};
pub use rows::{PerItem2d, Slice2d};
pub use split::{InLds, Lds, Lds2d, Share, Split, Split2d, share};
pub use sync::{barrier, wave_barrier};
pub use wave::{active_lanes, ballot, lane_id, read_first_lane, read_lane, shuffle, wave_size};

/// Items that the macros' expansions call. They are not part of the interface.
#[doc(hidden)]
pub mod __private {
    pub use crate::element::Structure;
    #[cfg(not(target_arch = "amdgpu"))]
    pub use crate::handle::{Written, kernel};
    pub use crate::kernel_arg::{NoTail, Passed, assert_kernel_arg, kernel_record, kernel_record_length};
    pub use crate::local_data_share::{Backing, dynamic_shared, shared, shared_record};
    pub use crate::print::print;
    pub use crate::split::{SharedParameter, assert_shared};

    /// The bytes of `text`, whose length is `N`.
    pub const fn bytes<const N: usize>(text: &str) -> [u8; N] {
        let mut out = [0; N];
        out.copy_from_slice(text.as_bytes());
        out
    }

    /// Panics with a number between two texts. A compiler that evaluates a panic formats no numbers.
    #[track_caller]
    pub const fn panic_with(before: &str, number: usize, behind: &str) -> ! {
        /// The longest text: names in it are of the user's.
        const ROOM: usize = 1024;
        let mut digits = [0; 20];
        let (mut first, mut rest) = (digits.len(), number);
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        let (mut text, mut end) = ([0; ROOM], 0);
        let parts = [before.as_bytes(), digits.split_at(first).1, behind.as_bytes()];
        let mut part = 0;
        while part < parts.len() {
            let mut at = 0;
            while at < parts[part].len() && end < ROOM {
                text[end] = parts[part][at];
                (at, end) = (at + 1, end + 1);
            }
            part += 1;
        }
        match core::str::from_utf8(text.split_at(end).0) {
            Ok(text) => panic!("{}", text),
            // Cut off within a character.
            Err(_) => panic!("{}", before),
        }
    }

    /// Stands for what only the device has.
    #[cfg(not(target_arch = "amdgpu"))]
    #[cold]
    #[track_caller]
    pub fn device_only() -> ! {
        panic!("this function runs on the device only; launch the kernel instead of calling its body")
    }
}
