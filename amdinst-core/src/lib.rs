//! Read, decode, analyse, instrument and rewrite AMD GPU code objects. Bytes in, bytes out.
//!
//! The rooms, in the order data flows through them:
//!
//! * [`object`]: code objects (ELF, kernel descriptors, the metadata note, source lines), read and rewritten.
//! * [`isa`]: GFX9 instructions: decode, encode, text, and what each reads and writes.
//! * [`listing`]: the disassembly of a code object, line for line as `llvm-objdump -d` prints it.
//! * [`analysis`]: control-flow graph, liveness, EXEC structure, occupancy.
//! * [`instrument`]: sites, the probe plan, emission and relocation.
//! * [`counters`], [`manifest`], [`report`], [`schema`]: the formats that others read, from `amdinst_format`.
//!
//! Nothing here touches files, processes, threads or devices.

pub mod analysis;
pub mod arch;
pub mod instrument;
pub mod isa;
pub mod listing;
mod mixer;
pub mod names;
pub mod object;
pub mod report;

pub use amdinst_format::{counters, manifest, schema};
pub(crate) use mixer::{ByName, Mixer, Names};

pub use arch::{Arch, FeatureState, TargetId};
