//! Control-flow graph, liveness, EXEC structure, occupancy.

mod occupancy;

pub use occupancy::{Limiter, Occupancy, Resources, SIMDS, max_waves_per_simd, occupancy};
