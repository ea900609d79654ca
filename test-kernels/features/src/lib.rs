//! Small kernels, each of which uses one thing that Rust or `amdinst_device` has. The guide's table of features is made of their tests.

#![cfg_attr(target_arch = "amdgpu", no_std, feature(core_float_math))]

pub mod arguments;
pub mod generic;
pub mod language;
pub mod math;
pub mod memory;
pub mod printing;
pub mod reductions;
pub mod shared_places;
pub mod tiles;
pub mod wave;
pub mod wide;
