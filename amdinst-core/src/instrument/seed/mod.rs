//! The two counting schemes of "Efficient Binary Instrumentation for GPU Profiling" (Scalable Tools Workshop
//! 2022), and what they were measured against: what ours are compared with in evaluations, and of no other
//! use.
//!
//! Two counters a site, eight bytes: *agree* (EXEC did not change, or became empty) and *total*. Behind the
//! narrowing instruction one lane compares OLD with NEW and NEW with zero, and adds each result to *agree*,
//! then one to *total*: three atomics, in LDS or in memory. With LDS the counters are copied to memory before
//! the wave ends. The clock is read when a wave starts and when it ends, and both readings are written behind
//! the counters.
//!
//! Instruction by instruction these are the sequences of code objects that the tool's author published beside
//! it, which say more than the slides (`bbiiggppiigg/KernelReorderTool`, July 2022:
//! `backprop/backprop.{base,instr}.k1.new` and `b+tree/tmp_00.hsaco`): each atomic in LDS is waited for, of
//! the three in memory the last; at the end each read of LDS and each store is. Where something is counted
//! the clock is read first of all, else behind the prologue, so that what is compared with lacks that.
//! Registers are chosen as for our own schemes, where those have fixed ones, and the wave's place is worked
//! out from the strides that come with the argument, where those have the launch's shape as constants.
//!
//! Of the forms that a narrowing has they know one, `s_and_saveexec_b64`: in the `findK` of those code
//! objects three are counted, and two `s_and_b64 exec` are not.
//!
//! The buffer has our header, then for each wave eight bytes a site and sixteen of the clock: not the records
//! that `counters` decodes.

mod code;
mod registers;

use amdgpu_isa::Op;
use amdgpu_object::Kernel;

use super::registers::lds::{LdsImages, Start};
pub(crate) use registers::{SeedRegisters, allocate};

/// Bytes of a site's counters.
const SITE_BYTES: u32 = 8;
/// Bytes of the clock's two readings.
const CLOCK_BYTES: u32 = 16;
/// Atomics that count an execution.
pub(crate) const OPERATIONS: u32 = 3;

/// Whether what narrows EXEC so is counted.
pub(crate) fn counts(op: Op) -> bool {
    op == Op::s_and_saveexec_b64
}

/// Bytes from one wave's counters to the next in memory.
pub(crate) const fn stride(sites: u32) -> u32 {
    image_bytes(sites) + CLOCK_BYTES
}

/// Bytes of a wave's counters in LDS.
pub(crate) const fn image_bytes(sites: u32) -> u32 {
    SITE_BYTES * sites
}

/// The images right behind the static LDS of `kernel`, dynamic LDS or not: the code of 2022 has their address
/// as a constant.
pub(crate) fn behind_static_lds(images: LdsImages, kernel: &Kernel) -> LdsImages {
    let start = kernel.metadata.group_segment_fixed_size.next_multiple_of(8);
    let group_segment_size = start + images.image_bytes * images.waves;
    LdsImages { start: Start::At(start), group_segment_size, ..images }
}
