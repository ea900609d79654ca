//! Which instructions must be how far apart: those hazards of GFX9 that the hardware does not resolve and of
//! which an inserted instruction can be one side ("Manually Inserted Wait States" in the ISA manuals; LLVM's
//! `GCNHazardRecognizer`).
//!
//! Left out, as nothing inserted takes part in them: writes of M0, MODE and VCC. Of FLAT_SCRATCH, which
//! prologues write, there is no rule.
//!
//! The rules are compared with LLVM's hazard recognizer: every inserted instruction with one in so many of
//! the opcodes, before and after it (`xtask corpus hazard-pairs --every N`). More wait states than LLVM has
//! pass, fewer do not.
//!
//! The instrumenter adds the wait states (`instrument/place/hazards`).

use amdgpu_isa::{
    Access, Arch, Effects, Encoding, Families, Feature, Inst, MemoryOperation, Op, Reg, RegSet, SdwaSel,
    Slot, Value, scalar,
};

/// Where an original instruction stands beside an inserted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// The original instruction runs first.
    Before,
    /// The original instruction runs second.
    Behind,
}

/// The wait states that are seen to between an inserted instruction and an original one. For those who check
/// the rules: whoever instruments need not ask.
pub fn wait_states(arch: Arch, inserted: &Inst, original: &Inst, original_is: Neighbour) -> u32 {
    let facts = |inst: &Inst| Facts::new(inst, &inst.effects(arch));
    let kind = |inst: &Inst| Kind::of(inst.encoding, inst.op);
    if !kind(inserted).matters() || kind(original) == Kind::Scalar {
        return 0;
    }
    match original_is {
        Neighbour::Before => facts(original).states_before(&facts(inserted), arch),
        Neighbour::Behind => facts(inserted).states_before(&facts(original), arch),
    }
}

/// The longest distance that any rule asks for: a matrix instruction of 16 passes before a reader of its
/// result, on gfx950.
const MOST_STATES: u32 = 20;

/// Which of the instructions there are in a function that rules ask most wait states behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slow {
    matrices: bool,
    dots: bool,
}

impl Slow {
    /// If the function has one instruction alone.
    pub(crate) fn of(inst: &Inst) -> Self {
        let matrices = Kind::of(inst.encoding, inst.op) == Kind::Matrix;
        Self { matrices, dots: inst.op.is_of(Families::DOT) }
    }

    /// Takes in those of other instructions of the function.
    pub(crate) fn add(&mut self, other: Self) {
        self.matrices |= other.matrices;
        self.dots |= other.dots;
    }
}

/// What the rules ask about one instruction that is vector ALU or accesses memory; no other is a side of a
/// rule.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    kind: Kind,
    /// Registers that may be read.
    reads: RegSet,
    /// Registers that may change.
    changes: RegSet,
    /// Whether there is a scalar one among these, and a VGPR or AGPR.
    changes_scalars: bool,
    changes_vectors: bool,
    /// An operand of it is EXEC or a half of that.
    names_exec: bool,
    /// Its last operand is a register that selects a lane.
    lane_select: Option<Reg>,
    dpp: bool,
    transcendental: bool,
    dot: bool,
    /// Its result may be passed on before its untouched half, or bytes, are merged in.
    forwards_part: bool,
    /// Reads or writes lanes by number: v_readlane, v_readfirstlane (`Some(true)`), v_writelane
    /// (`Some(false)`).
    lane_access: Option<bool>,
    /// The instruction loads from memory to LDS, which LLVM takes for vector ALU, too.
    to_lds: bool,
    /// The registers with the data of a store of more than 64 bits.
    wide_data: RegSet,
    op: Op,
}

/// What kind of instruction the rules take it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of no concern to any rule.
    Scalar,
    Vector,
    Matrix,
    Memory,
    Other,
}

