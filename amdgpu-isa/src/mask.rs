//! Scalar operations on lane masks, apart from the width of a mask.
//!
//! A lane mask is as wide as the wave: a pair of SGPRs where it has 64 lanes, one SGPR where it has 32. Each operation has an opcode
//! for either; code that asks for a [`MaskOp`] holds for both.

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
}

/// One line an operation: what it does, and the opcode for masks of 64 lanes.
macro_rules! mask_ops {
    ($($does:pat, $value:expr => $wave64:ident;)*) => {
        impl MaskOp {
            /// What an opcode does with lane masks in waves of a size; `None` if it does none of these.
            pub const fn of(op: Op, wave: WaveSize) -> Option<Self> {
                match wave {
                    WaveSize::Wave64 => match op {
                        $(Op::$wave64 => Some($value),)*
                        _ => None,
                    },
                    // No processor that is known runs such waves.
                    WaveSize::Wave32 => None,
                }
            }

            /// The opcode that does it in waves of a size, if they have one.
            pub const fn op(self, wave: WaveSize) -> Option<Op> {
                match (wave, self) {
                    $((WaveSize::Wave64, $does) => Some(Op::$wave64),)*
                    _ => None,
                }
            }
        }

        /// All that waves of 64 lanes have.
        #[cfg(test)]
        const ALL: &[(MaskOp, Op)] = &[$(($value, Op::$wave64),)*];
    };
    ($($does:ident $(($logic:ident))? => $wave64:ident;)*) => {
        mask_ops! { $(MaskOp::$does $((Logic::$logic))?, MaskOp::$does $((Logic::$logic))? => $wave64;)* }
    };
}

mask_ops! {
    Move => s_mov_b64;
    Not => s_not_b64;
    Select => s_cselect_b64;
    Combine(And) => s_and_b64;
    Combine(AndNot) => s_andn2_b64;
    Combine(Or) => s_or_b64;
    Combine(OrNot) => s_orn2_b64;
    Combine(Xor) => s_xor_b64;
    Combine(Xnor) => s_xnor_b64;
    Combine(Nand) => s_nand_b64;
    Combine(Nor) => s_nor_b64;
    Saveexec(And) => s_and_saveexec_b64;
    Saveexec(AndNot) => s_andn2_saveexec_b64;
    Saveexec(NotAnd) => s_andn1_saveexec_b64;
    Saveexec(Or) => s_or_saveexec_b64;
    Saveexec(OrNot) => s_orn2_saveexec_b64;
    Saveexec(NotOr) => s_orn1_saveexec_b64;
    Saveexec(Xor) => s_xor_saveexec_b64;
    Saveexec(Xnor) => s_xnor_saveexec_b64;
    Saveexec(Nand) => s_nand_saveexec_b64;
    Saveexec(Nor) => s_nor_saveexec_b64;
    Wrexec(AndNot) => s_andn2_wrexec_b64;
    Wrexec(NotAnd) => s_andn1_wrexec_b64;
    CountLanes => s_bcnt1_i32_b64;
    LanesFrom => s_bfm_b64;
    ShiftUp => s_lshl_b64;
}

impl Op {
    /// What the opcode does with lane masks in waves of a size; `None` if it does none of [`MaskOp`].
    pub const fn mask_op(self, wave: WaveSize) -> Option<MaskOp> {
        MaskOp::of(self, wave)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::Families;

    #[test]
    fn each_operation_is_that_of_its_opcode() {
        for &(does, op) in ALL {
            assert_eq!(op.mask_op(WaveSize::Wave64), Some(does));
            assert_eq!(does.op(WaveSize::Wave64), Some(op));
        }
    }

    #[test]
    fn every_opcode_that_copies_exec_is_one() {
        for &op in Op::ALL {
            let does = op.mask_op(WaveSize::Wave64);
            assert_eq!(matches!(does, Some(MaskOp::Saveexec(_))), op.is_of(Families::SAVES_EXEC), "{op}");
            assert_eq!(matches!(does, Some(MaskOp::Wrexec(_))), op.is_of(Families::COPIES_NEW_EXEC), "{op}");
        }
    }
}
