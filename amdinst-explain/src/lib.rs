//! What an emulated launch did, in the terms of its source.
//!
//! * [`explained`]: a fault with its places in the source, the calls that led there, what mends it and, of a
//!   panic, what it said.
//! * [`origin`]: where a value in memory comes from.
//! * [`memory_use`]: what memory instructions asked for.
//! * [`missing_waits`]: where the text of a kernel uses a register before its load.
//! * [`timing_report`] and [`timing_table`]: where a modelled dispatch spent its cycles, by line.
//!
//! It stands between the emulator, which knows addresses and registers alone, and the formats that others
//! read.

#![forbid(unsafe_code)]

mod arguments;
mod code;
mod endless;
mod fault;
mod memory;
mod message;
pub mod origin;
mod panic;
mod remedy;
mod timing;
mod waits;

pub use code::Code;
pub use fault::{Explained, explained};
pub use memory::memory_use;
pub use timing::{InstructionLines, instruction_cycles, timing_report, timing_table, wave_spans};
pub use waits::missing_waits;
