//! The form in which instructions are executed: operands resolved to rows and constants, a function to call.

use amdgpu_isa::{AtomicOp, Inst, Numbers, Op, Packing};

use super::{Context, Permutation, Versions};
use crate::check::{AccessKind, Outcome};
use crate::races::Access;
use crate::wave::{Registers, Src};

/// A function that executes one step.
pub(crate) type Handler = fn(&mut Context<'_>, &Step) -> Outcome;

/// No slot of exec-writing steps.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// What the run loop has to do besides calling the handler.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    /// Works on lanes: counts in lane-instructions.
    pub(crate) vector: bool,
    /// May end, halt or stop the wave, or change how it addresses registers.
    pub(crate) control: bool,
    /// Writes EXEC.
    pub(crate) writes_exec: bool,
    /// Sources need work before the operation (modifiers).
    pub(crate) before: bool,
    /// The result needs work after the operation.
    pub(crate) after: bool,
    /// Float arithmetic, subject to MODE.
    pub(crate) float: bool,
    /// Singles are among its operands.
    pub(crate) singles: bool,
    /// Halves or doubles, for which MODE has the same fields, are among its operands.
    pub(crate) halves_or_doubles: bool,
    /// Reads a clock.
    pub(crate) reads_clock: bool,
}

/// One instruction, ready to execute.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) run: Handler,
    pub(crate) op: Op,
    pub(crate) flags: Flags,
    /// What is done with the lanes, of vector arithmetic.
    pub(crate) lanes: &'static Versions,
    /// Bytes in memory.
    pub(crate) size: u8,
    /// Row of the vector result, the first of a tuple.
    pub(crate) dst: u16,
    /// Scalar result.
    pub(crate) sdst: u8,
    /// Rows of the result.
    pub(crate) dst_dwords: u8,
    /// Registers each source spans.
    pub(crate) src_dwords: [u8; 4],
    pub(crate) src: [Src; 4],
    /// An immediate: SIMM16, or the index of the step to branch to.
    pub(crate) imm: i64,
    /// Byte offset in the text.
    pub(crate) offset: u32,
    /// Registers that it names.
    pub(crate) registers: Registers,
    /// Number among the steps that write EXEC.
    pub(crate) slot: u32,
    /// What few instructions need.
    pub(crate) extra: Option<Box<Extra>>,
}

/// The rest of a step.
#[derive(Debug)]
pub(crate) struct Extra {
    pub(crate) inst: Inst,
    /// Kinds of the result and of each source.
    pub(crate) numbers: Numbers,
    /// The result goes to one half of the register and keeps the other.
    pub(crate) keep_half: bool,
    /// Sources that are high halves of their registers, a bit each.
    pub(crate) high_halves: u8,
    /// Memory access.
    pub(crate) memory: Option<MemoryAccess>,
    /// Scalar memory access.
    pub(crate) scalar: Option<ScalarAccess>,
    /// The two operations of an instruction that has two.
    pub(crate) pair: Option<Box<[Step; 2]>>,
    /// Where the lanes of the first source come from, with DPP.
    pub(crate) permutation: Option<Box<Permutation>>,
    /// Why it is not executed: a word that is no instruction, or one with registers that are not a kernel's.
    pub(crate) message: String,
}

/// How an access forms its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Space {
    Flat,
    Global,
    Scratch,
    Buffer,
    Lds,
}

/// Which half of a register a 16-bit load or store uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it: a load extends to 32 bits.
    Whole,
    Low,
    High,
    /// The low half; a load clears the other half.
    LowCleared,
    /// The high half; a load clears the other half.
    HighCleared,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// `bytes` of 1, 2, 4, 8, 12, 16; scalar loads up to 64.
    Load {
        bytes: u8,
        signed: bool,
        part: Part,
    },
    Store {
        bytes: u8,
        part: Part,
    },
    Atomic {
        op: AtomicOp,
        bytes: u8,
        returns: bool,
    },
}

impl Action {
    /// The access, as races see it; loads may pass the vector cache.
    pub(crate) fn access(self, passes_the_cache: bool) -> Access {
        let (kind, bytes, synchronises) = match self {
            Self::Load { bytes, .. } => (AccessKind::Read, bytes, passes_the_cache),
            Self::Store { bytes, .. } => (AccessKind::Write, bytes, false),
            Self::Atomic { bytes, returns, .. } => (AccessKind::Atomic, bytes, returns),
        };
        Access { kind, bytes: bytes.into(), synchronises }
    }
}

impl Action {
    /// Bytes at an address.
    pub(crate) const fn bytes(self) -> u8 {
        match self {
            Self::Load { bytes, .. } | Self::Store { bytes, .. } | Self::Atomic { bytes, .. } => bytes,
        }
    }
}

/// A vector memory access, or one of LDS.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryAccess {
    pub(crate) space: Space,
    pub(crate) action: Action,
    /// Row of the address (FLAT: two rows), if there is one.
    pub(crate) vaddr: Option<u16>,
    /// Scalar base: SADDR, or SOFFSET of a buffer.
    pub(crate) scalar: Src,
    /// First SGPR of the buffer resource.
    pub(crate) resource: u8,
    /// Rows of data read, and of the second data operand of LDS instructions.
    pub(crate) data: [u16; 2],
    /// Row of the result.
    pub(crate) dst: u16,
    pub(crate) offset: i64,
    /// Second offset of `ds_read2` and the like, in bytes; the first is `offset`.
    pub(crate) second: Option<i64>,
    pub(crate) idxen: bool,
    pub(crate) offen: bool,
    /// The address has four times the lane's number added.
    pub(crate) adds_lane: bool,
    /// Data move between memory and LDS, not registers.
    pub(crate) lds_dma: bool,
    /// Data are converted on their way.
    pub(crate) typed: Option<Typed>,
    /// Texture fail enable: a status word follows the data.
    pub(crate) tfe: bool,
}

/// How an access converts its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Components named by the instruction: 1 for `x` to 4 for `xyzw`.
    pub(crate) channels: u8,
    pub(crate) packing: Packing,
    /// A load clears the halves of its registers that it has no component for.
    pub(crate) clears: bool,
    /// MTBUF's data format (bits 0-3) and number format (bits 4-6); `None` where the buffer resource has
    /// them.
    pub(crate) format: Option<u8>,
}

/// What a scalar memory instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScalarAccess {
    pub(crate) kind: ScalarKind,
    /// Of 4 to 64 bytes.
    pub(crate) action: Action,
    /// First SGPR of the base address or the buffer resource.
    pub(crate) base: u8,
    /// First SGPR of the data.
    pub(crate) data: u8,
    /// Immediate offset in bytes.
    pub(crate) offset: i64,
    /// SGPR with an offset.
    pub(crate) soffset: Option<u8>,
}

/// How a scalar memory instruction forms its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScalarKind {
    Global,
    Buffer,
    /// A scratch access: the SGPR offset counts units of 64 bytes.
    Scratch,
}
