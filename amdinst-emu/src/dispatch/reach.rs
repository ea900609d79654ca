//! The code that a kernel can reach, and the registers that a wave of it can touch.

use amdgpu_isa::Op;

use crate::exec;
use crate::program::{Program, Step};
use crate::wave::{GprIndex, REGISTERS, register_row};

/// The steps that a kernel which begins at `entry` can reach. A computed jump may go to any function of the code object:
/// where there is one, these are all steps.
pub(super) fn steps(program: &Program, entry: u32) -> Vec<&Step> {
    let mut seen = vec![false; program.steps.len()];
    let mut reached = Vec::new();
    let mut open = vec![entry];
    while let Some(start) = open.pop() {
        let mut at = start as usize;
        while let Some(step) = program.steps.get(at).filter(|_| !seen[at]) {
            seen[at] = true;
            reached.push(step);
            if matches!(step.op, Op::s_swappc_b64 | Op::s_setpc_b64 | Op::s_cbranch_g_fork) {
                return program.steps.iter().collect();
            }
            if exec::is_direct_branch(step.op) && step.imm >= 0 {
                open.push(step.imm as u32);
            }
            if matches!(step.op, Op::s_endpgm | Op::s_branch) {
                break;
            }
            at += 1;
        }
    }
    reached
}

/// How many VGPRs and AGPRs these steps can touch, counted from the first.
pub(super) fn registers(steps: &[&Step]) -> [usize; 2] {
    const BANK: usize = REGISTERS / 2;
    let mut most = [0; 2];
    for step in steps {
        // With an index, any register.
        if turns_indexing_on(step) {
            return [BANK; 2];
        }
        let operands = step.extra.iter().flat_map(|extra| &extra.inst.operands);
        for operand in operands {
            if let Some(row) = register_row(operand.value).map(usize::from) {
                let end = row % BANK + usize::from(operand.dwords.max(1));
                most[row / BANK] = most[row / BANK].max(end.min(BANK));
            }
        }
    }
    most
}

/// Whether registers may be addressed by an index after the step.
fn turns_indexing_on(step: &Step) -> bool {
    match step.op {
        Op::s_set_gpr_idx_on | Op::s_set_gpr_idx_mode => true,
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => {
            exec::writes_mode_bit(step.imm as u16, GprIndex::MODE_BIT)
        }
        _ => false,
    }
}