impl Kind {
    pub(crate) fn of(encoding: Encoding, op: Op) -> Self {
        use Encoding as E;
        match encoding {
            E::Sop2 | E::Sopk | E::Sop1 | E::Sopc | E::Sopp | E::Smem => Self::Scalar,
            E::Vop3px => Self::Matrix,
            E::Vop3p if op.is_of(Families::MATRIX) => Self::Matrix,
            E::Vop1
            | E::Vop1Sdwa
            | E::Vop1Dpp
            | E::Vop2
            | E::Vop2Sdwa
            | E::Vop2Dpp
            | E::Vopc
            | E::VopcSdwa
            | E::Vop3
            | E::Vop3p
            | E::VopcDpp
            | E::Vop1Dpp8
            | E::Vop2Dpp8
            | E::VopcDpp8
            | E::Vop3Dpp
            | E::Vop3Dpp8
            | E::Vop3pDpp
            | E::Vop3pDpp8
            | E::Vopd
            | E::Vinterp
            | E::Vintrp => Self::Vector,
            E::Flat | E::Global | E::Scratch | E::Mubuf | E::Mtbuf => Self::Memory,
            E::Mimg | E::MimgNsa | E::MimgNsa2 | E::MimgNsa3 | E::Vimage | E::Vsample => Self::Memory,
            E::Ds | E::Exp | E::Ldsdir => Self::Other,
        }
    }

    /// Whether an inserted instruction of this kind can be a side of a rule.
    pub(crate) const fn matters(self) -> bool {
        !matches!(self, Self::Scalar)
    }
}

impl Facts {
    pub(crate) fn new(inst: &Inst, effects: &Effects) -> Self {
        let lane_access = match inst.op {
            Op::v_readlane_b32 | Op::v_readfirstlane_b32 => Some(true),
            Op::v_writelane_b32 => Some(false),
            _ => None,
        };
        let lane_select = match (lane_access, inst.operands.last().map(|operand| operand.value)) {
            (Some(_), Some(Value::Scalar(register))) => Some(Reg::scalar(register)),
            _ => None,
        };
        let part = inst.mods.sdwa.is_some_and(|sdwa| sdwa.dst_sel != SdwaSel::Dword);
        // Bit 3 tells the half of a result, bits 2 and 3 the byte of one. Of a third source bit 2 tells the
        // half, too: then a wait state is added for nothing.
        let part = part || inst.encoding == Encoding::Vop3 && inst.mods.op_sel & 0b1100 != 0;
        // LLVM takes the upper half of a packed instruction's first source for that of its result.
        let part = part || inst.encoding == Encoding::Vop3p && inst.mods.op_sel_hi & 1 != 0;
        let kind = Kind::of(inst.encoding, inst.op);
        let is_exec = |value: Value| matches!(value, Value::Scalar(scalar::EXEC | scalar::EXEC_HI));
        let changes = effects.changes();
        let mut named = inst.operands.iter().filter(|operand| operand.slot != Slot::Implied);
        Self {
            kind,
            names_exec: named.any(|operand| is_exec(operand.value)),
            lane_select,
            dpp: inst.mods.dpp.is_some(),
            transcendental: inst.op.is_of(Families::TRANSCENDENTAL),
            dot: inst.op.is_of(Families::DOT),
            forwards_part: part || rounds_to_fp4_at_random(inst.op),
            lane_access,
            to_lds: kind == Kind::Memory && (inst.mods.lds || inst.op.is_of(Families::TO_OR_FROM_LDS)),
            wide_data: if kind == Kind::Memory { wide_data(inst, effects) } else { RegSet::EMPTY },
            changes_scalars: changes.has_scalars(),
            changes_vectors: changes.has_vectors(),
            changes,
            reads: effects.reads,
            op: inst.op,
        }
    }

    /// The most wait states that any rule asks for behind this instruction.
    pub(crate) fn reach(&self, arch: Arch) -> u32 {
        match self.kind {
            _ if !arch.has(Feature::ManualWaitStates) => 0,
            Kind::Matrix => MOST_STATES,
            Kind::Vector if self.changes_scalars => 5,
            Kind::Vector if self.dot => 3,
            Kind::Vector => 2,
            _ if !self.wide_data.is_empty() || self.changes_vectors => 2,
            _ => 0,
        }
    }

