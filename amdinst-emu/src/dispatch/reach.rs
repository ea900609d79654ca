//! The code that a kernel can reach, and the registers that a wave of it can touch.

use std::ops::Range;

use amdgpu_isa::Op;

use crate::exec;
use crate::program::{NO_SLOT, Program, Step};
use crate::rules::Rules;
use crate::wave::Registers;

/// The steps that a kernel which begins at `entry` can reach. A computed jump may go to any function of the
/// code object: where there is one, these are all steps.
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

/// The slots of those of these steps that write EXEC.
pub(super) fn slots(steps: &[&Step]) -> Range<usize> {
    let slots = || steps.iter().map(|step| step.slot).filter(|slot| *slot != NO_SLOT);
    match (slots().min(), slots().max()) {
        (Some(first), Some(last)) => first as usize..last as usize + 1,
        _ => 0..0,
    }
}

/// The registers that these steps name.
pub(super) fn named(steps: &[&Step]) -> Registers {
    steps.iter().map(|step| step.registers).fold(Registers::default(), Registers::max)
}

/// Whether these steps may reach vector registers that they do not name.
pub(super) fn index(steps: &[&Step], rules: &Rules) -> bool {
    steps.iter().any(|step| exec::is_relative(step.op) || turns_indexing_on(step, rules))
}

/// Whether registers may be addressed by an index after the step.
fn turns_indexing_on(step: &Step, rules: &Rules) -> bool {
    match step.op {
        Op::s_set_gpr_idx_on | Op::s_set_gpr_idx_mode => true,
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => {
            exec::writes_mode(rules, step.imm as u16, rules.gpr_index)
        }
        _ => false,
    }
}
