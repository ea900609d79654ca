//! Nine kernels of the Rodinia benchmark suite (Che et al., "Rodinia: A Benchmark Suite for Heterogeneous Computing",
//! IISWC 2009), written anew from descriptions of what they compute.
//!
//! Each file holds the kernel and, for the host, a reference that computes the same from the same input, operation by
//! operation, so that results are compared for equality. The figures of divergence that the tests expect are derived by
//! hand from the geometry of the launch or counted on the host.

#![cfg_attr(target_arch = "amdgpu", no_std)]

pub mod adjust_weights;
pub mod euclid;
pub mod fan1;
pub mod fan2;
pub mod find_k;
pub mod hotspot;
pub mod invert_mapping;
pub mod kmeans_point;
pub mod layer_forward;