    /// The most wait states that any rule asks for before this instruction, in a function with such slow
    /// ones.
    pub(crate) fn reach_before(&self, slow: Slow, arch: Arch) -> u32 {
        if !arch.has(Feature::ManualWaitStates) {
            return 0;
        }
        let is_valu = matches!(self.kind, Kind::Vector | Kind::Matrix);
        let later = arch.has(Feature::ForwardingHazards);
        let first_with_matrices = arch.has(Feature::AccumulatorMoveHazards);
        if slow.matrices {
            MOST_STATES
        } else if self.dpp || self.kind == Kind::Memory && self.reads.has_scalars() {
            5
        } else if self.lane_select.is_some()
            || later && self.lane_access.is_some()
            || self.kind == Kind::Matrix
            || is_div_fmas(self.op)
            || swaps_rows(self.op)
        {
            4
        } else if slow.dots {
            3
        } else if first_with_matrices {
            2
        } else if is_valu || later && self.to_lds {
            if later { 2 } else { 1 }
        } else {
            0
        }
    }

    /// Wait states that must lie between `self` and a later `consumer`.
    pub(crate) fn states_before(&self, consumer: &Self, arch: Arch) -> u32 {
        if !arch.has(Feature::ManualWaitStates) {
            return 0;
        }
        let mut states = 0;
        let mut need = |wanted: u32, if_true: bool| {
            if if_true {
                states = states.max(wanted);
            }
        };
        let is_valu = |facts: &Self| matches!(facts.kind, Kind::Vector | Kind::Matrix);
        let later = arch.has(Feature::ForwardingHazards);
        let writes = &self.changes;
        if is_valu(self) && self.changes_scalars {
            let read_scalars = writes.share_scalars(&consumer.reads);
            need(5, consumer.kind == Kind::Memory && read_scalars);
            need(4, consumer.lane_select.is_some_and(|select| writes.contains(select)));
            if later && is_valu(consumer) && read_scalars {
                let mut named = *writes;
                if !consumer.names_exec {
                    named.remove(Reg::EXEC_LO);
                    named.remove(Reg::EXEC_HI);
                }
                need(2, named.share_scalars(&consumer.reads));
            }
            need(4, is_div_fmas(consumer.op) && writes.contains(Reg::VCC_LO));
            let exec = writes.contains(Reg::EXEC_LO);
            need(5, exec && consumer.dpp);
            need(4, exec && consumer.kind == Kind::Matrix);
            need(4, exec && later && consumer.lane_access.is_some());
            need(4, exec && swaps_rows(consumer.op));
        }
        // What DPP leaves of its result counts as read, and a load as a write.
        if consumer.dpp {
            need(2, writes.share_vectors(&consumer.reads) || writes.share_vectors(&consumer.changes));
        }
        if is_valu(self) && self.changes_vectors {
            // Few pairs come so far that these matter.
            let read_vectors = || writes.share_vectors(&consumer.reads);
            need(2, swaps_rows(consumer.op) && read_vectors());
            need(2, consumer.kind == Kind::Matrix && self.kind == Kind::Vector && read_vectors());
            need(1, later && consumer.lane_access == Some(true) && read_vectors());
            need(1, later && self.transcendental && is_valu(consumer) && read_vectors());
            let touches_vectors = || read_vectors() || writes.share_vectors(&consumer.changes);
            let waits_for_parts = is_valu(consumer) || consumer.to_lds;
            need(1, later && self.forwards_part && waits_for_parts && touches_vectors());
            let other_op = consumer.op != self.op;
            need(3, arch.has(Feature::DotHazards) && self.dot && other_op && touches_vectors());
            if arch.has(Feature::AccumulatorMoveHazards) {
                let to_memory = matches!(consumer.kind, Kind::Memory | Kind::Other) && read_vectors();
                need(2, self.op == Op::v_accvgpr_read_b32 && to_memory);
                need(2, consumer.op == Op::v_accvgpr_write_b32 && read_vectors());
            }
        }
        // A register that is written right before such a move must not be stored right behind it.
        if arch.has(Feature::AccumulatorMoveHazards) {
            need(1, is_accumulator_move(self.op) && consumer.kind == Kind::Memory);
            need(1, self.kind == Kind::Vector && self.changes_vectors && is_accumulator_move(consumer.op));
        }
        if self.kind == Kind::Matrix && consumer.kind != Kind::Matrix {
            // The longest: which matrix instruction it is, and whether it reads or writes, shorten it.
            let mut own = *writes;
            own.union_with(&self.reads);
            let states = if arch.has(Feature::LongerMatrices) { MOST_STATES } else { MOST_STATES - 1 };
            need(states, own.share_vectors(&consumer.reads) || own.share_vectors(&consumer.changes));
        }
        if is_valu(consumer) && self.kind == Kind::Memory {
            need(if later { 2 } else { 1 }, self.wide_data.intersects(&consumer.changes));
        }
        states
    }
}

