//! Each feature against what the host computes, at every level of optimisation and in waves of either size.

mod arguments;
mod generic;
mod language;
mod math;
mod memory;
mod printing;
mod reductions;
mod shared_places;
mod tiles;
mod wave;
mod wide;

harness::main!();
