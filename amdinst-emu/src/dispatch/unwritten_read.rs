//! Whether a kernel computes with what nothing has written, whatever comes of it.
//!
//! Two launches with two dwords in place of such values show that a result depends on them (`unwritten`), but
//! the two may agree by chance: a mask of a shifted value is zero for many dwords. Here nothing is left to
//! chance. One dword that no program has stands for what is not written, and the launch ends at the first
//! instruction that reads it, in an active lane, to compute with it. Moves, stores and saved registers only
//! take it elsewhere, where it is known again. A part of it is not: so a store or a load of less than a dword
//! computes with it, as an atomic does with what memory holds. Loads that convert are not looked at. That
//! such a value is read does not prove that it matters: the question is asked where two launches have been
//! different.

use std::collections::HashMap;

use amdgpu_isa::{Access, AtomicOp, Families, Inst, MemoryOperation, Op, Operand, Reg, Slot, Value};

use super::{Launch, Observer, Shared, StepCount, in_parts, look_again, run_groups, run_slice};
use crate::check::{Fault, FaultKind, Holder, MemorySpace, Trap};
use crate::config::{Config, Uninitialised};
use crate::exec::footprint::Footprint;
use crate::memory::{Copied, Memory};
use crate::program::{Action, Context, Program, Step};
use crate::wave::{GprIndex, LANES, REGISTERS, Scratch, Wave};

/// The dword: as a number, an address, a float or an index it is none that programs have.
const MARK: Uninitialised = Uninitialised(0xa3d7_59b1);

/// Launches a kernel, which ended well from the memory `before`, to find such an instruction. Memory stays as
/// it is.
///
/// # Errors
/// The first such instruction in the order of workgroups ([`FaultKind::UnwrittenRead`]). Another fault, which
/// happens only with this dword.
pub(crate) fn find(
    memory: &mut Memory,
    config: &Config,
    program: &Program,
    launch: &Launch,
    before: &Copied,
) -> Result<(), Fault> {
    let config = Config { uninitialised: MARK, ..config.clone() };
    look_again(memory, config, program, launch, before, |shared| {
        run_groups(&shared, shared.groups(), &mut Looker::default()).map_err(|fault| *fault)
    })
}

/// Looks at each instruction before it runs.
#[derive(Default)]
struct Looker {
    /// By step.
    known: HashMap<u32, Operands>,
    footprint: Footprint,
}

/// What an instruction computes with.
#[derive(Default)]
struct Operands {
    /// Each with the bit of M0 that adds an index to its number, if there is one.
    registers: Vec<(Reg, Option<u32>)>,
    /// Lanes that are switched off take part.
    all_lanes: bool,
    /// May compute with what memory holds.
    has_memory: bool,
    /// Left out where vector instructions are skipped.
    is_vector: bool,
}

impl Operands {
    fn of(shared: &Shared<'_>, number: u32) -> Self {
        let program = shared.program;
        let step = &program.steps[number as usize];
        let Some(mut inst) = program.inst_of(step) else { return Self::default() };
        let carries_data = carries_data(&inst, program.target, step);
        // What is only taken elsewhere is no operand here, nor is a register of which a result leaves some
        // bits as they are.
        let moved = inst.clone();
        let keeps_half = inst.op.is_of(Families::KEEPS_HALF);
        inst.operands.retain(|operand| match operand.access {
            Access::Write => false,
            Access::ReadWrite if keeps_half => false,
            _ => !(carries_data && is_data(operand) || is_moved(&moved, operand)),
        });
        let state = [Reg::EXEC_LO, Reg::EXEC_HI, Reg::MODE, Reg::SCC];
        // Bits of M0 that are not set stay as they are.
        let keeps_m0 = inst.op.is_of(Families::VGPRS_BY_NUMBER);
        let reads = inst.effects(program.target).reads;
        let registers = reads.iter().filter(|reg| !(state.contains(reg) || keeps_m0 && *reg == Reg::M0));
        let registers = registers.map(|reg| (reg, index_bit(&inst, reg))).collect();
        Self {
            registers,
            all_lanes: inst.op.is_of(Families::MATRIX),
            has_memory: step.extra.as_ref().is_some_and(|extra| extra.memory.is_some()),
            is_vector: !inst.encoding.is_scalar(),
        }
    }

