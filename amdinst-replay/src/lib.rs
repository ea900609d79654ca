//! Recorded runs of GPU programs, replayed in the emulator.
//!
//! Whoever has a wrong result, a fault or a hang has it in a whole program on a GPU. ROCm records such runs:
//! HIP Record & Replay ([`hrr`]) all calls of a program with their inputs and what the GPU gave back, kerncap
//! ([`kerncap`]) one launch with the memory that it found.
//!
//! 1. [`Archive`] is either of them, read: for each process its [`Event`]s in their order. Contents stay in
//!    their files until they are needed ([`Folder`]).
//! 2. [`Launches`] are what an archive launches, without a look at contents.
//! 3. [`Player`] makes the calls again on an emulated GPU, with all allocations at their recorded addresses,
//!    for kernel arguments and memory hold these. Each kernel runs as it is, and, if it can be instrumented,
//!    beside that with counters.
//! 4. Wherever an archive has what the GPU gave back, the emulator's memory is compared with it
//!    ([`CopyResult`]).
//!
//! Archives come from strangers. No path leads out of their folder, no size is believed before there is
//! something of that size, and nothing is written.

#![forbid(unsafe_code)]

mod archive;
mod calls;
mod error;
mod folder;
mod hash;
pub mod hrr;
pub mod kerncap;
mod list;
mod play;
mod process;

pub use archive::{Archive, Kind};
pub use calls::{Address, Arguments, Call, DataName, Event, LaunchCall, Lds, Value, ValueKind};
pub use error::ArchiveError;
pub use folder::{Folder, FolderError};
pub use hash::ContentHash;
pub use list::{Launches, Listed};
pub use play::{
    Choice, CopyResult, Counted, Ending, First, LaunchResult, NotReplayed, Player, Settings, Step, Verdict,
    Writer,
};
pub use process::Process;
