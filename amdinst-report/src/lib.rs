//! What people see of a test run: which branches diverged, how much, and where.
//!
//! A [`Summary`] is made from a kept [`Run`](amdinst_core::report::run::Run) and is what everything else here
//! is a view of: [`human`] for terminals, [`markdown`] for job summaries, [`github`] for pull requests,
//! [`lcov`] for coverage tools, [`sarif`] for code scanning, [`html`] for browsers, its own JSON (`schema` 1)
//! for programs. [`diff`] sets two of them side by side, [`gate`] says whether one keeps a limit. [`Sources`]
//! gives the source lines, and says which files changed since.
//!
//! [`matrix`] sets tests and kernels of several GPUs side by side.
//!
//! [`resources`] is another document: what the kernels of a file take, which needs no run.
//!
//! Nothing here measures or launches anything.

#![forbid(unsafe_code)]

pub mod diff;
pub mod fault;
mod fold;
pub mod gate;
pub mod github;
pub mod html;
pub mod human;
pub mod lcov;
mod limit;
mod lines;
pub mod markdown;
pub mod matrix;
pub mod memory;
mod place;
mod places;
pub mod resources;
pub mod sarif;
pub mod sources;
pub mod summary;

pub use amdinst_core::report::{Certainty, Lost};
pub use diff::Diff;
pub use gate::{Gate, Violation};
pub use matrix::Matrix;
pub use sources::Sources;
pub use summary::{Branch, KernelSummary, Line, LineMemory, MemorySummary, ModelledTime, Summary};
