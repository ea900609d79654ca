//! What an emulated launch did, in the terms of its source.
//!
//! * [`explained`]: a fault with its places in the source, the calls that led there, what mends it and, of a panic, what it said.
//! * [`timing_report`] and [`timing_table`]: where a modelled dispatch spent its cycles, by line.
//! * [`native_counts`], [`native_blocks`], [`native_ticks`], [`as_in_the_original`]: the emulator's own count, in the form that
//!   [`amdinst_core::report::oracle`] compares with counters.
//!
//! It stands between the emulator, which knows addresses and registers alone, and the formats that others read.

#![forbid(unsafe_code)]

mod arguments;
mod endless;
mod fault;
mod message;
mod native;
mod panic;
mod remedy;
mod timing;

pub use fault::{Code, Explained, explained};
pub use native::{as_in_the_original, native_blocks, native_counts, native_ticks};
pub use timing::{InstructionLines, instruction_cycles, timing_report, timing_table, wave_spans};
