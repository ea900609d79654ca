//! The address of the buffer's variable, as prologues form it from the program counter.

use amdgpu_isa::{Op, Value};

use crate::instrument::emit::assembler::Assembled;

/// Where in a prologue the address is formed, in bytes from its start: what `s_getpc_b64` gives, and the
/// literals of `s_add_u32` and `s_addc_u32`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Formed {
    base: u64,
    literals: [u64; 2],
}

impl Formed {
    /// In a prologue, if it forms one.
    pub(super) fn find(prologue: &[Assembled]) -> Option<Self> {
        let mut at = 0;
        let mut base = None;
        let mut literals = Vec::new();
        for inst in prologue {
            let start = at;
            at += u64::from(inst.size);
            let is_literal =
                || inst.operands.iter().any(|operand| matches!(operand.value, Value::Literal(_)));
            match inst.op {
                Op::s_getpc_b64 => base = Some(at),
                Op::s_add_u32 | Op::s_addc_u32 if base.is_some() && is_literal() && literals.len() < 2 => {
                    // The literal follows the instruction's word.
                    literals.push(start + 4);
                }
                _ => {}
            }
        }
        Some(Self { base: base?, literals: literals.try_into().ok()? })
    }

    /// The literals that make it the address of `variable` in the prologue that starts at `start`, with their
    /// addresses.
    pub(super) fn literals(self, start: u64, variable: u64) -> [(u64, u32); 2] {
        let distance = variable.wrapping_sub(start + self.base);
        let [low, high] = self.literals.map(|literal| start + literal);
        [(low, distance as u32), (high, (distance >> 32) as u32)]
    }
}
