//! Where a value in memory comes from: the instructions that made it, followed back through registers, LDS
//! and memory, from work-item to work-item.
//!
//! Nothing is recorded while a kernel runs. A launch of the emulator gives one result, so it runs again
//! ([`Rerun`]) from the memory before it, as often as it takes to see one more step back.
//!
//! * [`why`](fn@why): the lines that made a value; of a NaN or an infinity, the way back to its maker.
//! * [`why_fault`](fn@why_fault): the lines that led to a fault.
//! * [`parting`]: of a launch that leaves different values on two processors, the instructions where the two
//!   executions part.

mod behind_fault;
mod meaning;
mod parting;
mod rerun;
mod slice;
mod source;
mod suspect;
mod why;

pub use behind_fault::why_fault;
pub use parting::{Parting, parting};
pub use rerun::{Lost, Rerun};
pub use why::why;
