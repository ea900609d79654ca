//! Which registers the probes use, and where each counter lives.
//!
//! * [`needs`]: what the code at a point has to hold.
//! * [`component`]: what registers kernels that share functions leave.
//! * [`allocate`]: what is handed out for a scheme ([`scheme`]), as a [`layout`].
//! * [`lds`]: where counters in LDS are; [`deferred`] and [`stores`]: registers for records that are written
//!   late, and packed.

pub(crate) mod allocate;
pub(crate) mod component;
pub(crate) mod deferred;
pub(crate) mod layout;
pub(crate) mod lds;
pub(crate) mod needs;
pub(crate) mod pool;
pub(crate) mod scheme;
pub(crate) mod stores;

use super::refusal::Reason;

/// No registers: why, and how many were missing.
pub(crate) type NoRegisters = (Reason, String);
