//! Where values come from, on kernels that clang compiles.

#[path = "../../../amdinst-emu/tests/support/mod.rs"]
mod support;

mod behind_fault;
mod launched;
mod parting;
mod why;
