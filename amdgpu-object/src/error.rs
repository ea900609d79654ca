//! What can be wrong with the bytes of a code object.

/// Why bytes are not a code object that this crate can work with.
///
/// Each message names the problem, its place, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// No ELF magic.
    #[error(
        "not an ELF file (it starts with {start}): give a linked AMDGPU code object, an offload bundle, or a host \
         file that embeds one"
    )]
    NotElf {
        /// The first bytes, in hexadecimal.
        start: String,
    },
    /// ELF, but 32 bits wide or big-endian.
    #[error(
        "the ELF header says {found}: AMDGPU code objects are 64-bit little-endian; give one built for amdgcn"
    )]
    Class {
        /// Class and byte order found.
        found: &'static str,
    },
    /// ELF for some other machine.
    #[error(
        "the ELF header says machine {machine}, AMDGPU is 224: give a code object built for amdgcn-amd-amdhsa"
    )]
    Machine {
        /// `e_machine`.
        machine: u16,
    },
    /// A relocatable object.
    #[error("an unlinked AMDGPU object (ET_REL): link it first, `ld.lld -shared -o linked.elf FILE`")]
    Unlinked,
    /// Neither relocatable nor a shared object.
    #[error(
        "the ELF header says file type {file_type}, a code object is a shared object (ET_DYN, 3): link it with `ld.lld -shared`"
    )]
    FileType {
        /// `e_type`.
        file_type: u16,
    },
    /// Not for the HSA runtime.
    #[error("the ELF header says OS ABI {os_abi}, HSA is 64: build for the target amdgcn-amd-amdhsa")]
    OsAbi {
        /// `e_ident[EI_OSABI]`.
        os_abi: u8,
    },
    /// An ABI version from the future.
    #[error(
        "the ELF header says ABI version {abi_version}; known are 0 to 4 (code object versions 2 to 6): rebuild with -mcode-object-version=6 or older"
    )]
    AbiVersion {
        /// `e_ident[EI_ABIVERSION]`.
        abi_version: u8,
    },
    /// A processor whose code is not read.
    #[error("built for {} (EF_AMDGPU_MACH {mach:#04x}), which is not supported: rebuild for one of GFX9 to GFX12, as gfx90a, gfx1100 or gfx11-generic", name.unwrap_or("an unknown processor"))]
    Processor {
        /// The low byte of `e_flags`.
        mach: u8,
        /// LLVM's name of it, if it has one.
        name: Option<&'static str>,
    },
    /// A structure of the file that is cut short, out of bounds, overlapping or inconsistent.
    #[error("{part} (at {at:#x}): {problem}; the file is damaged: build or copy it again")]
    Malformed {
        /// Which structure.
        part: String,
        /// Its offset in the file, or the virtual address if it has no place in the file.
        at: u64,
        /// Its problem.
        problem: String,
    },
    /// Well-formed, but needs something this crate does not do.
    #[error("{part}: {feature} is not supported; {advice}")]
    Unsupported {
        /// Which structure.
        part: String,
        /// The feature that it needs.
        feature: &'static str,
        /// What to do instead.
        advice: &'static str,
    },
    /// Symbols, descriptor and metadata of a kernel that do not fit together.
    #[error("kernel `{kernel}`: {problem}; rebuild the code object")]
    Kernel {
        /// Its name.
        kernel: String,
        /// What does not fit.
        problem: KernelProblem,
    },
}

impl ObjectError {
    pub(crate) fn malformed(part: impl Into<String>, at: u64, problem: impl Into<String>) -> Self {
        Self::Malformed { part: part.into(), at, problem: problem.into() }
    }
}

/// The contradiction in one kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelProblem {
    /// The metadata names a descriptor that no symbol defines.
    #[error("the metadata names the descriptor symbol `{symbol}`, which is not defined")]
    NoDescriptor {
        /// `.symbol` of the metadata.
        symbol: String,
    },
    /// Two metadata entries for one name.
    #[error("the metadata lists it twice")]
    Duplicate,
    /// The descriptor does not lie in initialized memory.
    #[error("its descriptor at address {address:#x} is not inside the initialized part of a segment")]
    DescriptorOutside {
        /// Virtual address of the descriptor.
        address: u64,
    },
    /// The descriptor is not aligned to 64 bytes.
    #[error("its descriptor at address {address:#x} is not aligned to 64 bytes")]
    DescriptorMisaligned {
        /// Virtual address of the descriptor.
        address: u64,
    },
    /// The entry point is not in `.text`.
    #[error("its entry point {entry:#x} is not inside .text")]
    EntryOutside {
        /// Virtual address that the descriptor names.
        entry: u64,
    },
    /// The entry point is not aligned to 256 bytes.
    #[error("its entry point {entry:#x} is not aligned to 256 bytes")]
    EntryMisaligned {
        /// Virtual address that the descriptor names.
        entry: u64,
    },
    /// Descriptor and function symbol disagree.
    #[error("its descriptor enters at {entry:#x}, its function symbol stands at {symbol:#x}")]
    EntryMismatch {
        /// Virtual address that the descriptor names.
        entry: u64,
        /// Value of the function's symbol.
        symbol: u64,
    },
    /// An `amd_kernel_code_t` (code object version 2) that asks for a feature that is not there.
    #[error("its amd_kernel_code_t has {what}")]
    CodeHeader {
        /// The feature that it asks for.
        what: String,
    },
    /// A key of the metadata has a value of the wrong type or range.
    #[error("metadata key `{key}` is {found}, expected {expected}")]
    Metadata {
        /// The key.
        key: &'static str,
        /// The value there.
        found: String,
        /// What should.
        expected: &'static str,
    },
}
