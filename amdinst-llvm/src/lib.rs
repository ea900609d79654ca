//! The link step of kernels: LLVM bitcode in, a code object out. The kernel toolchain is found here, too.
//!
//! rustc is told to hand over bitcode of the whole program, not optimised
//! (`-Clinker-plugin-lto -Cno-prepopulate-passes`), and starts `cargo-amdinst` in place of a C compiler,
//! because the `gcc` linker flavour is the one that works with every distribution's rustc. [`link_if_called`]
//! then
//!
//! 1. makes the program one that LLVM compiles (`program`): mends bitcode that LLVM does not read, drops what
//!    no export reaches, reads the records that the macros left, makes entry points of kernels what these
//!    say;
//! 2. adds definitions of what Rust cannot express, and of what LLVM or libraries need (`definitions`);
//! 3. divides the program into units of kernels (`units`): the objects of those that were compiled before are
//!    in a store beside the output ([`store`]);
//! 4. optimises each of the others at the profile's level and emits its object, with what keeps known faults
//!    of LLVM away, finds places where nothing does, and leaves out functions that LLVM has no code for
//!    (`compile`);
//! 5. links the code object of all objects (`pipeline`, which calls the rest).
//!
//! [`MARKER`] among the arguments is what tells such a call from the `cargo amdinst` command.
//!
//! # Why we link
//! The target requires fat LTO, so the program is one bitcode file; rustc tells the level and the processor
//! as `-plugin-opt`s. The optimiser runs are ours, and see what Rust cannot say: `shared!` variables in
//! address space 3, the workgroup barrier with fences of workgroup scope, and `noinline` for functions with
//! `#[probe] #[inline(never)]`, which rustc drops on this target. Our flags stand behind `--` of
//! `cargo rustc`, so that `core` is not rebuilt when they change.

#![forbid(unsafe_code)]

pub mod cache;
pub mod definitions;
pub mod store;
pub mod toolchain;

mod arguments;
mod compile;
mod error;
mod ir;
mod pipeline;
mod program;
mod units;

pub use arguments::{LinkArguments, LinkOptions, MARKER};
pub use compile::{Fault, Verdict, hoists, refused_of, warnings_of};
pub use error::{LinkError, Undefined};

use std::ffi::OsString;

/// Does the link step if `argv` is rustc's call of a linker; `None` if it is not.
///
/// # Errors
/// No code object was linked.
pub fn link_if_called(argv: &[OsString]) -> Option<Result<(), LinkError>> {
    argv.iter()
        .any(|argument| argument == MARKER)
        .then(|| LinkArguments::parse(argv.iter().skip(1)).and_then(|arguments| pipeline::link(&arguments)))
}
