//! Scalar operations on lane masks, apart from the width of a mask.
//!
//! A lane mask is as wide as the wave: a pair of SGPRs where it has 64 lanes, one SGPR where it has 32. Each
//! operation has an opcode for either; code that asks for a [`MaskOp`] holds for both.

use crate::{Op, WaveSize};

/// A bitwise operation on two masks, the first source first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Logic {
    /// `a & b`.
    And,
    /// `a & !b`.
    AndNot,
    /// `!a & b`.
    NotAnd,
    /// `a | b`.
    Or,
    /// `a | !b`.
    OrNot,
    /// `!a | b`.
    NotOr,
    /// `a ^ b`.
    Xor,
    /// `!(a ^ b)`.
    Xnor,
    /// `!(a & b)`.
    Nand,
    /// `!(a | b)`.
    Nor,
}

/// What a scalar instruction does with lane masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskOp {
    /// Copies a mask.
    Move,
    /// Inverts a mask.
    Not,
    /// Takes the first mask if SCC is set, else the second.
    Select,
    /// Combines two masks.
    Combine(Logic),
    /// Copies EXEC, then combines the source with EXEC, in this order, into EXEC.
    Saveexec(Logic),
    /// Combines the source with EXEC, in this order, into EXEC, and copies that.
    Wrexec(Logic),
    /// Counts the lanes of a mask.
    CountLanes,
    /// Makes a mask of so many lanes from a lane on.
    LanesFrom,
    /// Shifts a mask to higher lanes.
    ShiftUp,
    /// Tells by SCC whether two masks are equal.
    Equal,
    /// Tells by SCC whether two masks differ.
    Differ,
}

/// One line an operation: what it does, the opcode for masks of 64 lanes, and that for masks of 32.
macro_rules! mask_ops {
    ($($does:pat, $value:expr => $wave64:ident $wave32:ident;)*) => {
        impl MaskOp {
            /// What an opcode does with lane masks in waves of a size; `None` if it does none of these.
            pub const fn of(op: Op, wave: WaveSize) -> Option<Self> {
                match wave {
                    WaveSize::Wave64 => match op {
                        $(Op::$wave64 => Some($value),)*
                        _ => None,
                    },
                    WaveSize::Wave32 => match op {
                        $(Op::$wave32 => Some($value),)*
                        _ => None,
                    },
                }
            }

            /// The opcode that does it in waves of a size, if they have one.
            pub const fn op(self, wave: WaveSize) -> Option<Op> {
                match (wave, self) {
                    $((WaveSize::Wave64, $does) => Some(Op::$wave64),)*
                    $((WaveSize::Wave32, $does) => Some(Op::$wave32),)*
                    _ => None,
                }
            }
        }
    };
    ($($does:ident $(($logic:ident))? => $wave64:ident $wave32:ident;)*) => {
        mask_ops! { $(MaskOp::$does $((Logic::$logic))?, MaskOp::$does $((Logic::$logic))? => $wave64 $wave32;)* }
    };
}

mask_ops! {
    Move => s_mov_b64 s_mov_b32;
    Not => s_not_b64 s_not_b32;
    Select => s_cselect_b64 s_cselect_b32;
    Combine(And) => s_and_b64 s_and_b32;
    Combine(AndNot) => s_andn2_b64 s_andn2_b32;
    Combine(Or) => s_or_b64 s_or_b32;
    Combine(OrNot) => s_orn2_b64 s_orn2_b32;
    Combine(Xor) => s_xor_b64 s_xor_b32;
    Combine(Xnor) => s_xnor_b64 s_xnor_b32;
    Combine(Nand) => s_nand_b64 s_nand_b32;
    Combine(Nor) => s_nor_b64 s_nor_b32;
    Saveexec(And) => s_and_saveexec_b64 s_and_saveexec_b32;
    Saveexec(AndNot) => s_andn2_saveexec_b64 s_andn2_saveexec_b32;
    Saveexec(NotAnd) => s_andn1_saveexec_b64 s_andn1_saveexec_b32;
    Saveexec(Or) => s_or_saveexec_b64 s_or_saveexec_b32;
    Saveexec(OrNot) => s_orn2_saveexec_b64 s_orn2_saveexec_b32;
    Saveexec(NotOr) => s_orn1_saveexec_b64 s_orn1_saveexec_b32;
    Saveexec(Xor) => s_xor_saveexec_b64 s_xor_saveexec_b32;
    Saveexec(Xnor) => s_xnor_saveexec_b64 s_xnor_saveexec_b32;
    Saveexec(Nand) => s_nand_saveexec_b64 s_nand_saveexec_b32;
    Saveexec(Nor) => s_nor_saveexec_b64 s_nor_saveexec_b32;
    Wrexec(AndNot) => s_andn2_wrexec_b64 s_andn2_wrexec_b32;
    Wrexec(NotAnd) => s_andn1_wrexec_b64 s_andn1_wrexec_b32;
    CountLanes => s_bcnt1_i32_b64 s_bcnt1_i32_b32;
    LanesFrom => s_bfm_b64 s_bfm_b32;
    ShiftUp => s_lshl_b64 s_lshl_b32;
    Equal => s_cmp_eq_u64 s_cmp_eq_u32;
    Differ => s_cmp_lg_u64 s_cmp_lg_u32;
}

impl Op {
    /// The operation of the opcode on lane masks, in waves of a size; `None` if it is none of [`MaskOp`].
    pub const fn mask_op(self, wave: WaveSize) -> Option<MaskOp> {
        MaskOp::of(self, wave)
    }
}
