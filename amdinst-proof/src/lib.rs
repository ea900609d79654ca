//! The proof that counting changed nothing: an instrumented kernel on the emulator, beside its original.
//!
//! Two promises of the instrumenter are kept here. Counters are what happened: they equal what the emulator,
//! which knows of no sites, saw the original do. And probes change nothing else: both kernels leave the same
//! memory. Whoever launches both asks the same things:
//!
//! * [`Counting`]: an instrumented kernel with its counter buffer, launched whole or some workgroups at a
//!   time, as its original was.
//! * [`Comparison`]: its counters beside the emulator's own count; where the original went round a loop as
//!   often as others let it, beside the count of the same run.
//! * [`Difference`]: its memory beside the original's.
//! * [`Cause`], [`look`], [`unwritten`]: the reasons for which two runs of the original itself may differ, in
//!   the order in which they are asked for: races, and values that nothing has written. With one of them the
//!   comparison says nothing.

#![forbid(unsafe_code)]

mod cause;
mod comparison;
mod counting;
mod difference;
mod native;

pub use cause::{Cause, Differs, Looked, look, unwritten};
pub use comparison::Comparison;
pub use counting::{Counted, Counting, CountingError};
pub use difference::Difference;
pub use native::{as_in_the_original, native_blocks, native_counts, native_ticks};
