//! Multiplicative hashing of small numbers, for tables of our own that forget.

/// An odd number near 2^64 divided by the golden ratio: the high bits of a product with it depend on all bits
/// of the number.
pub(crate) const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
