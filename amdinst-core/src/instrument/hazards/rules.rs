//! Which instructions must be how far apart: those hazards of GFX9 that the hardware does not resolve and of which an
//! inserted instruction can be one side ("Manually Inserted Wait States" in the ISA manuals; LLVM's
//! `GCNHazardRecognizer`).
//!
//! Left out, as nothing inserted takes part in them: writes of M0, MODE and VCC. Of FLAT_SCRATCH, which prologues write, there is
//! no rule.

use crate::Arch;
use crate::isa::{
    Access, Effects, Encoding, Families, Inst, MemoryOperation, Op, Reg, RegSet, SdwaSel, Slot, Value,
};

/// The longest distance that any rule asks for: a matrix instruction of 16 passes before a reader of its result.
const MOST_STATES: u32 = 19;

/// Which of the instructions there are in a function that rules ask most wait states behind.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::instrument) struct Slow {
    matrices: bool,
    dots: bool,
}

impl Slow {
    /// If the function has one instruction alone.
    pub(in crate::instrument) fn of(inst: &Inst) -> Self {
        let matrices = Kind::of(inst.encoding, inst.op) == Kind::Matrix;
        Self { matrices, dots: inst.op.is_of(Families::DOT) }
    }

    /// Takes in those of other instructions of the function.
    pub(in crate::instrument) fn add(&mut self, other: Self) {
        self.matrices |= other.matrices;
        self.dots |= other.dots;
    }
}

/// What the rules ask about one instruction that is vector ALU or accesses memory; no other is a side of a rule.
#[derive(Clone, Debug)]
pub(in crate::instrument) struct Facts {
    kind: Kind,
    /// Registers that may be read.
    reads: RegSet,
    /// Registers that may change.
    changes: RegSet,
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

/// What kind of instruction the rules take it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of no concern to any rule.
    Scalar,
    Vector,
    Matrix,
    Memory,
    Other,
}

impl Kind {
    pub(super) fn of(encoding: Encoding, op: Op) -> Self {
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
            | E::Vintrp => Self::Vector,
            E::Flat | E::Global | E::Scratch | E::Mubuf | E::Mtbuf | E::Mimg => Self::Memory,
            E::Ds | E::Exp => Self::Other,
        }
    }

    /// Whether an inserted instruction of this kind can be a side of a rule.
    pub(super) const fn matters(self) -> bool {
        matches!(self, Self::Vector | Self::Matrix | Self::Memory)
    }
}

impl Facts {
    pub(in crate::instrument) fn new(inst: &Inst, effects: &Effects) -> Self {
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
        let kind = Kind::of(inst.encoding, inst.op);
        Self {
            kind,
            lane_select,
            dpp: inst.mods.dpp.is_some(),
            transcendental: inst.op.is_of(Families::TRANSCENDENTAL),
            dot: inst.op.is_of(Families::DOT),
            forwards_part: part || inst.encoding == Encoding::Vop3 && inst.mods.op_sel & 8 != 0,
            lane_access,
            wide_data: if kind == Kind::Memory { wide_data(inst, effects) } else { RegSet::EMPTY },
            changes: effects.changes(),
            reads: effects.reads,
            op: inst.op,
        }
    }

    /// The most wait states that any rule asks for behind this instruction.
    pub(super) fn reach(&self) -> u32 {
        match self.kind {
            Kind::Matrix => MOST_STATES,
            Kind::Vector if self.changes.has_scalars() => 5,
            Kind::Vector if self.dot => 3,
            Kind::Vector => 2,
            _ if !self.wide_data.is_empty() => 2,
            _ => 0,
        }
    }

    /// The most wait states that any rule asks for before this instruction, in a function with such slow ones.
    pub(super) fn reach_before(&self, slow: Slow, arch: Arch) -> u32 {
        let is_valu = matches!(self.kind, Kind::Vector | Kind::Matrix);
        let later = arch.is_gfx940_plus();
        if slow.matrices {
            MOST_STATES
        } else if self.dpp || self.kind == Kind::Memory && self.reads.has_scalars() {
            5
        } else if self.lane_select.is_some()
            || later && self.lane_access.is_some()
            || self.kind == Kind::Matrix
            || is_div_fmas(self.op)
        {
            4
        } else if slow.dots {
            3
        } else if is_valu {
            if later { 2 } else { 1 }
        } else {
            0
        }
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
        let writes = &self.changes;
        if is_valu(self) && writes.has_scalars() {
            let read_scalars = writes.share_scalars(&consumer.reads);
            need(5, consumer.kind == Kind::Memory && read_scalars);
            need(4, consumer.lane_select.is_some_and(|select| writes.contains(select)));
            need(2, later && is_valu(consumer) && read_scalars);
            need(4, is_div_fmas(consumer.op) && writes.contains(Reg::VCC_LO));
            let exec = writes.contains(Reg::EXEC_LO);
            need(5, exec && consumer.dpp);
            need(4, exec && consumer.kind == Kind::Matrix);
            need(4, exec && later && consumer.lane_access.is_some());
        }
        if is_valu(self) && writes.has_vectors() {
            let read_vectors = writes.share_vectors(&consumer.reads);
            need(2, consumer.dpp && read_vectors);
            need(2, consumer.kind == Kind::Matrix && self.kind == Kind::Vector && read_vectors);
            need(1, later && consumer.lane_access == Some(true) && read_vectors);
            need(1, later && self.transcendental && is_valu(consumer) && read_vectors);
            let touches_vectors = read_vectors || writes.share_vectors(&consumer.changes);
            need(1, later && self.forwards_part && is_valu(consumer) && touches_vectors);
            let other_op = consumer.op != self.op;
            need(3, arch.is_gfx90a_plus() && self.dot && other_op && touches_vectors);
        }
        if self.kind == Kind::Matrix && consumer.kind != Kind::Matrix {
            // The longest: which matrix instruction it is, and whether it reads or writes, shorten it.
            let mut own = *writes;
            own.union_with(&self.reads);
            need(MOST_STATES, own.share_vectors(&consumer.reads) || own.share_vectors(&consumer.changes));
        }
        if is_valu(consumer) && self.kind == Kind::Memory {
            need(if later { 2 } else { 1 }, self.wide_data.intersects(&consumer.changes));
        }
        states
    }
}

fn is_div_fmas(op: Op) -> bool {
    matches!(op, Op::v_div_fmas_f32 | Op::v_div_fmas_f64)
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
    use crate::isa::opcodes as of_arch;

    /// No rule asks for more than the reach of either side: beyond that nobody looks.
    #[test]
    fn no_rule_reaches_further_than_it_is_said_to() {
        for arch in [Arch::Gfx906, Arch::Gfx90a, Arch::Gfx942] {
            let insts: Vec<Inst> = of_arch(arch).filter_map(|opcode| opcode.plain().ok()).collect();
            let facts = |inst: &Inst| Facts::new(inst, &inst.effects(arch));
            let producers: Vec<(Facts, Slow)> =
                insts.iter().map(|inst| (facts(inst), Slow::of(inst))).collect();
            assert!(producers.len() > 500);
            for consumer in insts.iter().map(facts) {
                for (producer, slow) in &producers {
                    let states = producer.states_before(&consumer, arch);
                    assert!(states <= producer.reach(), "{} before {}", producer.op, consumer.op);
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
}
