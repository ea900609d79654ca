//! Why a kernel or a site was not instrumented.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::SiteFrame;

/// The kind of reason, stable and machine-readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// Code for the kernel's processor is not instrumented.
    Processor,
    /// The kernel has a counter buffer already.
    AlreadyInstrumented,
    /// A write of EXEC that may narrow it, whose mask could not be traced to a condition.
    UnclassifiedNarrowing,
    /// A call or jump whose target is not known.
    IndirectTarget,
    /// `s_getpc_b64` whose use is not understood, so its value cannot be moved.
    UnresolvedGetpc,
    /// Bytes that are reached as code do not decode.
    Undecodable,
    /// Control flow leaves the section, or enters an instruction in its middle.
    BrokenControlFlow,
    /// The kernel's waves are of another size than those of most kernels in the code object.
    OtherWaveSize,
    /// The site stands in a function that a kernel which is not instrumented calls too.
    SharedFunction,
    /// No SGPRs for the values that the site must hold for a moment.
    NoFreeSgpr,
    /// No VGPR is free in all lanes.
    NoFreeVgpr,
    /// The counters of all sites do not fit in registers (`register` only).
    CountersDoNotFit,
    /// The counters of all waves of a workgroup do not fit in LDS beside the kernel's own (`lds` only).
    LdsLimit,
    /// No place in LDS is known to be free in every launch (`lds` only).
    LdsPlacement,
    /// A relative branch no longer reaches its target.
    BranchOutOfRange,
    /// The kernel's user SGPRs leave no room for the kernarg pointer.
    KernargPointer,
    /// Something to count stands where VGPR indexing may be on, or vector instructions skipped, so that none
    /// can be added.
    IndexedRegisters,
    /// The descriptor has no room for the needs of the probes (registers, kernarg size).
    DescriptorLimit,
    /// The code object's version lacks a feature that the rewrite needs.
    CodeObjectVersion,
    /// Kernel arguments are preloaded into SGPRs in a way that is not understood.
    KernargPreload,
}

/// A kernel or a site that was not instrumented, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The address of the site or instruction in the original code object; `None` for the kernel as a whole.
    pub pc: Option<u64>,
    /// Of a block that is not counted, the end of its addresses, of which `pc` is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_pc: Option<u64>,
    /// The kind of reason.
    pub reason: Reason,
    /// The finding, for people.
    pub detail: String,
    /// Where `pc`, or the obstacle to the whole kernel, is in the source, innermost inlined function first;
    /// empty without debug information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<SiteFrame>,
}

impl Refusal {
    /// Of a kernel as a whole.
    pub const fn of_kernel(reason: Reason, detail: String) -> Self {
        Self { pc: None, end_pc: None, reason, detail, frames: Vec::new() }
    }

    /// A refusal of the code at `pc`; the plan adds its place in the source.
    pub const fn at(pc: u64, reason: Reason, detail: String) -> Self {
        Self { pc: Some(pc), end_pc: None, reason, detail, frames: Vec::new() }
    }

    /// Of a block at these addresses; the plan adds its place in the source.
    pub const fn of_block(pcs: Range<u64>, reason: Reason, detail: String) -> Self {
        Self { pc: Some(pcs.start), end_pc: Some(pcs.end), reason, detail, frames: Vec::new() }
    }

    /// Whether it tells of the instruction at an address that it is in no block.
    pub fn has_block_of(&self, pc: u64) -> bool {
        matches!((self.pc, self.end_pc), (Some(start), Some(end)) if (start..end).contains(&pc))
    }
}
