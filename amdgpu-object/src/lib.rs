//! AMD GPU code objects: what they hold, read from and written back to bytes.
//!
//! * [`CodeObject`]: sections, kernels with their descriptors ([`KernelDescriptor`]) and metadata
//!   ([`KernelMetadata`]), segments, relocations.
//! * [`container`]: bundles, compressed bundles and host files that hold code objects.
//! * [`labels`]: which symbol a disassembly shows where.
//! * [`lines`]: the source lines of addresses, inlined calls included (DWARF).
//! * [`rewrite`](mod@rewrite): a code object with other code, everything that points at code moved along;
//!   [`verify`](mod@verify) checks one.
//! * [`join_metadata`]: one note of those that a linker left side by side.
//! * [`occupancy`](fn@occupancy): how many waves of a kernel fit, by what it allocates.
//!
//! Bytes in, bytes out. Nothing here knows an instruction.

#![forbid(unsafe_code)]

pub mod container;

mod bytes;
mod descriptor;
pub(crate) mod elf;
mod error;
mod inflate;
mod joined;
pub mod labels;
pub mod lines;
mod messagepack;
mod metadata;
mod note;
mod occupancy;
mod parse;
mod registers;
pub mod rewrite;
mod symbols;
mod target;
pub(crate) mod v2;
pub mod verify;

pub use bytes::Bytes;
pub use descriptor::{FloatDenorm, FloatRound, KernelDescriptor, RegisterLimit, VectorRegisters};
pub use error::{KernelProblem, ObjectError};
pub use joined::join_metadata;
pub use metadata::{KernelArg, KernelMetadata};
pub use occupancy::{
    Limiter, Occupancy, OccupancyStep, OccupancyTables, Resources, occupancy, occupancy_in_slots,
    workgroups_at_a_time,
};
pub use registers::{KernargPreload, SystemSgprs, TooManyUserSgprs, UserSgpr, UserSgprs};

use std::fmt;
use std::ops::Range;

use amdgpu_isa::{Target, TargetId, WaveSize};

/// A linked code object (`ET_DYN`) for one target.
#[derive(Clone)]
pub struct CodeObject {
    /// The whole ELF file.
    pub bytes: Bytes,
    /// Its target.
    pub target: TargetId,
    /// Code object version (2 to 6).
    pub version: u8,
    /// The executable section `.text`.
    pub text: Text,
    /// Code of a rewritten code object that stayed where it was ([`KEPT_SECTION`]), in front of `.text`.
    pub kept: Option<Text>,
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

impl CodeObject {
    /// What its code is for: the processor, and the size of waves that most of its kernels have.
    pub fn code_target(&self) -> Target {
        let arch = self.target.arch;
        let default = arch.default_wave();
        let others = self.kernels.iter().map(|kernel| kernel.descriptor.wave_size(arch));
        let others: Vec<WaveSize> = others.filter(|&wave| wave != default).collect();
        let wave = others.first().filter(|_| 2 * others.len() > self.kernels.len());
        Target { arch, wave: wave.copied().unwrap_or(default) }
    }

    /// The version of the generic processor that it was built for; `None` if that is no generic one.
    pub fn generic_version(&self) -> Option<u8> {
        let flags = self.bytes.get(target::FLAGS)?.try_into().ok()?;
        target::generic_version(self.target.arch, u32::from_le_bytes(flags))
    }

    /// The bytes of `.text`.
    pub fn text_bytes(&self) -> &[u8] {
        &self.bytes[self.text.range.clone()]
    }

    /// The sections with code, in order of address.
    pub fn code(&self) -> impl Iterator<Item = &Text> {
        self.kept.iter().chain([&self.text])
    }

    /// The virtual addresses from the first section with code to the end of the last.
    pub fn code_span(&self) -> Range<u64> {
        let first = self.kept.as_ref().unwrap_or(&self.text);
        first.address..self.text.memory().end
    }

    /// The bytes of code from a virtual address on, to the end of its section.
    pub fn code_at(&self, address: u64) -> Option<&[u8]> {
        let section = self.code().find(|section| section.memory().contains(&address))?;
        let offset = (address - section.address) as usize;
        self.bytes.get(section.range.clone())?.get(offset..)
    }

    /// `size` bytes of initialized memory at a virtual address, if one segment's file contents cover them.
    pub fn bytes_at(&self, address: u64, size: usize) -> Option<&[u8]> {
        let next = self.segments.partition_point(|segment| segment.address <= address);
        let segment = &self.segments[next.checked_sub(1)?];
        let start = usize::try_from(address - segment.address).ok()?;
        self.bytes[segment.range.clone()].get(start..start.checked_add(size)?)
    }

    /// The contents of the section of that name in the file, if there is one.
    pub fn section_bytes(&self, name: &str) -> Option<&[u8]> {
        // The headers were valid when the code object was read.
        let elf = elf::Elf::read(&self.bytes).ok()?;
        let section = elf.sections.iter().find(|section| section.name == name)?;
        self.bytes.get(section.file_range())
    }

    /// The kernel of that name, as the note has it; the descriptor symbol's name (`….kd`) is accepted too.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels
            .iter()
            .find(|kernel| kernel.name == name)
            .or_else(|| self.kernels.iter().find(|kernel| kernel.symbol == name))
    }
}

/// Without the file's bytes, which would drown the rest.
impl fmt::Debug for CodeObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CodeObject")
            .field("target", &self.target)
            .field("version", &self.version)
            .field("text", &self.text)
            .field("kept", &self.kept)
            .field("kernels", &self.kernels)
            .field("functions", &self.functions)
            .field("segments", &self.segments)
            .field("relocations", &self.relocations)
            .field("variables", &self.variables)
            .finish_non_exhaustive()
    }
}

/// Name of the section with the code that a rewrite left where it was.
pub const KEPT_SECTION: &str = ".text.kept";

/// Bytes that such a section may lie in front of `.text`, at most: who runs the code has a place for each
/// dword in between.
pub const KEPT_REACH: u64 = 256 << 20;

/// A section with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Virtual address of its first byte.
    pub address: u64,
    /// Where its bytes stand in [`CodeObject::bytes`].
    pub range: Range<usize>,
}

impl Text {
    /// Its virtual addresses.
    pub const fn memory(&self) -> Range<u64> {
        self.address..self.address + (self.range.end - self.range.start) as u64
    }
}

/// One kernel: entry point, descriptor and metadata.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Name as in the note (`.name`), which a launcher asks for.
    pub name: String,
    /// Name of the descriptor's symbol (`.symbol`, ends in `.kd`; in code object version 2 the kernel's own).
    pub symbol: String,
    /// Virtual addresses of its code: entry to the end of its symbol. Empty if it has no instructions and
    /// other code stands there, as compilers leave of a kernel that must not be launched.
    pub code: Range<u64>,
    /// Virtual address of its descriptor; in code object version 2 of its `amd_kernel_code_t`.
    pub descriptor_address: u64,
    /// The descriptor (64 bytes), or one with the facts that the `amd_kernel_code_t` does.
    pub descriptor: KernelDescriptor,
    /// Its part of the note.
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
    /// Bytes in memory; bytes that the file does not fill are zero.
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