/// What the rules ask about any instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Brief {
    pub(crate) kind: Kind,
    /// Wait states that it makes itself.
    pub(crate) states: u8,
}

impl Brief {
    pub(crate) fn of(inst: &Inst) -> Self {
        let nop = match (inst.op, inst.operands.first().map(|operand| operand.value)) {
            (Op::s_nop, Some(Value::Imm(count))) => Some(count),
            _ => None,
        };
        Self::new(Kind::of(inst.encoding, inst.op), nop)
    }

    /// Of an instruction of this kind, which has the immediate of an `s_nop` if it is one.
    pub(crate) fn new(kind: Kind, nop: Option<i32>) -> Self {
        Self { kind, states: nop.map_or(1, |count| (count as u8 & 7) + 1) }
    }
}

fn is_div_fmas(op: Op) -> bool {
    matches!(op, Op::v_div_fmas_f32 | Op::v_div_fmas_f64)
}

/// Between VGPRs and AGPRs.
fn is_accumulator_move(op: Op) -> bool {
    matches!(op, Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32)
}

/// `v_permlane16_swap_b32` and its like, of gfx950.
fn swaps_rows(op: Op) -> bool {
    matches!(op, Op::v_permlane16_swap_b32 | Op::v_permlane32_swap_b32)
}

/// Whether an instruction of gfx950 passes its result on late, whichever byte it is.
fn rounds_to_fp4_at_random(op: Op) -> bool {
    matches!(
        op,
        Op::v_cvt_scalef32_sr_pk_fp4_f32
            | Op::v_cvt_scalef32_sr_pk_fp4_f16
            | Op::v_cvt_scalef32_sr_pk_fp4_bf16
    )
}

/// What a store of more than 64 bits a lane reads as its data.
fn wide_data(inst: &Inst, effects: &Effects) -> RegSet {
    let mut registers = RegSet::EMPTY;
    if effects.memory.is_none_or(|memory| memory.operation == MemoryOperation::Load) {
        return registers;
    }
    for operand in &inst.operands {
        let is_data = matches!(operand.slot, Slot::Vdata | Slot::Data0) && operand.access != Access::Write;
        if is_data && operand.dwords > 2 {
            match operand.value {
                Value::Vgpr(first) => registers.insert_run(Reg::vgpr(first), operand.dwords.into()),
                Value::Agpr(first) => registers.insert_run(Reg::agpr(first), operand.dwords.into()),
                _ => {}
            }
        }
    }
    registers
}

#[cfg(test)]
mod tests {
    use super::*;
    use amdgpu_isa::{opcodes as of_arch, parse};

    /// No rule asks for more than the reach of either side: beyond that nobody looks.
    #[test]
    fn no_rule_reaches_further_than_it_is_said_to() {
        for arch in [Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950] {
            let insts: Vec<Inst> = of_arch(arch).filter_map(|opcode| opcode.plain().ok()).collect();
            let facts = |inst: &Inst| Facts::new(inst, &inst.effects(arch));
            let producers: Vec<(Facts, Slow)> =
                insts.iter().map(|inst| (facts(inst), Slow::of(inst))).collect();
            assert!(producers.len() > 500);
            for consumer in insts.iter().map(facts) {
                for (producer, slow) in &producers {
                    let states = producer.states_before(&consumer, arch);
                    assert!(states <= producer.reach(arch), "{} before {}", producer.op, consumer.op);
                    assert!(
                        states <= consumer.reach_before(*slow, arch),
                        "{} before {}",
                        producer.op,
                        consumer.op
                    );
                }
            }
        }
    }

