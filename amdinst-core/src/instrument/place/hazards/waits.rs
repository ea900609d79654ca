//! Hazards of RDNA 3, which no wait states resolve: the wave waits until vector results have arrived.
//!
//! Two concern what is inserted (LLVM's `GCNHazardRecognizer`):
//!
//! * *Transcendental use.* A vector instruction may read too soon what a transcendental one writes. Inserted
//!   code reads registers of the program only where it borrows them.
//! * *Partial forwarding*, in waves of 64 lanes. Of two results that an instruction reads, one written before
//!   EXEC was and one after, it may get a wrong one. Inserted code writes EXEC between instructions of the
//!   program.
//!
//! A third is avoided: SGPRs that vector instructions read as masks are none that inserted code writes
//! ([`FunctionSummary::lane_masks`](crate::instrument::find::summary::FunctionSummary::lane_masks)). Where
//! the program writes one, it waits behind that; what is inserted between the two, and may read the result,
//! waits as well.

use amdgpu_isa::{EncodeError, Encoding, Families, Feature, Flow, Inst, Op, RegSet, Value, WaveSize};

use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::{Assembled, Assembler, Modifiers};
use crate::instrument::place::patches::Patches;

/// `s_waitcnt_depctr depctr_va_vdst(0)`: VA_VDST is bits 15:12, every other counter at rest (RDNA 3 ISA,
/// S_WAITCNT_DEPCTR).
const VECTOR_RESULTS: i32 = 0x0f9f;

/// Of `s_waitcnt_depctr`, the counters of scalar results: SA_SDST is bit 0, VA_VCC bit 1, VA_SDST bits 11:9
/// (RDNA 3 ISA, S_WAITCNT_DEPCTR). At rest their bits are set.
const SCALAR_RESULTS: i32 = 0x0e03;

/// Adds the waits that the patches of one function need.
pub(super) fn settle(
    program: &Program,
    assembler: &Assembler,
    function: &Function,
    patches: &mut Patches,
) -> Result<(), EncodeError> {
    let wave64 = program.wave_size() == WaveSize::Wave64;
    let forwards = wave64 && program.arch.has(Feature::PartialForwardingHazard);
    let slow = match program.arch.has(Feature::TransUseHazard) {
        true => transcendental(program, function),
        false => RegSet::EMPTY,
    };
    let masks = program.arch.has(Feature::MaskWriteHazard);
    for block in &function.blocks {
        let insts: Vec<usize> = patches.range(block.insts.clone()).iter().map(|&(index, _)| index).collect();
        for index in insts {
            let ends = program.inst(index).flow() == Flow::End;
            let behind = (index + 1 < block.insts.end).then_some(index + 1);
            let patch = patches.entry(index);
            let parts =
                [(&mut patch.entry, None), (&mut patch.before, Some(index)), (&mut patch.after, behind)];
            for (part, next) in parts {
                if part.is_empty() {
                    continue;
                }
                if forwards && !ends && part.iter().any(writes_exec) {
                    part.push(wait(assembler, VECTOR_RESULTS)?);
                }
                if reads_first(program, part, &slow) {
                    part.insert(0, wait(assembler, VECTOR_RESULTS)?);
                }
                if let Some(counters) =
                    next.filter(|_| masks).and_then(|next| scalar_wait(program.inst(next)))
                {
                    part.insert(0, wait(assembler, counters)?);
                }
            }
        }
    }
    Ok(())
}

pub(super) fn wait(assembler: &Assembler, counters: i32) -> Result<Assembled, EncodeError> {
    assembler.assemble(Op::s_waitcnt_depctr, Encoding::Sopp, &[Value::Imm(counters)], Modifiers::None)
}

/// What an instruction waits for, if scalar results are among that.
fn scalar_wait(inst: &Inst) -> Option<i32> {
    match inst.operands.first()?.value {
        Value::Imm(counters) if inst.op == Op::s_waitcnt_depctr => {
            (counters & SCALAR_RESULTS != SCALAR_RESULTS).then_some(counters)
        }
        _ => None,
    }
}

/// The registers that transcendental instructions of a function write.
fn transcendental(program: &Program, function: &Function) -> RegSet {
    let mut all = RegSet::EMPTY;
    for index in function.blocks.iter().flat_map(|block| block.insts.clone()) {
        if program.insts[index].op.is_of(Families::TRANSCENDENTAL) {
            all.union_with(&program.effects(index).changes());
        }
    }
    all
}

fn writes_exec(inst: &Assembled) -> bool {
    inst.encoding.is_scalar() && inst.operands.first().is_some_and(|to| to.value == Value::EXEC)
}

/// Whether instructions read one of these vector registers that they have not written.
fn reads_first(program: &Program, insts: &[Assembled], registers: &RegSet) -> bool {
    let mut left = *registers;
    !left.is_empty()
        && insts.iter().filter(|inst| !inst.encoding.is_scalar()).any(|inst| {
            let effects = inst.effects(program.target());
            let reads = effects.reads.share_vectors(&left);
            left.subtract(&effects.writes);
            reads
        })
}
