//! Finds the sites of a code object, plans their counters, and writes the instrumented code object.
//!
//! [`plan()`] looks and decides, [`apply()`] writes; `plan` alone is what `instrument --plan` and `inspect` show.
//!
//! * [`Options`]: what is asked for.
//! * [`Plan`]: per kernel the sites, the counter home and its registers, the cost, and what was refused.
//! * [`ProbeMap`]: what stands beside the instrumented file; all that a reader of counters must know.

mod allocate;
mod apply;
mod assembler;
mod block_code;
mod borrowed;
mod deferred;
mod entry;
mod exit;
mod hazards;
mod layout;
mod lds;
mod options;
mod pair;
mod patches;
mod plan;
mod points;
mod pool;
mod probe_section;
mod probes;
mod recall;
mod refusal;
mod relocate;
mod seed;
mod select;
mod sequence;
mod session;
mod site_code;
mod sources;
mod stores;
mod stub;
mod summary;
mod survey;
mod wave_index;

pub use amdinst_format::probes::{
    AddressMap, BlockProbe, Cost, ExecWrite, ExecWriteClass, FileLines, KernelProbes, LeftOut, Occupancy,
    ProbeMap, ProbeMapError, ProbeOutcome, ProbeResult, Run, SCHEMA, Site, SiteFrame, SiteKind,
    UniformBranch,
};
pub use apply::{Instrumented, apply};
pub use hazards::{Neighbour, wait_states};
pub use options::{
    Abi, BUFFER_ARGUMENT, BUFFER_SYMBOL, Counters, Home, Level, Options, Probe, ProbeKind, ProbeSpec,
    STRIDES_ARGUMENT,
};
pub use pair::{
    MAP_SECTION, PairError, ReadError, check as check_pair, digest, map_for, map_of, with_before,
};
pub use plan::{Plan, plan};
pub use probe_section::{ProbeSectionError, SECTION as PROBE_SECTION, probe_specs};
pub use refusal::{InstrumentError, Reason, Refusal};
pub use select::{NoSuchSite, SiteSelector, SourceLines, SourceLinesError};
pub use session::Session;