    /// Producers and consumers with the wait states that LLVM 22 adds between them
    /// (`llc -run-pass=post-RA-hazard-rec`).
    #[test]
    fn rules_that_differ_between_processors_are_those_of_llvm() {
        let matrix = "v_mfma_f32_32x32x4_2b_f16 v[0:31], v[40:41], v[42:43], v[0:31]";
        let older = "v_mfma_f32_32x32x4f16 v[0:31], v[40:41], v[42:43], v[0:31]";
        let mov = "v_mov_b32_e32 v60, v0";
        let swap = "v_permlane32_swap_b32_e32 v0, v1";
        for (arch, producer, consumer, states) in [
            (Arch::Gfx908, "v_accvgpr_read_b32 v0, a0", "global_store_dword v[2:3], v0, off", 2),
            (Arch::Gfx908, "v_accvgpr_read_b32 v0, a0", "buffer_store_dword v0, off, s[0:3], s4", 2),
            (Arch::Gfx908, "v_accvgpr_read_b32 v0, a0", "ds_add_u32 v0, v1", 2),
            (Arch::Gfx908, "v_accvgpr_read_b32 v0, a0", mov, 0),
            (Arch::Gfx942, "v_cmpx_eq_u32_e32 vcc, v4, v5", mov, 0),
            (Arch::Gfx942, "v_cmpx_eq_u32_e32 vcc, v4, v5", "v_mov_b32_e32 v60, exec_lo", 2),
            (Arch::Gfx908, "v_writelane_b32 v0, s4, 3", "v_accvgpr_write_b32 a0, v0", 2),
            (Arch::Gfx90a, "v_accvgpr_read_b32 v0, a0", "buffer_store_dword v0, off, s[0:3], s4", 0),
            (Arch::Gfx90a, older, mov, 19),
            (Arch::Gfx942, matrix, mov, 19),
            (Arch::Gfx950, matrix, mov, 20),
            (Arch::Gfx950, matrix, "v_mov_b32_e32 v0, 1", 20),
            (Arch::Gfx950, "v_mov_b32_e32 v0, 1", swap, 2),
            (Arch::Gfx950, "v_writelane_b32 v1, s4, 3", swap, 2),
            (Arch::Gfx950, "v_mov_b32_e32 v2, 1", swap, 0),
            (Arch::Gfx950, "v_cmpx_eq_u32_e32 vcc, v4, v5", swap, 4),
            (Arch::Gfx942, "v_cvt_sr_fp8_f32 v0, v2, v3", mov, 0),
            (Arch::Gfx942, "v_cvt_sr_fp8_f32 v0, v2, v3 op_sel:[0,0,1,0]", mov, 1),
            (Arch::Gfx942, "v_cvt_sr_fp8_f32 v0, v2, v3 op_sel:[0,0,0,1]", mov, 1),
            (Arch::Gfx950, "v_cvt_scalef32_sr_bf8_f16 v0, v2, v3, v4 op_sel:[0,0,1,0]", mov, 1),
            (Arch::Gfx950, "v_cvt_scalef32_pk_fp8_f32 v0, v2, v3, v4", mov, 0),
            (Arch::Gfx950, "v_cvt_scalef32_pk_fp8_f32 v0, v2, v3, v4 op_sel:[0,0,0,1]", mov, 1),
            (Arch::Gfx950, "v_cvt_scalef32_sr_pk_fp4_f16 v0, v2, v3, v4", mov, 1),
            (Arch::Gfx950, "v_pk_add_u16 v0, v2, v3", mov, 1),
            (Arch::Gfx942, "v_pk_add_u16 v0, v2, v3", "global_load_lds_dword v[0:1], off", 1),
            (Arch::Gfx90a, "v_pk_add_u16 v0, v2, v3", mov, 0),
            (
                Arch::Gfx90a,
                "v_writelane_b32 v60, s4, 3",
                "v_mov_b32_dpp v60, v0 row_shr:1 row_mask:0xf bank_mask:0x7",
                2,
            ),
            (
                Arch::Gfx90a,
                "scratch_load_dword v0, off, s4",
                "v_mov_b32_dpp v60, v0 row_shr:1 row_mask:0xf bank_mask:0xf",
                2,
            ),
            (
                Arch::Gfx90a,
                "v_mfma_f32_32x32x4f16 v[0:31], v[40:41], v[42:43], v[0:31]",
                "ds_add_u32 v60, v0",
                19,
            ),
        ] {
            let facts = |text: &str| {
                let inst = parse(arch, text).unwrap_or_else(|error| panic!("{text}: {error}"));
                Facts::new(&inst, &inst.effects(arch))
            };
            let told = facts(producer).states_before(&facts(consumer), arch);
            assert_eq!(told, states, "{producer} before {consumer} on {arch}");
        }
    }
}
