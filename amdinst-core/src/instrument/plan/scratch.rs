//! Private memory for what sites borrow when there is no other way.
//!
//! Descriptor and note get eight bytes more a work-item. Before gfx940 the site needs one more dead SGPR, for
//! the address. The prologue then sets FLAT_SCRATCH to the base of scratch memory plus the wave's offset,
//! which the instrumented descriptor asks for (`FLAT_SCRATCH_INIT`). A kernel that sets it in the same way
//! sets it a second time. Kernels that write anything else there are refused (`no-free-vgpr`), and so are
//! kernels with a dynamic stack.

use amdgpu_isa::{Feature, Op, Reg, Value};

use super::groups::KernelGroup;
use super::properties::start;
use super::{NoPlan, Planner};
use crate::instrument::emit::sequence::{FLAT_SCRATCH, MAX_OFFSET};
use crate::instrument::refusal::Reason;
use crate::instrument::registers::layout::ScratchSlots;

/// The most private memory that a wavefront can have: it is counted in KiB, in 13 bits
/// (`COMPUTE_TMPRING_SIZE.WAVESIZE`).
const MOST_OF_WAVE: u32 = 8191 * 1024;

impl Planner<'_> {
    /// Two dwords a work-item behind all that the kernels of a group have.
    ///
    /// From gfx940 on, scratch memory needs no register to be addressed: hardware sets FLAT_SCRATCH for each wave ("architected flat
    /// scratch"), and enabling it shifts no SGPR. Before, the prologue sets it, as kernels do that need it; who writes anything else
    /// there is refused.
    pub(super) fn scratch_slots(&self, group: &KernelGroup) -> Result<ScratchSlots, NoPlan> {
        let refuse = |detail: String| {
            Err(NoPlan::Refused(Reason::NoFreeVgpr, format!("every VGPR is in use, and {detail}")))
        };
        let by_register = !self.object.target.arch.has(Feature::ArchitectedFlatScratch);
        let mut kept = 0u32;
        for &kernel in &group.kernels {
            let kernel = self.kernel(kernel);
            let (descriptor, metadata) = (&kernel.descriptor, &kernel.metadata);
            if metadata.uses_dynamic_stack || descriptor.uses_dynamic_stack() {
                return refuse("how much scratch memory it has is known at its launch only".to_owned());
            }
            kept = kept.max(descriptor.private_segment_fixed_size()).max(metadata.private_segment_fixed_size);
        }
        if by_register && let Some(writer) = self.writer_of_flat_scratch(group) {
            return refuse(format!("{writer} changes where its scratch memory is"));
        }
        let of_work_item = MOST_OF_WAVE / self.survey.program.wave_size().lanes();
        let most = if by_register { of_work_item } else { MAX_OFFSET };
        let kept = kept.min(most).next_multiple_of(4);
        let slots = ScratchSlots { kept, end: kept + ScratchSlots::BYTES, by_register };
        if slots.end > most {
            return refuse(format!("{most} bytes of its scratch memory are, too"));
        }
        Ok(slots)
    }

    /// An instruction that may put something else into FLAT_SCRATCH than the prologue does.
    fn writer_of_flat_scratch(&self, group: &KernelGroup) -> Option<String> {
        let program = &self.survey.program;
        let mut writers = group.functions.iter().flat_map(|&function| {
            let set_up = self.sets_up_flat_scratch(function);
            let insts = program.functions[function].blocks.iter().flat_map(|block| block.insts.clone());
            insts.filter(move |&inst| {
                program.insts[inst].changes_scalars && !set_up.contains(&Some(inst)) && {
                    let changes = program.effects(inst).changes();
                    [0, 1].iter().any(|half| changes.contains(Reg::scalar(FLAT_SCRATCH + half)))
                }
            })
        });
        let inst = writers.next()?;
        Some(format!("`{}` at {:#x}", program.text(inst), program.insts[inst].pc))
    }

    /// The two instructions by which a kernel sets FLAT_SCRATCH as the prologue does: the sum of what arrives in SGPRs, before
    /// anything is written to these.
    fn sets_up_flat_scratch(&self, function: usize) -> [Option<usize>; 2] {
        let program = &self.survey.program;
        let mut found = [None; 2];
        if program.functions[function].kernel.is_none() {
            return found;
        }
        let descriptor = &self.kernel(function).descriptor;
        let system = descriptor.system_sgprs(program.arch);
        let (Some(init), Some(offset)) =
            (descriptor.user_sgprs(program.arch).flat_scratch_init, system.private_segment_wavefront_offset)
        else {
            return found;
        };
        let first = start(self.survey, self.object, function);
        let function = &program.functions[function];
        let blocks = &function.blocks;
        let Some(number) = blocks.iter().position(|block| block.insts.contains(&first)) else { return found };
        // What stands before it is a stub that loads arguments.
        if function.predecessors(number).iter().any(|&from| blocks[from].insts.end > first) {
            return found;
        }
        let given = [init, init + 1, offset];
        let [low, high, offset] = given.map(Value::Scalar);
        let [to_low, to_high] = [0, 1].map(|half| Value::Scalar(FLAT_SCRATCH + half));
        let mut has_carry = false;
        for inst in first..blocks[number].insts.end {
            let values: Vec<Value> =
                program.inst(inst).operands.iter().map(|operand| operand.value).collect();
            let is_sum = |to, sources: [Value; 2]| {
                let [first, second] = sources;
                values == [to, first, second] || values == [to, second, first]
            };
            let op = program.insts[inst].op;
            let changes = program.effects(inst).changes();
            if op == Op::s_add_u32 && is_sum(to_low, [low, offset]) {
                (found[0], has_carry) = (Some(inst), true);
                continue;
            }
            if op == Op::s_addc_u32 && is_sum(to_high, [high, Value::int(0)]) && has_carry {
                found[1] = Some(inst);
            }
            has_carry &= !changes.contains(Reg::SCC);
            if given.iter().any(|&sgpr| changes.contains(Reg::scalar(sgpr))) {
                break;
            }
        }
        found
    }
}
