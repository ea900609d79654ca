//! Which instructions must be how far apart: those hazards of GFX9 that the hardware does not resolve and of which an
//! inserted instruction can be one side ("Manually Inserted Wait States" in the ISA manuals; LLVM's
//! `GCNHazardRecognizer`).
//!
//! Left out, as nothing inserted takes part in them: writes of M0, MODE, FLAT_SCRATCH and VCC.

use crate::Arch;
use crate::isa::{Access, Effects, Encoding, Inst, MemoryOperation, Op, Reg, RegSet, SdwaSel, Slot, Value};

/// The longest distance that any rule asks for: a matrix instruction of 16 passes before a reader of its result.
pub(super) const MOST_STATES: u32 = 19;

/// What the rules ask about one instruction.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    kind: Kind,
    effects: Effects,
    /// Its last operand is a register that selects a lane.
    lane_select: Option<Reg>,
    dpp: bool,
    transcendental: bool,
    dot: bool,
    /// Its result may be passed on before its untouched half is merged in.
    forwards_part: bool,
    /// Reads or writes lanes by number: v_readlane, v_readfirstlane (`Some(true)`), v_writelane (`Some(false)`).
    lane_access: Option<bool>,
    /// The registers with the data of a store of more than 64 bits.
    wide_data: RegSet,
    op: Op,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scalar,
    Vector,
    Matrix,
    Memory,
    Other,
}

impl Facts {
    pub(super) fn new(arch: Arch, inst: &Inst) -> Self {
        let name = inst.op.name();
        let effects = inst.effects(arch);
        let lane_access = match inst.op {
            Op::v_readlane_b32 | Op::v_readfirstlane_b32 => Some(true),
            Op::v_writelane_b32 => Some(false),
            _ => None,
        };
        let lane_select = match (lane_access, inst.operands.last().map(|operand| operand.value)) {
            (Some(_), Some(Value::Scalar(register))) => Some(Reg::scalar(register)),
            _ => None,
        };
        let transcendental = ["v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"];
        let part = inst.mods.sdwa.is_some_and(|sdwa| sdwa.dst_sel != SdwaSel::Dword);
        Self {
            kind: kind(inst),
            lane_select,
            dpp: inst.mods.dpp.is_some(),
            transcendental: transcendental.iter().any(|prefix| name.starts_with(prefix)),
            dot: name.starts_with("v_dot"),
            forwards_part: part || inst.encoding == Encoding::Vop3 && inst.mods.op_sel & 8 != 0,
            lane_access,
            wide_data: wide_data(inst, &effects),
            effects,
            op: inst.op,
        }
    }

    /// Whether it can be a side of a rule at all.
    pub(super) fn matters(&self) -> bool {
        matches!(self.kind, Kind::Vector | Kind::Matrix | Kind::Memory)
    }

    /// Wait states that must lie between `self` and a later `consumer`.
    pub(super) fn states_before(&self, consumer: &Self, arch: Arch) -> u32 {
        let mut states = 0;
        let mut need = |wanted: u32, if_true: bool| {
            if if_true {
                states = states.max(wanted);
            }
        };
        let is_valu = |facts: &Self| matches!(facts.kind, Kind::Vector | Kind::Matrix);
        let later = arch.is_gfx940_plus();
        let writes = self.effects.changes();
        let touched = {
            let mut all = consumer.effects.reads;
            all.union_with(&consumer.effects.changes());
            all
        };
        if is_valu(self) {
            let scalars = scalars(&writes);
            let read_scalars = shared(&scalars, &consumer.effects.reads);
            need(5, consumer.kind == Kind::Memory && read_scalars);
            need(4, consumer.lane_select.is_some_and(|select| scalars.contains(select)));
            need(2, later && is_valu(consumer) && read_scalars);
            need(4, is_div_fmas(consumer.op) && writes.contains(Reg::VCC_LO));
            let exec = writes.contains(Reg::EXEC_LO);
            need(5, exec && consumer.dpp);
            need(4, exec && consumer.kind == Kind::Matrix);
            need(4, exec && later && consumer.lane_access.is_some());

            let read_vectors = shared(&vectors(&writes), &consumer.effects.reads);
            need(2, consumer.dpp && read_vectors);
            need(2, consumer.kind == Kind::Matrix && self.kind == Kind::Vector && read_vectors);
            need(1, later && consumer.lane_access == Some(true) && read_vectors);
            need(1, later && self.transcendental && is_valu(consumer) && read_vectors);
            let touches_vectors = shared(&vectors(&writes), &touched);
            need(1, later && self.forwards_part && is_valu(consumer) && touches_vectors);
            let other_op = consumer.op != self.op;
            need(3, arch.is_gfx90a_plus() && self.dot && other_op && touches_vectors);
        }
        if self.kind == Kind::Matrix {
            // The longest: which matrix instruction it is, and whether it reads or writes, shorten it.
            let mut own = vectors(&writes);
            own.union_with(&vectors(&self.effects.reads));
            need(MOST_STATES, consumer.kind != Kind::Matrix && shared(&own, &touched));
        }
        need(
            if later { 2 } else { 1 },
            is_valu(consumer) && shared(&self.wide_data, &consumer.effects.changes()),
        );
        states
    }
}

fn kind(inst: &Inst) -> Kind {
    use Encoding as E;
    let name = inst.op.name();
    match inst.encoding {
        E::Sop2 | E::Sopk | E::Sop1 | E::Sopc | E::Sopp | E::Smem => Kind::Scalar,
        E::Vop3px => Kind::Matrix,
        E::Vop3p if name.starts_with("v_mfma") || name.starts_with("v_smfmac") => Kind::Matrix,
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
        | E::Vintrp => Kind::Vector,
        E::Flat | E::Global | E::Scratch | E::Mubuf | E::Mtbuf | E::Mimg => Kind::Memory,
        E::Ds | E::Exp => Kind::Other,
    }
}

fn is_div_fmas(op: Op) -> bool {
    matches!(op, Op::v_div_fmas_f32 | Op::v_div_fmas_f64)
}

/// What a store of more than 64 bits a lane reads as its data.
fn wide_data(inst: &Inst, effects: &Effects) -> RegSet {
    let stores = effects.memory.is_some_and(|memory| memory.operation != MemoryOperation::Load);
    if !stores || kind(inst) != Kind::Memory {
        return RegSet::EMPTY;
    }
    let data = inst.operands.iter().filter(|operand| {
        matches!(operand.slot, Slot::Vdata | Slot::Data0)
            && operand.dwords > 2
            && operand.access != Access::Write
    });
    data.flat_map(|operand| {
        let (first, make): (u8, fn(u8) -> Reg) = match operand.value {
            Value::Vgpr(first) => (first, Reg::vgpr),
            Value::Agpr(first) => (first, Reg::agpr),
            _ => return Vec::new(),
        };
        (first..first.saturating_add(operand.dwords)).map(make).collect()
    })
    .collect()
}

fn scalars(set: &RegSet) -> RegSet {
    set.iter().filter(|reg| reg.as_scalar().is_some()).collect()
}

fn vectors(set: &RegSet) -> RegSet {
    set.iter().filter(|reg| reg.as_vgpr().is_some() || reg.as_agpr().is_some()).collect()
}

fn shared(a: &RegSet, b: &RegSet) -> bool {
    a.intersects(b)
}
