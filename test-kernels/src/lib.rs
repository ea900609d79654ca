//! Kernels that a user could have written, with tests that assert on their divergence.
