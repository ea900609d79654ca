//! The instrumenter: what code does, where it branches, and code objects that count it. Bytes in, bytes out.
//!
//! Reads instructions (`amdgpu_isa`) and code objects (`amdgpu_object`), in the order data flows:
//!
//! * [`analysis`]: control-flow graph, liveness, EXEC structure.
//! * [`instrument`]: sites, the probe plan, emission and relocation.
//! * [`listing`]: the disassembly of a code object, line for line as `llvm-objdump -d` prints it.
//! * [`report`]: what compares counters with a native count.
//! * [`counters`], [`heap`], [`manifest`], [`panics`], [`printed`], [`schema`]: the formats that others read,
//!   from `amdinst_format`.
//!
//! Nothing here touches files, processes, threads or devices.

#![forbid(unsafe_code)]

pub mod analysis;
mod hash;
pub mod instrument;
pub mod listing;
pub mod names;
pub mod report;

use amdgpu_isa::WaveSize;
use amdgpu_object::Limiter;
use amdinst_format::counters::Lanes;
pub use amdinst_format::{counters, heap, manifest, panics, printed, schema};

/// The size of waves, as probe maps and reports have it.
pub const fn lanes(wave: WaveSize) -> Lanes {
    match wave {
        WaveSize::Wave32 => Lanes::Wave32,
        WaveSize::Wave64 => Lanes::Wave64,
    }
}

/// What limits occupancy, as probe maps and reports have it.
pub const fn limiter(limiter: Limiter) -> amdinst_format::probes::Limiter {
    use amdinst_format::probes::Limiter as Told;
    match limiter {
        Limiter::Hardware => Told::Hardware,
        Limiter::Vgprs => Told::Vgprs,
        Limiter::Sgprs => Told::Sgprs,
        Limiter::Lds => Told::Lds,
        Limiter::Barriers => Told::Barriers,
    }
}
