//! The formats that others read: counter records, probe map, manifest, and the reports of launches and runs.
//!
//! * [`counters`]: the layout of counter records, and the figures read from them.
//! * [`probes`]: the probe map beside an instrumented code object.
//! * [`manifest`]: what the build of a package made.
//! * [`printed`]: what kernels print; [`panics`]: what their panics say; [`heap`]: what they allocate from.
//! * [`report`]: the divergence report of a launch, its comparison with an emulator's own count, and saved
//!   runs.
//! * [`interface`]: what test programs and the runtime say to each other.
//! * [`schema`]: documents that say which version of their shape they have.
//!
//! Nothing here reads code objects or touches files, processes, threads or devices.

#![forbid(unsafe_code)]

pub mod counters;
pub mod heap;
pub mod interface;
pub mod manifest;
pub mod names;
pub mod panics;
pub mod printed;
pub mod probes;
pub mod report;
pub mod schema;
