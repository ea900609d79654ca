//! What there is to instrument.
//!
//! * [`survey`]: the analysed program, who reaches what, and which kernels can be instrumented at all;
//!   [`summary`] and [`lds_use`]: what functions do with registers and LDS; [`known_masks`]: masks of kernels
//!   that were seen before.
//! * [`points`]: where something is counted.
//! * [`probes`], [`probe_section`], [`select`] and [`sources`]: which of it the source and the caller name.

pub(crate) mod declared_lds;
pub(crate) mod formatting;
pub(crate) mod known_masks;
pub(crate) mod lds_use;
pub(crate) mod points;
pub(crate) mod probe_section;
pub(crate) mod probes;
pub(crate) mod select;
pub(crate) mod sources;
pub(crate) mod summary;
pub(crate) mod survey;
