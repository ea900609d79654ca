//! What a kernel does not do when its waves start, but where it waits anyway: working out where a wave's
//! record is (9 instructions), and clearing counters.
//!
//! The best place is a wait for vector memory that every wave passes once: what stands before it takes no
//! time. It must stand behind a load in the same block, the argument must have been waited for, and SCC must
//! be dead. Next is the wait for scalar loads in the first block. Else it is done when a wave ends.
//!
//! This takes 12 SGPRs beside the counters (14 before gfx90a, 10 on GFX12), below those that would lower
//! occupancy. Without them, or with the buffer's address in a variable, the prologue does it all.

use std::ops::Range;

use amdgpu_isa::{Encoding, Feature, Inst, MemoryOperation, Op, Reg, Value, Waits};
use amdgpu_object::{KernelDescriptor, UserSgpr};

use super::paths::{first_block, is_on_every_path, leave, reached, reached_without, repeats};
use super::{Draft, NoPlan, Planner, properties};
use crate::analysis::masks::writes_exec;
use crate::analysis::program::{Block, Program};
use crate::instrument::emit::assembler::Assembled;
use crate::instrument::emit::deferred;
use crate::instrument::emit::entry::{self, Left};
use crate::instrument::emit::sequence::{EmitError, Sequence};
use crate::instrument::emit::workgroup::WorkgroupIds;
use crate::instrument::find::points::Point;
use crate::instrument::find::survey::Survey;
use crate::instrument::refusal::Reason;
use crate::instrument::registers::deferred::{Deferred, id_vgprs};

/// Where a kernel works out its record's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    block: usize,
    /// A wait.
    inst: usize,
    /// Behind it, not before it.
    behind: bool,
}

/// Where the code of a kernel starts.
#[derive(Clone, Copy, Debug)]
struct Start<'a> {
    kernel: usize,
    blocks: &'a [Block],
    /// The block of the first instruction.
    first: usize,
    /// The first instruction.
    entry: usize,
    /// The first block is not come back to.
    runs_once: bool,
}

impl Start<'_> {
    /// The instructions of a block that a wave passes.
    fn insts(self, block: usize) -> Range<usize> {
        let insts = self.blocks[block].insts.clone();
        if block == self.first { self.entry..insts.end } else { insts }
    }

    /// The first wait for arguments in the first block, if that runs once.
    fn wait_for_arguments(self, program: &Program) -> Option<usize> {
        self.insts(self.first).filter(|_| self.runs_once).find(|&index| waits_for_arguments(program, index))
    }

    /// Which blocks can be entered by a path that has not waited for arguments.
    fn entered_unwaited(self, program: &Program) -> Vec<bool> {
        let waits = |block: usize| self.insts(block).any(|index| waits_for_arguments(program, index));
        reached(self.blocks, &[self.first], |block| !waits(block))
    }
}

