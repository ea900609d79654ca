//! How much of a kernel's LDS is its own.
//!
//! LLVM moves private arrays to LDS, a copy for each work-item of the largest workgroup. The link step leaves
//! what kernels with such arrays declare in the section [`DECLARED_LDS`]: a line each, the name, a tab, and
//! bytes.

use amdgpu_object::{CodeObject, Kernel};

/// Name of the section.
pub const DECLARED_LDS: &str = ".amdinst.lds";

/// Less than that may be what lies between variables.
const LEAST: u32 = 256;

/// Bytes of a kernel's LDS that are private arrays which LLVM moved there; 0 if none are known.
pub fn moved_lds(object: &CodeObject, kernel: &Kernel) -> u32 {
    let section = String::from_utf8_lossy(object.section_bytes(DECLARED_LDS).unwrap_or_default());
    let declared = section.lines().find_map(|line| {
        let (name, bytes) = line.split_once('\t')?;
        (name == kernel.name).then(|| bytes.parse().ok())?
    });
    let moved = declared.map_or(0, |bytes| kernel.metadata.group_segment_fixed_size.saturating_sub(bytes));
    if moved < LEAST { 0 } else { moved }
}
