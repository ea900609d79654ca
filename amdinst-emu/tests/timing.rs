//! The timing model against what was measured on an MI210, against llvm-mca, and against itself.

mod support;

#[path = "timing/benchmark.rs"]
mod benchmark;
#[path = "timing/invariants.rs"]
mod invariants;
#[path = "timing/latency.rs"]
mod latency;
#[path = "timing/mca.rs"]
mod mca;
#[path = "timing/stream.rs"]
mod stream;
#[path = "timing/vector_cache.rs"]
mod vector_cache;
#[path = "timing/vega10.rs"]
mod vega10;
