//! What the model needs to know of each instruction, worked out once for a program.

use amdgpu_isa::{
    Element, Encoding, Families, Generation, Inst, MatrixUnit, MemoryKind, MemoryOperation, NumberKind, Op,
    Reg, Target, Waits,
};

use super::parameters::{Cost, Parameters};
use crate::program::Program;

/// Registers that the scoreboard follows: 128 scalars, 256 VGPRs, 256 AGPRs, SCC.
pub(super) const REGISTERS: usize = 128 + 256 + 256 + 1;

/// The category of an issue slot: of each, a SIMD issues one instruction a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Category {
    Vector,
    Scalar,
    VectorMemory,
    Lds,
    Special,
}

impl Category {
    pub(super) const COUNT: usize = 5;
}

/// What an instruction does, as far as time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Vector,
    /// Runs on the matrix core. `alone`: the vector ALU cannot work beside it.
    Matrix {
        alone: bool,
    },
    Scalar,
    /// `s_load_*` and its like, or a clock.
    ScalarMemory {
        dwords: u8,
        clock: bool,
    },
    VectorMemory(Access),
    /// LDS through the bank network; without addresses: lane exchange.
    Lds {
        access: Access,
        addressed: bool,
    },
    /// `s_waitcnt`.
    Wait(Waits),
    Barrier,
    Branch,
    Nop {
        states: u8,
    },
    Sleep {
        units: u8,
    },
    End,
    /// Hints, messages.
    Nothing,
}

/// A vector access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    pub(super) operation: MemoryOperation,
    /// Dwords a lane.
    pub(super) dwords: u8,
    /// Goes past vL1D.
    pub(super) past_l1: bool,
}

/// One instruction.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) category: Category,
    pub(super) work: Work,
    pub(super) cost: Cost,
    /// Registers that must be ready.
    pub(super) reads: Box<[u16]>,
    /// Registers that become ready.
    pub(super) writes: Box<[u16]>,
    /// Reads scalar registers with the scalar unit.
    pub(super) scalar_reader: bool,
    /// Counters that count it.
    pub(super) vm_cnt: bool,
    pub(super) lgkm_cnt: bool,
    pub(super) exp_cnt: bool,
    /// Address in the code object.
    pub(super) pc: u64,
}

/// Every instruction of a program, by the number of its step.
pub(super) fn all(program: &Program, parameters: &Parameters) -> Vec<Instruction> {
    let describe = |step: &crate::program::Step| {
        let pc = program.pc(step);
        match program.inst_of(step) {
            Some(inst) => describe(program, parameters, &inst, pc),
            // It traps when it runs.
            _ => Instruction {
                category: Category::Special,
                work: Work::Nothing,
                cost: parameters.salu,
                reads: Box::default(),
                writes: Box::default(),
                scalar_reader: false,
                vm_cnt: false,
                lgkm_cnt: false,
                exp_cnt: false,
                pc,
            },
        }
    };
    program.steps.iter().map(describe).collect()
}

fn describe(program: &Program, parameters: &Parameters, inst: &Inst, pc: u64) -> Instruction {
    let effects = inst.effects(program.target);
    let (category, work, cost) = work(inst, &effects, program.target, parameters);
    let mut written = effects.changes();
    written.remove(Reg::MODE);
    Instruction {
        category,
        work,
        cost,
        reads: effects.reads.iter().filter_map(number).collect(),
        writes: written.iter().filter_map(number).collect(),
        scalar_reader: matches!(category, Category::Scalar | Category::Special),
        vm_cnt: effects.vm_cnt,
        lgkm_cnt: effects.lgkm_cnt,
        exp_cnt: effects.exp_cnt,
        pc,
    }
}

/// A register's number in the scoreboard. MODE is not followed: what writes it is rare and waits for itself.
fn number(register: Reg) -> Option<u16> {
    let scalar = register.as_scalar().map(u16::from);
    let vgpr = register.as_vgpr().map(|number| 128 + u16::from(number));
    let agpr = register.as_agpr().map(|number| 384 + u16::from(number));
    scalar.or(vgpr).or(agpr).or_else(|| (register == Reg::SCC).then_some(640))
}

