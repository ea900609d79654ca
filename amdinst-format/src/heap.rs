//! The memory that kernels allocate from.
//!
//! It begins with how many bytes are taken (u64, little-endian), up to a multiple of 16. Whoever launches a
//! kernel writes 0 there before.

/// Its symbol in the code object.
pub const SYMBOL: &str = "__amdinst_heap";
/// Bytes of its head.
pub const HEAD: usize = 16;
/// Its size in bytes, if nothing is said.
pub const DEFAULT_SIZE: u64 = 16 << 20;
