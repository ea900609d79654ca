//! Attributes for Rust GPU kernels: kernel, probe, test, shared.
