//! Hazards of RDNA 3, which no wait states resolve: the wave waits until vector results have arrived.
//!
//! Two concern what is inserted (LLVM's `GCNHazardRecognizer`):
//!
//! * *Transcendental use.* A vector instruction may read too soon what a transcendental one writes. Inserted code reads registers of the
//!   program only where it borrows them.
//! * *Partial forwarding*, in waves of 64 lanes. Of two results that an instruction reads, one written before EXEC was and one after, it
//!   may get a wrong one. Inserted code writes EXEC between instructions of the program.
//!
//! A third is avoided: SGPRs that vector instructions read as masks are none that inserted code writes
//! ([`FunctionSummary::lane_masks`](crate::instrument::find::summary::FunctionSummary::lane_masks)).

use amdgpu_isa::{EncodeError, Encoding, Families, Feature, Op, RegSet, Value, WaveSize};

use crate::analysis::program::{Function, Program};
use crate::instrument::emit::assembler::{Assembled, Assembler, Modifiers};
use crate::instrument::place::patches::Patches;

/// `s_waitcnt_depctr depctr_va_vdst(0)`: VA_VDST is bits 15:12, every other counter at rest (RDNA 3 ISA, S_WAITCNT_DEPCTR).
const VECTOR_RESULTS: i32 = 0x0f9f;

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
    let insts = function.blocks.iter().flat_map(|block| patches.range(block.insts.clone()));
    let insts: Vec<usize> = insts.map(|&(index, _)| index).collect();
    for index in insts {
        let ends = program.inst(index).flow() == amdgpu_isa::Flow::End;
        let patch = patches.entry(index);
        for part in [&mut patch.before, &mut patch.after] {
            if forwards && !ends && part.iter().any(writes_exec) {
                part.push(wait(assembler)?);
            }
            if reads_first(program, part, &slow) {
                part.insert(0, wait(assembler)?);
            }
        }
    }
    Ok(())
}

fn wait(assembler: &Assembler) -> Result<Assembled, EncodeError> {
    let values = [Value::Imm(VECTOR_RESULTS)];
    assembler.assemble(Op::s_waitcnt_depctr, Encoding::Sopp, &values, Modifiers::None)
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
