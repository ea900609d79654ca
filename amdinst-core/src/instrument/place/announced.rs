//! What announces instructions that follow it, by how many these are: `s_clause` and `s_delay_alu`.
//!
//! Another instruction in a clause is illegal (RDNA 3 ISA, 5.2, "Instruction Clauses"), and behind one a
//! delay is for others than it was made for. Both are hints alone. Where something is inserted among what
//! they announce, `s_nop` takes their place.

use amdgpu_isa::{EncodeError, Encoding, Inst, Op, Value};

use super::patches::Patches;
use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::{Assembler, Modifiers};

/// Takes back what is no longer true in one function.
pub(crate) fn take_back(
    program: &Program,
    assembler: &Assembler,
    function: &Function,
    patches: &mut Patches,
) -> Result<(), EncodeError> {
    if !program.arch.generation().announces() {
        return Ok(());
    }
    for block in &function.blocks {
        let is_patched = !patches.range(block.insts.clone()).is_empty();
        for index in block.insts.clone().filter(|_| is_patched) {
            let Some(last) = announced(program.inst(index)).map(|count| index + count) else { continue };
            // Of clauses and delays that reach beyond the block, what is in it.
            let between = index..last.min(block.insts.end - 1) + 1;
            let is_torn = patches.range(between.clone()).iter().any(|&(at, ref patch)| {
                let behind = at + 1 < between.end && !patch.after.is_empty();
                behind || at > index && !(patch.before.is_empty() && patch.entry.is_empty())
            });
            if is_torn {
                let nop = assembler.assemble(Op::s_nop, Encoding::Sopp, &[Value::Imm(0)], Modifiers::None)?;
                patches.entry(index).instead = vec![nop];
            }
        }
    }
    Ok(())
}

/// How many instructions behind it one is about.
fn announced(inst: &Inst) -> Option<usize> {
    let Some(Value::Imm(immediate)) = inst.operands.first().map(|operand| operand.value) else { return None };
    let field = |lowest: u32, width: u32| (immediate as u32 >> lowest & ((1 << width) - 1)) as usize;
    match inst.op {
        // RDNA 3 ISA, S_CLAUSE: the length less one in bits 5:0.
        Op::s_clause => Some(field(0, 6) + 1),
        // RDNA 3 ISA, S_DELAY_ALU: INSTID0 3:0 is for the next, INSTID1 10:7 for one that INSTSKIP 6:4 tells:
        // 0 the same, 1 the one behind it, 2 that with one between …
        Op::s_delay_alu if field(7, 4) != 0 => Some(1 + field(4, 3)),
        Op::s_delay_alu => Some(1),
        _ => None,
    }
}
