//! Single instructions: state in, state out, against expected values that do not come from the emulator: what
//! the manuals say of them, coded anew for the host.

mod approximate;
mod cases;
mod constants;
mod conversions;
mod coverage;
mod dual;
mod formats;
mod gfx12;
mod gfx950;
mod global_sync;
mod lanes;
mod matrix;
mod memory;
mod model;
mod random;
mod scalar;
mod support;
mod tables;
mod targets;
