//! LLVM at work on a unit: known faults kept away or told, functions that it has no code for left out.

pub(crate) mod compiler;
mod faults;
pub mod hoists;
pub(crate) mod places;
pub(crate) mod refused;

pub use faults::{Fault, Verdict};
pub use places::warnings_of;
pub use refused::refused_of;
