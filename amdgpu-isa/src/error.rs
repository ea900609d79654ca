//! What can go wrong when bytes are decoded or instructions encoded.

use super::{Encoding, Op};
use crate::{Arch, MaskOp, WaveSize};

/// Why bytes are no instruction of a processor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside the instruction.
    #[error("the instruction is cut off: {needed} bytes are needed, {available} are left")]
    Truncated {
        /// Bytes that the instruction needs.
        needed: usize,
        /// Bytes that are there.
        available: usize,
    },
    /// No encoding of the processor's generation begins like this.
    #[error("{word:#010x} begins no encoding of the processor")]
    UnknownEncoding {
        /// The first dword.
        word: u32,
    },
    /// The encoding has no such opcode on this processor.
    #[error("{words:08x?}: {arch} has no {encoding:?} opcode {opcode:#x}")]
    UnknownOpcode {
        /// The processor.
        arch: Arch,
        /// The encoding.
        encoding: Encoding,
        /// The opcode field.
        opcode: u16,
        /// The first two dwords (the second is zero when the encoding has one).
        words: [u32; 2],
    },
    /// An operand or modifier field has a value that the instruction does not take.
    #[error("{words:08x?}: {op}: {reason}")]
    IllegalOperand {
        /// The mnemonic.
        op: Op,
        /// The field, and its problem.
        reason: Illegal,
        /// The first two dwords.
        words: [u32; 2],
    },
    /// Bits are set that the instruction gives no meaning to.
    #[error("{words:08x?}: {op}: reserved bits {bits:#018x} are set")]
    ReservedBits {
        /// The mnemonic.
        op: Op,
        /// The bits, counted through the first two dwords.
        bits: u64,
        /// The first two dwords.
        words: [u32; 2],
    },
}

/// Why an instruction has no encoding.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Waves of this size have no such operation on lane masks.
    #[error("no operation {what:?} on masks of {} lanes", wave.lanes())]
    NoMaskOp {
        /// The operation.
        what: MaskOp,
        /// The size of the waves.
        wave: WaveSize,
    },
    /// The processor lacks the instruction in this encoding.
    #[error("{arch} has no {op} in encoding {encoding:?}")]
    UnknownOp {
        /// The processor.
        arch: Arch,
        /// The mnemonic.
        op: Op,
        /// The encoding.
        encoding: Encoding,
    },
    /// The number of operands is wrong.
    #[error("{op} ({encoding:?}) takes {expected} operands, not {given}")]
    OperandCount {
        /// The mnemonic.
        op: Op,
        /// The encoding.
        encoding: Encoding,
        /// Operands it takes with these modifiers.
        expected: usize,
        /// Operands given.
        given: usize,
    },
    /// An operand cannot be encoded.
    #[error("{op} ({encoding:?}), operand {index}: {reason}")]
    IllegalOperand {
        /// The mnemonic.
        op: Op,
        /// The encoding.
        encoding: Encoding,
        /// Which operand, counted from 0 in the order of the text.
        index: usize,
        /// Its problem.
        reason: Illegal,
    },
    /// A modifier is set that the instruction does not take, or its value is out of range.
    #[error("{op} ({encoding:?}): modifier {modifier} is not available or out of range")]
    IllegalModifier {
        /// The mnemonic.
        op: Op,
        /// The encoding.
        encoding: Encoding,
        /// The modifier.
        modifier: String,
    },
}

/// The problem of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Illegal {
    /// The code stands for nothing on this processor.
    #[error("operand code {0} is reserved")]
    ReservedCode(u16),
    /// A tuple starts at a register it may not start at.
    #[error("the {dwords}-register tuple at {first} is not aligned")]
    Alignment {
        /// Its first register.
        first: u16,
        /// Its width.
        dwords: u8,
    },
    /// A tuple runs past the last register of its file.
    #[error("the {dwords}-register tuple at {first} runs past the register file")]
    Range {
        /// Its first register.
        first: u16,
        /// Its width.
        dwords: u8,
    },
    /// This kind of operand cannot stand here (a literal in VOP3, a constant where a register is needed, …).
    #[error("{0} cannot stand here")]
    Kind(&'static str),
    /// A field has a value without meaning.
    #[error("the value of {0} has no meaning")]
    Field(&'static str),
    /// A number does not fit its field.
    #[error("{0} does not fit its field")]
    Immediate(i64),
    /// An instruction can have one literal only.
    #[error("two different literals")]
    TwoLiterals,
    /// A vector instruction reads one scalar value (register, tuple or literal) at most.
    #[error("more than one scalar value is read")]
    ConstantBus,
    /// A matrix accumulator overlaps the destination in part.
    #[error("the accumulator overlaps the destination in part")]
    Overlap,
}
