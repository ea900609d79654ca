//! An emulated AMD GPU under the real ROCm runtime, in the place of the kernel's driver.
//!
//! The runtime reaches its GPU through `/dev/kfd`, a render node in `/dev/dri`, and what `/sys` says of both,
//! in every ROCm so far. This library answers for them within the process: it has those functions of the C
//! library by which files are opened and called (`preload`), and stands before the C library where it is
//! preloaded (`LD_PRELOAD`), if it was built with the feature `preload`. HIP, the runtime, its loader and its
//! copy kernels run unchanged, and so does every HIP program. It is part of the shared library
//! `amdinst-runtime`; `cargo amdinst exec` preloads that.
//!
//! A filter of system calls (`seccomp`) would hold static programs as well. It would cost every program a
//! signal for each file that it opens, and runtimes are shared libraries.
//!
//! The environment says what is emulated: `AMDINST_TARGET_CPU` (see `profile`) or, before it,
//! `AMDINST_EMULATED_CPU`, `AMDINST_GPUS`, `AMDINST_BUDGET`, `AMDINST_THREADS`, `AMDINST_SCHEDULE`,
//! `AMDINST_CHECK`, `AMDINST_FILL`, `AMDINST_OUT_OF_RANGE`. `AMDINST_GPU_FILES` is the folder in which the
//! GPU's files stand, without which this library does nothing. Named in `HSA_TOOLS_LIB` too, it sees the
//! code objects that are loaded: faults are then told with their source lines, and `AMDINST_INSTRUMENT` (1,
//! or `report`) has them instrumented, with counters where `AMDINST_COUNTERS` says.
//!
//! # Where `unsafe` is
//!
//! `preload` takes pointers from C, as the C library's functions do; `user_memory` has the system copy what a
//! call points to. `host_memory` maps pages and `device_file` makes files; `cells` views words that the
//! runtime shares; `allocations` and `gpu` hand memory to the emulator; `tools` stands before two functions
//! of the runtime. No panic leaves an exported function.
//!
//! # What is emulated
//! `topology` says what the GPU is, `kfd` and `drm` answer calls, `allocations` has what the GPU sees,
//! `events` what the host waits for, and each AQL queue has a thread (`queue`).
//!
//! A packet names a kernel by its descriptor. [`Machine::program_at`](amdinst_emu::Machine::program_at)
//! decodes what can be reached from its entry (all of the code, if it jumps by registers), once, and anew
//! when the bytes have changed. Nothing depends on the file of the code object; its symbols, as loaded, give
//! names (`image`).
//!
//! Scratch memory, traps and caches are the emulator's. What the runtime prepares for them is accepted and
//! not used. A fault is told on stderr where it happened; then it becomes the runtime's memory fault event or
//! an error of the queue. The runtime gets no DMA engine, so it copies with its own kernels.

mod allocations;
mod cells;
mod clock;
mod counting;
mod device_file;
mod devices;
mod dispatch_error;
mod driver;
mod drm;
mod errno;
mod events;
mod fault;
mod gpu;
mod host_memory;
mod image;
mod kept;
mod kfd;
mod objects;
pub mod preload;
mod profile;
mod queue;
mod settings;
pub mod signals;
mod sources;
mod stopping;
mod sysfs;
mod tell;
mod tools;
mod topology;
mod user_memory;
mod variables;

/// The variable that names the folder in which the files of emulated GPUs stand.
pub const FILES: &str = sysfs::VARIABLE;

/// The processors that can be emulated under the runtime.
pub fn processors() -> Vec<amdgpu_isa::Arch> {
    profile::Profile::all().map(|profile| profile.arch).collect()
}
