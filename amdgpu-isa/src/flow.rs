//! Where control goes after an instruction.

use super::{Inst, Op, Value};

/// What a conditional branch tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// SCC is 0.
    Scc0,
    /// SCC is 1.
    Scc1,
    /// VCC is zero.
    Vccz,
    /// VCC is not zero.
    Vccnz,
    /// EXEC is zero.
    Execz,
    /// EXEC is not zero.
    Execnz,
    /// A debugger's condition (`s_cbranch_cdbg*`).
    Debug,
}

/// Where control goes after an instruction. Offsets are in bytes from the end of the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// Always to one place.
    Branch {
        /// Bytes from the end of the instruction.
        offset: i32,
    },
    /// To one place or on.
    CondBranch {
        /// Bytes from the end of the instruction.
        offset: i32,
        /// When it is taken.
        condition: Condition,
    },
    /// To a function that is expected to return behind this instruction. The return address goes to the first
    /// operand.
    Call {
        /// Bytes from the end of the instruction (`s_call_b64`); `None` when the second operand holds the
        /// address (`s_swappc_b64`).
        offset: Option<i32>,
    },
    /// To the address in the only operand (`s_setpc_b64`): a return, a tail call or a long jump.
    Jump,
    /// Nowhere: the wave ends.
    End,
    /// Into the trap handler, which may come back (`s_trap`).
    Trap,
    /// Somewhere that only the hardware's state tells (`s_rfe_b64`, the fork and join of `s_cbranch_g_fork`).
    Other,
}

impl Flow {
    /// Where control goes after an instruction whose SIMM16, if it has one, spans `offset` bytes.
    pub const fn of(op: Op, offset: i32) -> Self {
        let condition = match op {
            Op::s_branch => return Self::Branch { offset },
            Op::s_call_b64 => return Self::Call { offset: Some(offset) },
            Op::s_swappc_b64 => return Self::Call { offset: None },
            Op::s_setpc_b64 => return Self::Jump,
            Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => return Self::End,
            Op::s_trap | Op::v_illegal => return Self::Trap,
            Op::s_rfe_b64
            | Op::s_rfe_restore_b64
            | Op::s_cbranch_g_fork
            | Op::s_cbranch_i_fork
            | Op::s_cbranch_join
            | Op::s_subvector_loop_begin
            | Op::s_subvector_loop_end => return Self::Other,
            Op::s_cbranch_scc0 => Condition::Scc0,
            Op::s_cbranch_scc1 => Condition::Scc1,
            Op::s_cbranch_vccz => Condition::Vccz,
            Op::s_cbranch_vccnz => Condition::Vccnz,
            Op::s_cbranch_execz => Condition::Execz,
            Op::s_cbranch_execnz => Condition::Execnz,
            Op::s_cbranch_cdbgsys
            | Op::s_cbranch_cdbguser
            | Op::s_cbranch_cdbgsys_or_user
            | Op::s_cbranch_cdbgsys_and_user => Condition::Debug,
            _ => return Self::Next,
        };
        Self::CondBranch { offset, condition }
    }
}

impl Inst {
    /// Where control goes after the instruction.
    pub fn flow(&self) -> Flow {
        Flow::of(self.op, self.target_offset())
    }

    /// SIMM16 of a branch, in bytes.
    pub fn target_offset(&self) -> i32 {
        match self.operands.last().map(|operand| operand.value) {
            Some(Value::Imm(dwords)) => dwords * 4,
            _ => 0,
        }
    }
}
