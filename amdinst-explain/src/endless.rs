//! Loops that certainly never end, such as an optimized `loop {}`.

use std::collections::BTreeSet;

use amdgpu_isa::{Access, Op};
use amdgpu_object::CodeObject;
use amdinst_core::analysis::program::{Block, Function, Program};

/// Whether a wave that is at an instruction goes round for ever: nothing that it comes to ends the wave or
/// returns, or a block repeats itself and changes nothing that its branch could depend on. LLVM gives each
/// loop a way out, and takes it never.
pub(crate) fn is_endless(object: &CodeObject, pc: u64) -> bool {
    let program = Program::new(object);
    let Some(function) = program.function_at(pc).map(|index| &program.functions[index]) else { return false };
    let is_here = |block: &Block| {
        let insts = &program.insts[block.insts.clone()];
        insts.first().zip(insts.last()).is_some_and(|(first, last)| (first.pc..=last.pc).contains(&pc))
    };
    let Some(here) = function.blocks.iter().position(is_here) else { return false };
    function.blocks[here].successors.contains(&here) && stands_still(&program, &function.blocks[here])
        || !ends(function, here)
}

/// Whether a block leaves all registers as they were.
fn stands_still(program: &Program, block: &Block) -> bool {
    block.insts.clone().all(|index| {
        let inst = program.inst(index);
        let copies_to_itself = matches!(inst.op, Op::s_mov_b32 | Op::s_mov_b64)
            && inst.operands.iter().all(|operand| operand.value == inst.operands[0].value);
        let writes = inst.operands.iter().any(|operand| operand.access != Access::Read);
        !program.insts[index].touches_exec && (copies_to_itself || !writes)
    })
}

/// Whether a block that nothing follows can be reached from one.
fn ends(function: &Function, from: usize) -> bool {
    let (mut left, mut seen) = (vec![from], BTreeSet::new());
    while let Some(block) = left.pop() {
        let successors = &function.blocks[block].successors;
        if successors.is_empty() {
            return true;
        }
        if seen.insert(block) {
            left.extend(successors.iter().copied());
        }
    }
    false
}
