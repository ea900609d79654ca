//! Private memory for what sites borrow when there is no other way.
//!
//! Descriptor and note get eight bytes more a work-item. Where hardware does not set FLAT_SCRATCH, or the
//! kernel's own memory is larger than offsets reach, the site needs one more dead SGPR, for the address, or
//! M0, to keep one in use.
//!
//! Where hardware does not set FLAT_SCRATCH, the prologue does: to the base of scratch memory plus the wave's
//! offset, which the instrumented descriptor asks for (`FLAT_SCRATCH_INIT`). A kernel that sets it in the
//! same way sets it a second time. Kernels that write anything else there are refused (`no-free-vgpr`), and
//! so are kernels with a dynamic stack.

use amdgpu_isa::{Feature, HardwareRegister, Op, Reg, Value};

use super::groups::KernelGroup;
use super::properties::start;
use super::{NoPlan, Planner};
use crate::instrument::emit::sequence::FLAT_SCRATCH;
use crate::instrument::refusal::Reason;
use crate::instrument::registers::layout::ScratchSlots;

/// The most private memory that a wave can have: it is counted in KiB, in 13 bits
/// (`COMPUTE_TMPRING_SIZE.WAVESIZE`).
const MOST_OF_WAVE: u32 = 8191 * 1024;

impl Planner<'_> {
    /// Two dwords a work-item behind all that the kernels of a group have.
    ///
    /// With architected flat scratch, scratch memory needs no register to be addressed: hardware sets
    /// FLAT_SCRATCH for each wave, and enabling it shifts no SGPR. Else the prologue sets it, as kernels do
    /// that need it; who writes anything else there is refused.
    pub(super) fn scratch_slots(&self, group: &KernelGroup) -> Result<ScratchSlots, NoPlan> {
        let refuse = |detail: String| {
            Err(NoPlan::Refused(Reason::NoFreeVgpr, format!("every VGPR is in use, and {detail}")))
        };
        let is_set_up = !self.object.target.arch.has(Feature::ArchitectedFlatScratch);
        let mut kept = 0u32;
        for &kernel in &group.kernels {
            let kernel = self.kernel(kernel);
            let (descriptor, metadata) = (&kernel.descriptor, &kernel.metadata);
            if metadata.uses_dynamic_stack || descriptor.uses_dynamic_stack() {
                return refuse("how much scratch memory it has is known at its launch only".to_owned());
            }
            kept = kept.max(descriptor.private_segment_fixed_size()).max(metadata.private_segment_fixed_size);
        }
        if is_set_up && let Some(writer) = self.writer_of_flat_scratch(group) {
            return refuse(format!("{writer} changes where its scratch memory is"));
        }
        let most = MOST_OF_WAVE / self.survey.program.wave_size().lanes();
        let kept = kept.min(most).next_multiple_of(4);
        let end = kept + ScratchSlots::BYTES;
        let by_register = is_set_up || end > self.survey.program.arch.generation().offset_end();
        let slots = ScratchSlots { kept, end, by_register, is_set_up };
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
            insts.filter(move |&inst| !set_up.contains(&Some(inst)) && self.writes_flat_scratch(inst))
        });
        let inst = writers.next()?;
        Some(format!("`{}` at {:#x}", program.text(inst), program.insts[inst].pc))
    }

    fn writes_flat_scratch(&self, inst: usize) -> bool {
        let program = &self.survey.program;
        match program.arch.generation().flat_scratch_registers() {
            Some(registers) => HardwareRegister::written(program.inst(inst))
                .is_some_and(|register| registers.contains(&register)),
            None => {
                program.insts[inst].changes_scalars && {
                    let changes = program.effects(inst).changes();
                    [0, 1].iter().any(|half| changes.contains(Reg::scalar(FLAT_SCRATCH + half)))
                }
            }
        }
    }

    /// The two instructions by which a kernel sets FLAT_SCRATCH as the prologue does: to the sum of what
    /// arrives in SGPRs, before anything else is written to these.
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
        let registers = program.arch.generation().flat_scratch_registers();
        let mut base = Base { given: [Some(init), Some(init + 1), Some(offset)], ..Base::default() };
        for index in first..blocks[number].insts.end {
            let inst = program.inst(index);
            let values: Vec<Value> = inst.operands.iter().map(|operand| operand.value).collect();
            let sum = base.add(inst.op, &values);
            base.forget(|register| program.effects(index).changes().contains(register));
            let half = match (registers, sum) {
                (None, Some((half, to))) => Some(half).filter(|&half| to == FLAT_SCRATCH + half as u8),
                (Some(registers), None) => match (HardwareRegister::written(inst), &values[..]) {
                    (Some(register), [Value::Imm(field), Value::Scalar(from)])
                        if *field == register.whole() =>
                    {
                        (0..2).find(|&half| registers[half] == register && base.sums[half] == Some(*from))
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some(half) = half {
                found[half] = Some(index);
            }
            if let Some((half, to)) = sum {
                base.sums[half] = Some(to);
                base.has_carry = half == 0;
            }
        }
        found
    }
}

/// Which SGPRs have a part of where the wave's private memory is.
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    /// As the wave starts: the halves of the base of scratch memory, and the wave's offset.
    given: [Option<u8>; 3],
    /// The halves of the sum.
    sums: [Option<u8>; 2],
    /// SCC is the carry of the low half.
    has_carry: bool,
}

impl Base {
    /// Which half of the sum an instruction makes, and the register that it writes.
    fn add(&self, op: Op, values: &[Value]) -> Option<(usize, u8)> {
        let [low, high, offset] = self.given.map(|register| register.map(Value::Scalar));
        let (half, wanted) = match op {
            Op::s_add_u32 => (0, [low?, offset?]),
            Op::s_addc_u32 if self.has_carry => (1, [high?, Value::int(0)]),
            _ => return None,
        };
        match *values {
            [Value::Scalar(to), a, b] if [a, b] == wanted || [b, a] == wanted => Some((half, to)),
            _ => None,
        }
    }

    /// Some registers have something else now.
    fn forget(&mut self, is_changed: impl Fn(Reg) -> bool) {
        for register in self.given.iter_mut().chain(&mut self.sums) {
            *register = register.filter(|&register| !is_changed(Reg::scalar(register)));
        }
        self.has_carry &= !is_changed(Reg::SCC);
    }
}
