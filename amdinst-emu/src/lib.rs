//! Execute AMD GPU code objects without a GPU.
//!
//! A [`Machine`] owns the device's memory. [`Machine::load`] maps a code object and decodes its text once;
//! [`Machine::launch`] runs a kernel and returns an [`Execution`], or a located [`Fault`].
//!
//! ```no_run
//! # use amdgpu_isa::Arch;
//! # use amdgpu_object::CodeObject;
//! # use amdinst_emu::{Config, Launch, Machine};
//! # fn demo(object: &CodeObject) -> Result<(), Box<dyn std::error::Error>> {
//! let mut machine = Machine::new(Arch::Gfx90a, Config::default());
//! let buffer = machine.alloc(256, 16, "out")?;
//! let program = machine.load(object)?;
//! let launch = Launch {
//!     grid: [1, 1, 1],
//!     block: [64, 1, 1],
//!     kernarg: buffer.to_le_bytes().to_vec(),
//!     ..Launch::new("fill")
//! };
//! let execution = machine.launch(&program, &launch)?;
//! assert_eq!(execution.waves, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Rules
//!
//! * **Memory.** Allocations are bounds-checked to the byte, start zeroed, and addresses are never used
//!   twice, so an access through a stale pointer is named as such. Guard gaps lie between allocations.
//! * **Order.** The waves of a workgroup run in order, each until it waits at a barrier, ends, or has used up
//!   its time slice. Workgroups run on several threads only if the kernel holds nothing whose result depends
//!   on their order: see `dispatch::order`. One input then gives one result, whatever the number of threads,
//!   unless workgroups race by plain loads and stores. With [`Config::deterministic`] it does so even then.
//! * **Registers.** A wave has those that its kernel's descriptor allots. An instruction that names another,
//!   or reaches it by an index, is a fault.
//! * **Barriers.** A wave that has ended counts as arrived, as on hardware, and lanes that are switched off
//!   do not count; [`Config::strict_barriers`] makes a fault of both. [`Config::check_races`] makes one of
//!   accesses to LDS or device memory that nothing orders, and of stores by which lanes write different
//!   values to one place.
//! * **Uninitialized** registers, LDS and scratch memory hold [`Config::uninitialised`], so that what depends
//!   on them shows.
//!
//! # Rooms
//!
//! From the ground up; each sees those below it, and a test holds that none sees one above:
//!
//! * `vectors`, `config`, `rules`, `check`, `record`: settings, facts of generations, faults, and figures of
//!   a launch.
//! * `memory`; `wave`, the state of one wave; `watch` and `races`, who has accessed what; `lds`.
//! * `program`: steps, and the surroundings in which one is executed.
//! * `exec`: every case of every instruction. `fast`: common ones, for the host's vectors.
//! * `load`: code objects into programs. It alone chooses what executes an instruction.
//! * `dispatch`: launches. `machine`, `snippet`, `fidelity`, `timing`, `trace`: what others use.

pub mod check;
mod config;
mod dispatch;
mod exec;
mod fast;
pub mod fidelity;
mod lds;
mod load;
mod machine;
mod memory;
mod program;
mod races;
mod record;
mod rules;
mod snippet;
pub mod timing;
pub mod trace;
mod vectors;
mod watch;
mod wave;

pub use check::{
    AccessKind, Earlier, Fault, FaultKind, Holder, Inside, LaneState, MemorySpace, NearestAllocation,
    NotFinite, RegisterBank, Stand, StandingWave, Wanted,
};
pub use config::{Config, OutOfRange, Schedule, StopFlag, Uninitialised, Unmarked};
pub use dispatch::{Dispatch, Launch, Stop};
pub use fidelity::{Fidelity, fidelity};
pub use load::{LoadError, Resident};
pub use machine::{Machine, Snapshot};
pub use memory::{MemoryError, PRIVATE_APERTURE, Room, SHARED_APERTURE};
pub use program::Program;
pub use record::{Execution, MaskRecord, MemoryRecord, MemorySums, Sampled, StepRecord};
pub use snippet::{Snippet, SnippetError, VectorRegister, WaveState};
pub use vectors::Vectors;
