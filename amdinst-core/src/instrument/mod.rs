//! Finds the sites of a code object, plans their counters, and writes the instrumented code object.
//!
//! [`plan()`] looks and decides, [`apply()`] writes; `plan` alone is what `instrument --plan` and `inspect`
//! show.
//!
//! * [`Options`]: what is asked for.
//! * [`Plan`]: per kernel the sites, the counter home and its registers, the cost, and what was refused.
//! * [`ProbeMap`]: what stands beside the instrumented file; all that a reader of counters must know.
//!
//! # Rooms
//! Each folder answers one question: `find` what there is to instrument, `registers` where counters live and
//! which registers are free, `emit` which instructions count, `place` where these stand. `seed` has the
//! schemes of 2022. `plan` is the only one that sees them all. `DESIGN.md` says which may use which; a test
//! compares that with the imports.
//!
//! What is remembered from one code object to the next is kept by the room that found it; a [`Session`]
//! carries it along.

mod apply;
mod emit;
mod find;
mod options;
mod pair;
mod place;
mod plan;
mod refusal;
mod registers;
mod seed;
mod selector;
mod session;

pub use crate::analysis::hazards::{Neighbour, wait_states};
pub use amdinst_format::probes::{
    AddressMap, BlockProbe, Cost, ExecWrite, ExecWriteClass, FileLines, KernelProbes, LeftOut, Occupancy,
    Place, PlaceCollector, Places, ProbeMap, ProbeMapError, ProbeOutcome, ProbeResult, Run, SCHEMA, Site,
    SiteFrame, SiteKind, UniformBranch,
};
pub use apply::{Instrumented, apply};
pub use find::declared_lds::{DECLARED_LDS, moved_lds};
pub use find::formatting::formats_text;
pub use find::probe_section::{ProbeSectionError, SECTION as PROBE_SECTION, probe_specs};
pub use options::{
    Abi, BUFFER_ARGUMENT, BUFFER_SYMBOL, Counters, Home, Level, Options, Probe, ProbeKind, ProbeSpec,
    STRIDES_ARGUMENT,
};
pub use pair::{
    MAP_SECTION, PairError, ReadError, check as check_pair, digest, map_for, map_of, with_before,
};
pub use plan::{Plan, refused};
pub use refusal::{InstrumentError, Reason, Refusal};
pub use selector::{NoSuchSite, SiteSelector, SourceLines, SourceLinesError};
pub use session::{Session, plan};
