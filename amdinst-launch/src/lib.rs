//! A kernel of any code object, launched in the emulator by values of its arguments.
//!
//! 1. [`language`] reads what a user writes: values of arguments, results to print, save or compare.
//! 2. [`Arguments`] are such values, checked against the kernel's own arguments, their files read, their
//!    buffers filled ([`contents`], [`npy`]).
//! 3. [`Outcome`] is what a launch with them leaves behind, on a machine of its own or on a given one.
//! 4. [`results`] are elements of its buffers as numbers, and [`compare`] holds them against a file's.
//!
//! What cannot be done as it was asked for is [`Refused`], before the launch; what goes wrong in it is a
//! [`LaunchError`].

#![forbid(unsafe_code)]

mod arguments;
mod beside;
pub mod compare;
pub mod contents;
mod error;
pub mod files;
pub mod language;
pub mod npy;
mod outcome;
mod printed;
mod refused;
pub mod results;
pub mod room;
mod slots;

pub use arguments::{Arguments, BufferInfo, Output, Placed, Value};
pub use beside::{Beside, Place};
pub use error::LaunchError;
pub use outcome::Outcome;
pub use printed::printed_in;
pub use refused::{Refused, RefusedKind};
