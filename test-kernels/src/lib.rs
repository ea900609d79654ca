//! Kernels that a user could have written, one a file.
//!
//! Each file holds the kernel and, for the host, a reference that computes the same from the same input. The figures
//! that the tests in `tests/kernels.rs` expect are derived there by hand or counted on the host, never taken from a run.

#![cfg_attr(target_arch = "amdgpu", no_std)]

pub mod break_continue;
pub mod broken;
pub mod called;
pub mod classify;
pub mod collatz;
pub mod early_return;
pub mod flags;
pub mod formats;
pub mod histogram;
pub mod integers;
pub mod lanes;
pub mod nested;
pub mod newton;
pub mod opposite;
pub mod outlined;
pub mod reduce;
pub mod relu;
pub mod sort;
pub mod stencil;
pub mod transpose;
pub mod vector_add;