    /// The first that holds the mark, and a lane that it does so in.
    fn marked(&self, wave: &Wave) -> Option<(Reg, Option<usize>)> {
        let lanes = if self.all_lanes { u64::MAX } else { wave.exec };
        self.registers.iter().find_map(|&(reg, bit)| {
            let row = match (reg.as_scalar(), reg.as_vgpr(), reg.as_agpr()) {
                (Some(code), _, _) => {
                    let marked = wave.s.get(usize::from(code)) == Some(&MARK.0);
                    return marked.then_some((reg, None));
                }
                (_, Some(number), _) => u16::from(number),
                (_, _, Some(number)) => (REGISTERS / 2) as u16 + u16::from(number),
                _ => return None,
            };
            // Beyond the last register is a fault of its own.
            let row = bit.map_or(Some(row), |bit| wave.indexed(row, bit).ok())?;
            let is_marked = |(lane, dword): (usize, &u32)| {
                (*dword == MARK.0 && lanes >> lane & 1 != 0).then_some((register(row), Some(lane)))
            };
            wave.rows[usize::from(row)].iter().enumerate().find_map(is_marked)
        })
    }
}

/// The register of a row.
fn register(row: u16) -> Reg {
    if usize::from(row) < REGISTERS / 2 { Reg::vgpr(row as u8) } else { Reg::agpr(row as u8) }
}

/// Data of a memory instruction, in registers.
fn is_data(operand: &Operand) -> bool {
    matches!(operand.slot, Slot::Data0 | Slot::Data1 | Slot::Sdata | Slot::Vdata)
}

/// Whether a memory instruction takes its data elsewhere as whole dwords.
fn carries_data(inst: &Inst, target: amdgpu_isa::Target, step: &Step) -> bool {
    // Through the hardware of LDS, from lane to lane.
    if inst.op.is_of(Families::MOVES_LANES) {
        return true;
    }
    let Some(access) = inst.effects(target).memory else { return false };
    let stores = access.operation == MemoryOperation::Store;
    match step.extra.as_ref().and_then(|extra| extra.memory.as_ref()) {
        Some(access) if access.typed.is_some() => false,
        Some(access) => match access.action {
            Action::Store { bytes, .. } => bytes >= 4,
            Action::Atomic { op, .. } => op == AtomicOp::Swap,
            Action::Load { .. } => false,
        },
        // A scalar store.
        None => stores,
    }
}

/// Whether an instruction only takes an operand from one place to another.
fn is_moved(inst: &Inst, operand: &Operand) -> bool {
    // A part is not known again.
    if inst.mods.sdwa.is_some() {
        return false;
    }
    let (op, slot) = match operand.slot {
        Slot::Src0Y => (inst.mods.dual.unwrap_or(inst.op), Slot::Src0),
        slot => (inst.op, slot),
    };
    let from = match slot {
        Slot::Src0 | Slot::Ssrc0 => true,
        // What stays as it is, or is exchanged.
        Slot::Vdst | Slot::Sdst => true,
        // The second is a lane's number elsewhere.
        Slot::Src1 => op == Op::v_pk_mov_b32,
        _ => false,
    };
    from && is_move(op)
}

/// Instructions that only take a value of whole dwords from one place to another.
fn is_move(op: Op) -> bool {
    matches!(
        op,
        Op::s_mov_b32
            | Op::s_mov_b64
            | Op::s_movrels_b32
            | Op::s_movrels_b64
            | Op::s_movreld_b32
            | Op::s_movreld_b64
            | Op::v_mov_b32
            | Op::v_mov_b64
            | Op::v_pk_mov_b32
            | Op::v_movreld_b32
            | Op::v_movrels_b32
            | Op::v_movrelsd_b32
            | Op::v_movrelsd_2_b32
            | Op::v_swap_b32
            | Op::v_swaprel_b32
            | Op::v_accvgpr_mov_b32
            | Op::v_accvgpr_read_b32
            | Op::v_accvgpr_write_b32
            | Op::v_readlane_b32
            | Op::v_readfirstlane_b32
            | Op::v_writelane_b32
            | Op::v_permlane16_b32
            | Op::v_permlanex16_b32
            | Op::v_permlane64_b32
            | Op::v_permlane16_swap_b32
            | Op::v_permlane32_swap_b32
    )
}