impl Planner<'_> {
    fn start(&self, kernel: usize) -> Option<Start<'_>> {
        let function = &self.survey.program.functions[kernel];
        let blocks = &function.blocks;
        let entry = properties::start(self.survey, self.object, kernel);
        let first = first_block(blocks, entry)?;
        Some(Start { kernel, blocks, first, entry, runs_once: function.predecessors(first).is_empty() })
    }

    /// Where a kernel can work out its record's offset before its waves end: its argument is there, and every
    /// wave passes once.
    pub(super) fn place_for_offset(&self, kernel: usize) -> Option<At> {
        let Survey { program, liveness, .. } = self.survey;
        let start = self.start(kernel)?;
        let Start { blocks, first, .. } = start;
        let scc_is_dead = |at: &At| {
            let (before, after) = liveness.around(program, kernel, at.block, at.inst);
            !if at.behind { after } else { before }.contains(Reg::SCC)
        };
        let at_loads = || {
            // Functions may end waves before that.
            if leave(blocks) || !start.runs_once {
                return None;
            }
            let unwaited = start.entered_unwaited(program);
            let place = |block: usize| {
                let inst = wait_for_loads(program, &blocks[block])?;
                let waits = |index: usize| waits_for_arguments(program, index);
                let argument_is_there = !unwaited[block] || (start.insts(block).start..inst).any(waits);
                (argument_is_there && !repeats(blocks, block) && is_on_every_path(blocks, first, block))
                    .then_some(At { block, inst, behind: false })
            };
            (0..blocks.len()).filter_map(place).find(scc_is_dead)
        };
        let at_arguments = || {
            let inst = start.wait_for_arguments(program)?;
            Some(At { block: first, inst, behind: true }).filter(scc_is_dead)
        };
        at_loads().or_else(at_arguments)
    }

    /// The descriptor of a kernel that takes an argument of ours, as far as it tells what waves start with.
    fn with_argument(&self, kernel: usize) -> Result<KernelDescriptor, NoPlan> {
        let mut descriptor = self.kernel(kernel).descriptor;
        descriptor
            .set_user_sgpr(self.object.target.arch, UserSgpr::KernargSegmentPtr, true)
            .map_err(|error| (Reason::KernargPointer, error.to_string()))?;
        properties::enable_ids(&mut descriptor);
        Ok(descriptor)
    }

    /// Where an instrumented kernel gets the ids of its workgroup.
    pub(super) fn workgroup_ids(&self, kernel: usize) -> Option<WorkgroupIds> {
        WorkgroupIds::of(&self.with_argument(kernel).ok()?, self.object.target.arch)
    }

    /// Inserts what a prologue leaves for later: how many instructions that is, and what it leaves. `counts`
    /// are the points whose counters must be clear.
    pub(super) fn later(
        &self,
        draft: &mut Draft,
        kernel: usize,
        at: Option<At>,
        counts: &[Point],
        (deferred, counters): (&Deferred, &[u8]),
    ) -> Result<(u32, Left), NoPlan> {
        let arch = self.object.target.arch;
        let mut left = Left::default();
        let Some(start) = self.start(kernel) else { return Ok((0, left)) };
        let instrumented = self.with_argument(kernel)?;
        let ids = WorkgroupIds::of(&instrumented, arch).ok_or(EmitError::Missing("id of the workgroup"))?;
        let moved = entry::moves(arch, &self.kernel(kernel).descriptor, &instrumented);
        // The prologue leaves these where they arrive.
        let arrive = |id: u8| !moved.iter().any(|&(to, _)| to == id);
        // Nothing overwrites those that are not in SGPRs.
        left.workgroup = [ids.sgprs().is_none(); 3];
        let mut count = 0;
        let clear = self.place_to_clear(start, at, counts);
        if let Some(at) = at {
            let mut read = ids;
            if let WorkgroupIds::Sgprs(read) = &mut read {
                let stay = self.ids_that_stay(draft, start, at, *read);
                for (axis, id) in read.iter_mut().enumerate() {
                    // Counters are cleared before that.
                    left.workgroup[axis] = stay[axis] && arrive(*id) && !counters.contains(id);
                    if !left.workgroup[axis] {
                        *id = deferred.workgroup[axis];
                    }
                }
            }
            let mut offset = Sequence::new(&self.assembler);
            deferred.offset(&mut offset, arch, read);
            let offset = offset.finish()?;
            count += offset.len() as u32;
            let patch = draft.patches.entry(at.inst);
            let list = if at.behind { &mut patch.after } else { &mut patch.before };
            list.splice(..0, offset);
        }
        if let Some(inst) = clear {
            let mut cleared = Sequence::new(&self.assembler);
            deferred::clear(&mut cleared, counters);
            let cleared = cleared.finish()?;
            count += cleared.len() as u32;
            draft.patches.entry(inst).before.splice(..0, cleared);
            left.clear = true;
        }
        count += self.ids_later(draft, start, (ids, &arrive), deferred, &mut left)?;
        Ok((count, left))
    }

    /// The instruction before which counters can be cleared, before anything counts; none but the first is.
    fn place_to_clear(&self, start: Start<'_>, at: Option<At>, counts: &[Point]) -> Option<usize> {
        if let Some(At { block, inst, behind: false }) = at {
            let reached = reached_without(start.blocks, start.first, block);
            let comes_later = |point: &Point| match point.block == block {
                true => point.inst > inst,
                false => !reached[point.block],
            };
            if counts.iter().all(comes_later) {
                return Some(inst);
            }
        }
        let wait = start.wait_for_arguments(&self.survey.program)?;
        (!counts.iter().any(|point| (start.entry..=wait).contains(&point.inst))).then_some(wait)
    }

    /// Which ids of the workgroup are not overwritten before a place.
    fn ids_that_stay(&self, draft: &Draft, start: Start<'_>, at: At, ids: [u8; 3]) -> [bool; 3] {
        let program = &self.survey.program;
        let Start { blocks, first, .. } = start;
        let reached = reached_without(blocks, first, at.block);
        let end = if at.behind { at.inst + 1 } else { at.inst };
        let before =
            (0..blocks.len()).filter(|&block| reached[block]).map(|block| blocks[block].insts.clone());
        let runs: Vec<_> = before.chain(std::iter::once(blocks[at.block].insts.start..end)).collect();
        ids.map(|id| {
            let register = Reg::scalar(id);
            let inserted = |inst: &Assembled| inst.effects(program.target()).changes().contains(register);
            let overwritten = |index: usize| {
                program.scalars(&program.insts[index]).writes.contains(register)
                    || draft
                        .patches
                        .get(index)
                        .is_some_and(|patch| patch.before.iter().chain(&patch.after).any(inserted))
            };
            !runs.iter().cloned().flatten().any(overwritten)
        })
    }

    /// Puts the ids by that do not stay where they are: as late as they are there, but before the first wait
    /// for arguments; what loads the kernel begins before that need not wait for it. How many instructions
    /// that is.
    fn ids_later(
        &self,
        draft: &mut Draft,
        start: Start<'_>,
        (ids, arrive): (WorkgroupIds, &dyn Fn(u8) -> bool),
        deferred: &Deferred,
        left: &mut Left,
    ) -> Result<u32, NoPlan> {
        let (arch, program) = (self.object.target.arch, &self.survey.program);
        let entry = start.entry;
        let Some(end) = end_of_loads(program, start) else { return Ok(0) };
        let mut count = 0;
        let mut insert = |at: usize, code: Sequence| {
            let code = code.finish()?;
            count += code.len() as u32;
            draft.patches.entry(at).before.splice(..0, code);
            Ok::<_, NoPlan>(())
        };
        let bits_matter = arch.has(Feature::PackedWorkItemIds) && !self.leaves_ids(start);
        let touches_ids = |&index: &usize| {
            let effects = program.effects(index);
            let touched = |vgpr: u8| {
                let register = Reg::vgpr(vgpr);
                effects.changes().contains(register) || bits_matter && effects.reads.contains(register)
            };
            (0..id_vgprs(arch)).any(touched)
        };
        let mut code = Sequence::new(&self.assembler);
        deferred.keep_work_item(&mut code, arch);
        if bits_matter {
            entry::restore_work_item_ids(&mut code, arch, &self.kernel(start.kernel).descriptor);
        }
        insert((entry..end).find(touches_ids).unwrap_or(end), code)?;
        left.work_item = true;
        for (axis, id) in ids.sgprs().into_iter().flatten().enumerate() {
            if left.workgroup[axis] || !arrive(id) {
                continue;
            }
            let overwrites =
                |&index: &usize| program.scalars(&program.insts[index]).writes.contains(Reg::scalar(id));
            let mut code = Sequence::new(&self.assembler);
            deferred.keep_workgroup(&mut code, axis, id);
            insert((entry..end).find(overwrites).unwrap_or(end), code)?;
            left.workgroup[axis] = true;
        }
        Ok(count)
    }

    /// Whether a kernel reads no other bits of v0 than those with ids that it asked for: it takes these out,
    /// and overwrites the register, in its first block.
    fn leaves_ids(&self, start: Start<'_>) -> bool {
        let program = &self.survey.program;
        let bits = entry::id_bits(&self.kernel(start.kernel).descriptor);
        for index in start.insts(start.first) {
            let effects = program.effects(index);
            let inst = program.inst(index);
            if effects.reads.contains(Reg::vgpr(0)) && !takes_low_bits(inst, bits)
                || writes_exec(program, index)
            {
                return false;
            }
            let is_whole = matches!(inst.encoding, Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3);
            if effects.changes().contains(Reg::vgpr(0)) {
                return is_whole;
            }
        }
        false
    }
}