fn work(
    inst: &Inst,
    effects: &amdgpu_isa::Effects,
    target: Target,
    p: &Parameters,
) -> (Category, Work, Cost) {
    let access = effects.memory;
    match inst.encoding {
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc => {
            if matches!(inst.op, Op::s_setpc_b64 | Op::s_swappc_b64 | Op::s_call_b64) {
                return (Category::Special, Work::Branch, p.salu);
            }
            let slow = inst.op.is_of(Families::SAVES_EXEC)
                || matches!(inst.op, Op::s_setreg_b32 | Op::s_setreg_imm32_b32);
            (Category::Scalar, Work::Scalar, if slow { p.salu_slow } else { p.salu })
        }
        Encoding::Sopp => (Category::Special, special(inst, target.arch.generation()), p.salu),
        Encoding::Smem => {
            let clock = matches!(inst.op, Op::s_memtime | Op::s_memrealtime);
            let dwords = access.map_or(2, |access| access.dwords);
            (Category::Scalar, Work::ScalarMemory { dwords, clock }, p.salu)
        }
        Encoding::Ds => {
            let operation = access.map_or(MemoryOperation::Load, |access| access.operation);
            let addressed = access.is_some()
                && !matches!(inst.op, Op::ds_permute_b32 | Op::ds_bpermute_b32 | Op::ds_swizzle_b32);
            let dwords = access.map_or(1, |access| access.dwords);
            let access = Access { operation, dwords, past_l1: false };
            (Category::Lds, Work::Lds { access, addressed }, p.valu)
        }
        Encoding::Flat
        | Encoding::Global
        | Encoding::Scratch
        | Encoding::Mubuf
        | Encoding::Mtbuf
        | Encoding::Mimg => {
            let Some(access) = access else { return (Category::Special, Work::Nothing, p.salu) };
            let past_l1 = inst.mods.glc || inst.mods.slc;
            let to_lds = access.kind == MemoryKind::Lds;
            let access =
                Access { operation: access.operation, dwords: access.dwords, past_l1: past_l1 || to_lds };
            (Category::VectorMemory, Work::VectorMemory(access), p.valu)
        }
        Encoding::Exp => (Category::Special, Work::Nothing, p.salu),
        _ => vector(inst, target, p),
    }
}

/// SOPP: what the special unit does.
fn special(inst: &Inst, generation: Generation) -> Work {
    let immediate = inst.operands.iter().find_map(|operand| match operand.value {
        amdgpu_isa::Value::Imm(value) => Some(value as u16),
        _ => None,
    });
    let immediate = immediate.unwrap_or(0);
    match inst.op {
        op if op.waits() => Waits::of(inst, generation).map_or(Work::Nothing, Work::Wait),
        Op::s_nop => Work::Nop { states: (immediate & 15) as u8 + 1 },
        Op::s_sleep => Work::Sleep { units: (immediate & 127) as u8 },
        Op::s_barrier => Work::Barrier,
        Op::s_endpgm | Op::s_endpgm_saved | Op::s_endpgm_ordered_ps_done => Work::End,
        op if crate::exec::is_direct_branch(op) => Work::Branch,
        _ => Work::Nothing,
    }
}

/// The vector ALU and the matrix core.
fn vector(inst: &Inst, target: Target, p: &Parameters) -> (Category, Work, Cost) {
    let op = inst.op;
    if let Some(product) = op.matrix_product().filter(|product| product.unit == MatrixUnit::Mfma) {
        let [small, middle, large, small_f64, middle_f64] = p.mfma;
        let alone = product.a == Element::F64;
        let cost = match (product.size, alone) {
            (4, true) => small_f64,
            (_, true) => middle_f64,
            (4, _) => small,
            (16, _) => middle,
            _ => large,
        };
        return (Category::Vector, Work::Matrix { alone }, cost);
    }
    let numbers = inst.numbers(target);
    let is_double = numbers.result == NumberKind::F64 || numbers.sources.contains(&NumberKind::F64);
    let cost = if op.is_of(Families::TRANSCENDENTAL) {
        if is_double { p.transcendental_f64 } else { p.transcendental }
    } else if op.is_of(Families::CONVERSION) {
        if is_double { p.double } else { p.convert }
    } else if matches!(
        op,
        Op::v_mul_lo_u32 | Op::v_mul_hi_u32 | Op::v_mul_hi_i32 | Op::v_mad_u64_u32 | Op::v_mad_i64_i32
    ) {
        p.multiply
    } else if matches!(op, Op::v_lshlrev_b64 | Op::v_lshrrev_b64 | Op::v_ashrrev_i64) {
        p.long_shift
    } else if matches!(
        op,
        Op::v_mul_f64 | Op::v_fma_f64 | Op::v_fmac_f64 | Op::v_div_fmas_f64 | Op::v_trig_preop_f64
    ) {
        p.double_multiply
    } else if is_double {
        p.double
    } else {
        p.valu
    };
    (Category::Vector, Work::Vector, cost)
}