/// The bit of M0 by which a vector register that a source of vector arithmetic names has an index added
/// (`s_set_gpr_idx_on`).
fn index_bit(inst: &Inst, reg: Reg) -> Option<u32> {
    if !inst.encoding.is_vector_alu() {
        return None;
    }
    let number = |first: u8, reg: Option<u8>, dwords: u8| reg?.checked_sub(first).filter(|at| *at < dwords);
    inst.operands.iter().find_map(|operand| {
        let dwords = operand.dwords.max(1);
        match operand.value {
            Value::Vgpr(first) => number(first, reg.as_vgpr(), dwords),
            Value::Agpr(first) => number(first, reg.as_agpr(), dwords),
            _ => None,
        }?;
        match operand.slot {
            Slot::Src0 => Some(GprIndex::SRC0),
            Slot::Src1 => Some(GprIndex::SRC1),
            Slot::Src2 => Some(GprIndex::SRC2),
            Slot::Vdst => Some(GprIndex::DST),
            _ => None,
        }
    })
}

/// The first marked dword in memory that an instruction computes with, or takes a part of, and the lane that
/// does so.
fn in_memory(context: &Context<'_>, step: &Step, footprint: &mut Footprint) -> Option<(Holder, usize)> {
    let access = step.extra.as_ref()?.memory.as_ref().filter(|access| access.typed.is_none())?;
    let computes = match access.action {
        Action::Atomic { op, .. } => op != AtomicOp::Swap,
        Action::Load { .. } => false,
        Action::Store { .. } => return None,
    };
    let wave = &*context.wave;
    footprint.vector(wave, step);
    let bytes = u64::from(footprint.bytes);
    let mut dword = [0; 4];
    for lane in (0..LANES).filter(|lane| (footprint.global | footprint.local) & wave.exec >> lane & 1 != 0) {
        let in_lds = footprint.local >> lane & 1 != 0;
        let offset = u64::from(footprint.offset[lane]);
        let second = footprint.second.filter(|_| in_lds);
        let second = second.map(|second| offset.wrapping_add_signed(second.into()));
        let first = if in_lds { offset } else { footprint.address[lane] };
        for start in [Some(first), second].into_iter().flatten() {
            if !computes && bytes >= 4 && start % 4 == 0 {
                continue;
            }
            let in_scratch = if in_lds { None } else { wave.scratch.offset_of(start) };
            for number in 0..(start % 4 + bytes).div_ceil(4) {
                let at = start / 4 * 4 + 4 * number;
                let (space, found) = if in_lds {
                    let bytes = context.lds.get(at as usize..).and_then(|bytes| bytes.first_chunk());
                    (MemorySpace::Lds, bytes.copied().map(u32::from_le_bytes))
                } else if let Some(first) = in_scratch {
                    // Of a lane's dwords one lies in each row.
                    let at = first / 4 * 4 + Scratch::ROW as usize * number as usize;
                    (MemorySpace::Scratch, wave.scratch.load_dword(at))
                } else {
                    let read = context.memory.read(at, &mut dword);
                    (MemorySpace::Global, read.is_ok().then(|| u32::from_le_bytes(dword)))
                };
                if found == Some(MARK.0) {
                    let address = match in_scratch {
                        Some(first) => wave.scratch.offset_in_lane(first) + 4 * number,
                        None => at,
                    };
                    return Some((Holder::Memory { space, address }, lane));
                }
            }
        }
    }
    None
}

impl Observer for Looker {
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        in_parts(context, slice, |context, _| {
            let number = context.wave.next;
            let operands = self.known.entry(number).or_insert_with(|| Operands::of(shared, number));
            let found = match operands.marked(context.wave) {
                _ if operands.is_vector && context.wave.skips_vectors => None,
                Some((register, lane)) => Some((Holder::Register(register), lane)),
                None if operands.has_memory => {
                    let step = &shared.program.steps[number as usize];
                    in_memory(context, step, &mut self.footprint).map(|(holder, lane)| (holder, Some(lane)))
                }
                None => None,
            };
            if let Some((holder, lane)) = found {
                context.wave.current = number;
                let kind = FaultKind::UnwrittenRead { holder };
                let trap =
                    lane.map_or_else(|| Trap::new(kind.clone()), |lane| Trap::at_lane(kind.clone(), lane));
                return (0, Err(trap));
            }
            run_slice(context, shared.config, &shared.hot, 1, counts)
        })
    }
}
