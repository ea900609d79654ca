//! Code objects: what they hold, read from and written back to bytes.

mod descriptor;
mod metadata;

pub use descriptor::KernelDescriptor;
pub use metadata::{KernelArg, KernelMetadata};

use std::ops::Range;

use crate::TargetId;

/// A linked code object (`ET_DYN`) for one target.
#[derive(Clone, Debug)]
pub struct CodeObject {
    /// The whole ELF file.
    pub bytes: Vec<u8>,
    /// What it was built for.
    pub target: TargetId,
    /// Code object version (2 to 6).
    pub version: u8,
    /// The executable section.
    pub text: Text,
    /// Kernels, in order of entry address.
    pub kernels: Vec<Kernel>,
    /// Functions in `.text` that are not kernels, in order of address.
    pub functions: Vec<Function>,
    /// Loadable segments, in order of address.
    pub segments: Vec<Segment>,
    /// Dynamic relocations, in order of address.
    pub relocations: Vec<Relocation>,
    /// Other defined data symbols (`STT_OBJECT`), in order of address.
    pub variables: Vec<Variable>,
}

/// The `.text` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Virtual address of its first byte.
    pub address: u64,
    /// Where its bytes stand in [`CodeObject::bytes`].
    pub range: Range<usize>,
}

/// One kernel: entry point, descriptor and metadata.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name as in the note (`.name`), which a launcher asks for.
    pub name: String,
    /// Name of the descriptor's symbol (`.symbol`, ends in `.kd`).
    pub symbol: String,
    /// Virtual addresses of its code: entry to the end of its symbol.
    pub code: Range<u64>,
    /// Virtual address of its descriptor.
    pub descriptor_address: u64,
    /// The descriptor (64 bytes).
    pub descriptor: KernelDescriptor,
    /// What the note says of it.
    pub metadata: KernelMetadata,
}

/// A function that kernels call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Symbol name, mangled.
    pub name: String,
    /// Virtual addresses of its code.
    pub code: Range<u64>,
}

/// A loadable segment (`PT_LOAD`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Virtual address.
    pub address: u64,
    /// Bytes in memory; what the file does not fill is zero.
    pub size: u64,
    /// Where its bytes stand in [`CodeObject::bytes`].
    pub range: Range<usize>,
    /// Kernels may execute it.
    pub executable: bool,
    /// Kernels may write it.
    pub writable: bool,
}

/// A dynamic relocation that the loader applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Virtual address of the field.
    pub address: u64,
    /// How it is computed.
    pub kind: RelocationKind,
    /// The addend.
    pub addend: i64,
    /// The symbol's name and, if it is defined here, its virtual address.
    pub symbol: Option<(String, Option<u64>)>,
}

/// The relocation types of the AMDGPU user guide, "Relocation Records".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the guide's own names")]
pub enum RelocationKind {
    Abs64,
    Relative64,
    Abs32,
    Abs32Lo,
    Abs32Hi,
    Rel32,
    Rel64,
    Rel32Lo,
    Rel32Hi,
    Other(u32),
}

/// A data symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Symbol name.
    pub name: String,
    /// Virtual address.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
}
