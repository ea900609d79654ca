//! Whether the blocks of a probe map are the code: each instruction that a wave may come to is in exactly one
//! of them.
//!
//! This follows branches through the bytes of the original, and knows nothing of how blocks were found;
//! nothing runs.

use std::collections::BTreeSet;

use amdgpu_isa::{Encoding, Flow, Inst, decode};
use amdgpu_object::{CodeObject, Function};
use thiserror::Error;

use crate::instrument::{BlockProbe, KernelProbes};

/// A fault in the blocks of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CoverFault {
    /// A wave may come to an instruction that is in no block.
    #[error("the instruction at pc {pc:#x} is in no block")]
    NoBlock {
        /// Its address in the original.
        pc: u64,
    },
    /// Two blocks share an address.
    #[error("pc {pc:#x} is in block {first} and in block {second}")]
    TwoBlocks {
        /// The first address that they share.
        pc: u64,
        /// The number of the one that begins first.
        first: u32,
        /// The other's.
        second: u32,
    },
    /// A block does not begin and end with instructions, or has another number of them than it says.
    #[error("block {block}, at pc {pc:#x}, is not the {instructions} instructions that it says it is")]
    Instructions {
        /// The block's number.
        block: u32,
        /// Its address.
        pc: u64,
        /// Its number of instructions, as told.
        instructions: u32,
    },
    /// An instruction depends on the lanes, and its block's lanes are those of others.
    #[error("block {block} has an instruction at pc {pc:#x} whose lanes it does not count")]
    Lanes {
        /// The block's number.
        block: u32,
        /// The instruction's address in the original.
        pc: u64,
    },
}

/// Looks through the blocks of a kernel, all of which were asked for, in the code object that was
/// instrumented. Only instructions of refused blocks may be in none. Returns every fault, in order of address
/// within each kind.
pub fn faults(object: &CodeObject, probes: &KernelProbes) -> Vec<CoverFault> {
    let mut found = Vec::new();
    let mut blocks: Vec<&BlockProbe> = probes.blocks.iter().collect();
    blocks.sort_by_key(|block| block.pc);
    for pair in blocks.windows(2) {
        if pair[1].pc < pair[0].end_pc {
            let (first, second) = (pair[0].id, pair[1].id);
            found.push(CoverFault::TwoBlocks { pc: pair[1].pc, first, second });
        }
    }
    for block in &blocks {
        contents(object, block, &mut found);
    }
    let is_in_none = |pc: &u64| {
        let next = blocks.partition_point(|block| block.pc <= *pc);
        next.checked_sub(1).is_none_or(|index| *pc >= blocks[index].end_pc)
            && !probes.refusals.iter().any(|refusal| refusal.has_block_of(*pc))
    };
    // Unless the kernel was refused as a whole.
    if probes.refusals.iter().all(|refusal| refusal.pc.is_some()) {
        let reached = reached(object, probes).into_iter();
        found.extend(reached.filter(is_in_none).map(|pc| CoverFault::NoBlock { pc }));
    }
    found
}

/// Goes through a block from its first instruction to its last one.
fn contents(object: &CodeObject, block: &BlockProbe, found: &mut Vec<CoverFault>) {
    let (mut pc, mut instructions) = (block.pc, 0);
    while pc < block.end_pc {
        let Some(inst) = instruction(object, pc) else { break };
        let is_counted = (block.lanes_pcs[0]..block.lanes_pcs[1]).contains(&pc);
        if !is_counted && depends_on_lanes(&inst) {
            found.push(CoverFault::Lanes { block: block.id, pc });
        }
        pc += u64::from(inst.size);
        instructions += 1;
    }
    if (pc, instructions) != (block.end_pc, block.instructions) {
        let BlockProbe { id, pc, instructions, .. } = *block;
        found.push(CoverFault::Instructions { block: id, pc, instructions });
    }
}

const fn depends_on_lanes(inst: &Inst) -> bool {
    !matches!(
        inst.encoding,
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc | Encoding::Sopp | Encoding::Smem
    )
}

/// The instructions that branches lead to from the entries of the kernel and of the functions that have
/// blocks. Where a jump by a register leads to is not asked. A call that is the last instruction of its
/// function does not return.
fn reached(object: &CodeObject, probes: &KernelProbes) -> BTreeSet<u64> {
    let has_blocks =
        |function: &&Function| probes.blocks.iter().any(|block| function.code.contains(&block.pc));
    let entries = object.functions.iter().filter(has_blocks);
    let mut next: Vec<u64> = entries.map(|function| function.code.start).collect();
    next.extend(object.kernel(&probes.name).map(|kernel| kernel.code.start));
    let mut reached = BTreeSet::new();
    while let Some(pc) = next.pop() {
        let Some(inst) = instruction(object, pc).filter(|_| !reached.contains(&pc)) else { continue };
        reached.insert(pc);
        let end = pc + u64::from(inst.size);
        match inst.flow() {
            Flow::Branch { offset } => next.push(end.wrapping_add_signed(offset.into())),
            Flow::CondBranch { offset, .. } => next.extend([end, end.wrapping_add_signed(offset.into())]),
            Flow::Call { .. } if is_end_of_function(object, pc, end) => {}
            Flow::Next | Flow::Call { .. } => next.push(end),
            // Behind a trap stands what its handler may come back to, or nothing.
            Flow::Trap | Flow::Jump | Flow::End | Flow::Other => {}
        }
    }
    reached
}

fn is_end_of_function(object: &CodeObject, pc: u64, end: u64) -> bool {
    let functions = object.functions.iter().map(|function| &function.code);
    let kernels = object.kernels.iter().map(|kernel| &kernel.code);
    functions.chain(kernels).any(|code| code.contains(&pc) && code.end == end)
}

fn instruction(object: &CodeObject, pc: u64) -> Option<Inst> {
    decode(object.target.arch, object.code_at(pc)?).ok()
}
