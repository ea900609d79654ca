//! The 64-byte kernel descriptor (AMDGPU user guide, "Kernel Descriptor").
//!
//! Kept as its raw words with accessors, so that what is not understood survives a rewrite.

/// A kernel descriptor as it stands in `.rodata`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// The 64 bytes.
    pub bytes: [u8; 64],
}