/// The instruction of the first block before which the kernel has begun its first loads, and nothing else has
/// happened that matters: its first wait, or what follows the last load, if it does not wait there. None if
/// the block may run again.
fn end_of_loads(program: &Program, start: Start<'_>) -> Option<usize> {
    if !start.runs_once {
        return None;
    }
    let Range { start: entry, end } = start.insts(start.first);
    let waits = |index: usize| program.insts[index].op.waits();
    let stops = |&index: &usize| waits(index) || writes_exec(program, index);
    let end = (entry..end - 1).find(stops).unwrap_or(end - 1);
    let loads = |&index: &usize| program.inst(index).encoding == Encoding::Smem;
    if waits(end) {
        return Some(end);
    }
    Some((entry..end).rfind(loads).map_or(entry, |load| load + 1))
}

/// Whether an instruction takes no other than the lowest bits of v0.
fn takes_low_bits(inst: &Inst, bits: u32) -> bool {
    let constant = |value: Value| match value {
        Value::Inline(code @ 128..=192) => Some(u32::from(code) - 128),
        Value::Literal(value) => Some(value),
        _ => None,
    };
    let sources: Vec<Value> = inst.operands.iter().skip(1).map(|operand| operand.value).collect();
    match (inst.op, inst.encoding, &sources[..]) {
        (
            Op::v_and_b32,
            Encoding::Vop2 | Encoding::Vop3,
            &[mask, Value::Vgpr(0)] | &[Value::Vgpr(0), mask],
        ) => constant(mask).is_some_and(|mask| mask >> bits == 0),
        (Op::v_bfe_u32, Encoding::Vop3, &[Value::Vgpr(0), from, width]) => {
            matches!((constant(from), constant(width)), (Some(from @ 0..32), Some(width @ 0..32)) if from + width <= bits)
        }
        _ => false,
    }
}

/// What an instruction waits for.
fn waits(program: &Program, index: usize) -> Option<Waits> {
    let waits = program.insts[index].op.waits();
    waits.then(|| Waits::of(program.inst(index), program.arch.generation()))?
}

fn waits_for_arguments(program: &Program, index: usize) -> bool {
    waits(program, index).is_some_and(|waits| waits.scalar == Some(0))
}

/// The first wait for vector memory in a block behind a load from there.
fn wait_for_loads(program: &Program, block: &Block) -> Option<usize> {
    let loads = |index: usize| {
        let encoding = program.insts[index].encoding;
        if encoding.is_scalar() || encoding.is_vector_alu() {
            return false;
        }
        let effects = program.effects(index);
        effects.vm_cnt && effects.memory.is_some_and(|access| access.operation == MemoryOperation::Load)
    };
    let load = block.insts.clone().find(|&index| loads(index))?;
    (load..block.insts.end).find(|&index| waits(program, index).is_some_and(|waits| waits.vector.is_some()))
}
