//! Nothing but dependencies.
//!
//! Cargo turns on the features that the packages of one command ask for. `cargo amdinst test` runs the tests of each
//! kernel package by itself, so without this crate the emulator and all that it stands on would be built once more for
//! them, for features of `serde_json` that only `cargo_metadata` wants. (The name is that of the pattern; see
//! `cargo-hakari`.) A test of `xtask` says when a feature is missing here.
