//! What test programs and programs with kernels inside load at run time: the emulator, HIP launches, and the
//! comparison of counters, as one shared library that the installed command brings.
//!
//! [`interface`] gives the table of functions that `amdinst_format::interface` describes; the shared library
//! exports it. With the feature `preload` the same library stands in for the GPU's driver where it is
//! preloaded (`amdinst-hsakmt`), so `cargo amdinst exec` needs no other.
//!
//! # Where `unsafe` is
//! `exports` takes pointers from C; each function says what its caller, the harness, vouches for.
//! `device/hip` calls the HIP runtime. No panic leaves an exported function.
//!
//! # Why a shared library
//! Test programs, programs with kernels inside, and programs under `exec` load one file, which is built when
//! the command is. With a process of its own instead, buffers would have to be shared, each launch would cost
//! a switch, and a debugger would see two programs; `exec` needs a library in any case. A test program asks
//! it for one symbol. The harness takes this crate in directly with its feature `bundled`.

mod artifact_error;
mod artifacts;
mod built;
mod device;
mod embedded;
mod exports;
mod fault;
pub mod freshness;
mod junit;
mod listing;
mod rebuild;
mod remedy;
mod request;
mod source;
pub mod stopping;
mod summary;
mod timing;

pub use exports::interface;

// The functions that a preloaded library has are exported from here.
use amdinst_hsakmt as _;
