//! Code object version 2 (AMDGPU user guide, "Code Object V2"), which compilers wrote until LLVM 9 and could
//! write until LLVM 14.
//!
//! It differs from later versions in how a kernel is described: its symbol has a type of its own and stands
//! at an `amd_kernel_code_t` of 256 bytes in front of the code, and the metadata note is YAML. Both are read
//! as what version 3 has instead, so that nobody else has to know of them; both are changed as what they are.
//!
//! The headers move with the code and stay right in front of it. What is not understood in header and YAML
//! survives. Arguments have no offsets: each follows the argument before it. The address of the counter
//! buffer has to follow in the same way, or the code object is refused. The processors are gfx900 to gfx906
//! and gfx90c.

mod header;
mod metadata;
mod yaml;

pub(crate) use header::HEADER_SIZE;
pub(super) use header::Header;
pub(super) use metadata::Metadata;

/// `STT_AMDGPU_HSA_KERNEL`.
pub(crate) const STT_KERNEL: object::elf::SymbolType = object::elf::SymbolType(10);
