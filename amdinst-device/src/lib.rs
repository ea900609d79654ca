//! What Rust GPU kernels for AMD link against.
