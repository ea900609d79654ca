//! The probe map: what a reader of counters must know of an instrumented code object.

mod choice;
mod limiter;
mod map;
mod places;
mod refusal;
mod spec;

pub use choice::{BUFFER_ARGUMENT, BUFFER_SYMBOL, Home, Level, STRIDES_ARGUMENT};
pub use limiter::Limiter;
pub use map::{
    AddressMap, BlockProbe, Cost, ExecWrite, ExecWriteClass, FileLines, KernelProbes, LeftOut, Occupancy,
    ProbeMap, ProbeMapError, ProbeOutcome, ProbeResult, Run, SCHEMA, Site, SiteKind, UniformBranch,
};
pub use places::{Place, PlaceCollector, PlaceFrame, Places, SiteFrame};
pub use refusal::{Reason, Refusal};
pub use spec::{ProbeKind, ProbeSpec};
