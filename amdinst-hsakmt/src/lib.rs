//! An emulated AMD GPU under the real ROCm runtime.
//!
//! `libhsa-runtime64.so.1` of ROCm 5.2 reaches the driver through the functions of `libhsakmt.so.1`. This
//! library has the same functions, and instead of the driver the emulator behind them: HIP, the runtime's
//! loader and its copy kernels run unchanged, and so does every HIP program. It is part of the shared library
//! `amdinst-runtime`, which is made to be found first, as `libhsakmt.so.1` in a directory of
//! `LD_LIBRARY_PATH`; `cargo amdinst exec` does that.
//!
//! The environment says what is emulated: `AMDINST_TARGET_CPU` (gfx900, gfx906, gfx908, gfx90a, gfx1010,
//! gfx1030) or, before it, `AMDINST_EMULATED_CPU`, `AMDINST_GPUS`, `AMDINST_BUDGET`, `AMDINST_THREADS`,
//! `AMDINST_CHECK`, `AMDINST_FILL`, `AMDINST_OUT_OF_RANGE`. Named in `HSA_TOOLS_LIB` too, it sees the code
//! objects that are loaded: faults are then told with their source lines, and `AMDINST_INSTRUMENT` (1, or
//! `report`) has them instrumented, with counters where `AMDINST_COUNTERS` says.
//!
//! # Where `unsafe` is
//!
//! `exports` takes pointers from C; each function says what its caller, the runtime, vouches for.
//! `host_memory` maps pages; `cells` views words that the runtime shares; `allocations` and `gpu` hand memory
//! to the emulator; `tools` stands before two functions of the runtime. No panic leaves an exported function.
//!
//! # What is emulated
//! `topology` says what the GPU is, `allocations` what it sees, `events` what the host waits for, and each
//! AQL queue has a thread (`queue`).
//!
//! A packet names a kernel by its descriptor. [`Machine::program_at`](amdinst_emu::Machine::program_at)
//! decodes what can be reached from its entry (all of the code, if it jumps by registers), once, and anew
//! when the bytes have changed. Nothing depends on the file of the code object; its symbols, as loaded, give
//! names (`image`).
//!
//! Scratch memory, traps and caches are the emulator's. What the runtime prepares for them is accepted and
//! not used. A fault is told on stderr where it happened; then it becomes the runtime's memory fault event or
//! an error of the queue. The runtime gets no DMA engine, so it copies with its own kernels.

/// Name under which the runtime looks for it.
pub const NAME: &str = "libhsakmt.so.1";

mod abi;
mod allocations;
mod cells;
mod clock;
mod counting;
mod devices;
mod dispatch_error;
mod driver;
mod events;
mod exports;
mod fault;
mod gpu;
mod host_memory;
mod image;
mod kept;
mod objects;
mod profile;
mod queue;
mod settings;
pub mod signals;
mod sources;
mod stopping;
mod tell;
mod tools;
mod topology;
mod variables;

/// The processors that can be emulated under the runtime.
pub fn processors() -> Vec<amdgpu_isa::Arch> {
    profile::Profile::all().map(|profile| profile.arch).collect()
}
