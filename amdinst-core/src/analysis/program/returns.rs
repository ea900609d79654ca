//! What return addresses are used for.
//!
//! A call leaves a value of the program counter, and that is another one when code moves. The data flow here
//! follows where such values may be: in scalar registers, whole or mixed with lane masks, and in lanes of
//! VGPRs. What a register holds decides, not which register it is.
//!
//! A function may use the registers that it was called with as masks once they are put by. Where a loop
//! gathers a mask, the first round reads one that nothing has set: then the return address may still be
//! there, and any other value would do as well. So the operations on masks may mix it in, if it is there on
//! some paths alone, and the result may select lanes. It must not become an address, a number, a condition of
//! SCC, or anything in memory; unless no wave can come to where it does ([`feasible`]): compilers keep masks
//! and numbers in one register, one after the other, and have flags tell which of them is there.
//!
//! Not all of these flags are whole masks: some lanes may take a number where others are done, and nobody
//! reads what these took. What was combined with EXEC itself is a mask of lanes, and an address is none:
//! nobody has set the bits that a return address left in it. So where a register has such a mask on one path
//! and something else on another, it may be read as a number, which is what is meant then.
//!
//! [`feasible`]: super::feasible

use std::collections::{BTreeMap, BTreeSet};

use amdgpu_isa::{Access, Families, MaskOp, Op, Operand, Reg, ScalarSet, Slot, Value, WaveSize};

use super::{Function, Obstacle, ObstacleKind, Program, Scalars};
use crate::analysis::addresses::constant;
use crate::analysis::rounds::Rounds;

/// A half of a return address may be there, as the call left it.
const WHOLE: u8 = 1;
/// Bits of one may be there, mixed with a lane mask.
const MIXED: u8 = 2;
/// The value is mixed by operations that EXEC had no part in.
const CUT: u8 = 4;
/// What is there is a whole one on every path.
const SURELY: u8 = 8;
/// What is there is a mixed one on every path.
const SURELY_MIXED: u8 = 16;
/// What is so on every path.
const CERTAIN: u8 = SURELY | SURELY_MIXED;

/// Where return addresses may be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    whole: ScalarSet,
    /// SCC among them.
    mixed: ScalarSet,
    /// Registers whose values EXEC may have had no part in.
    cut: ScalarSet,
    /// Registers that have a whole one on every path.
    surely: ScalarSet,
    /// Registers that have a mixed one on every path.
    surely_mixed: ScalarSet,
    /// What lanes of VGPRs hold, by VGPR and lane.
    lanes: BTreeMap<(u8, u32), u8>,
}

impl Held {
    const NOWHERE: Self = Self {
        whole: ScalarSet::EMPTY,
        mixed: ScalarSet::EMPTY,
        cut: ScalarSet::EMPTY,
        surely: ScalarSet::EMPTY,
        surely_mixed: ScalarSet::EMPTY,
        lanes: BTreeMap::new(),
    };

    fn is_nowhere(&self) -> bool {
        self.whole.is_empty() && self.mixed.is_empty() && self.lanes.is_empty()
    }

    fn anywhere(&self) -> ScalarSet {
        self.whole.union(self.mixed)
    }

    /// What must not be read but as a mask.
    fn meant(&self) -> ScalarSet {
        self.whole.union(self.cut).union(self.surely_mixed)
    }

    /// Takes in what another path brings. True if that changes something.
    fn join(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.whole = self.whole.union(other.whole);
        self.mixed = self.mixed.union(other.mixed);
        self.cut = self.cut.union(other.cut);
        self.surely = self.surely.intersection(other.surely);
        self.surely_mixed = self.surely_mixed.intersection(other.surely_mixed);
        for (lane, known) in &mut self.lanes {
            *known &= !CERTAIN | other.lanes.get(lane).copied().unwrap_or(0);
        }
        for (&lane, new) in &other.lanes {
            *self.lanes.entry(lane).or_insert(0) |= new & !CERTAIN;
        }
        *self != before
    }

    fn of(&self, register: u8) -> u8 {
        let register = Reg::scalar(register);
        let flag = |set: ScalarSet, flag| if set.contains(register) { flag } else { 0 };
        flag(self.whole, WHOLE)
            | flag(self.mixed, MIXED)
            | flag(self.cut, CUT)
            | flag(self.surely, SURELY)
            | flag(self.surely_mixed, SURELY_MIXED)
    }

    fn set(&mut self, register: u8, flags: u8) {
        let this = ScalarSet::register(register).without(ScalarSet::EXEC);
        self.forget(this);
        let add = |set: &mut ScalarSet, flag| {
            if flags & flag != 0 {
                *set = set.union(this);
            }
        };
        add(&mut self.whole, WHOLE);
        add(&mut self.mixed, MIXED);
        add(&mut self.cut, CUT);
        add(&mut self.surely, SURELY);
        add(&mut self.surely_mixed, SURELY_MIXED);
    }

    /// Something else is written to registers.
    fn forget(&mut self, registers: ScalarSet) {
        self.whole = self.whole.without(registers);
        self.mixed = self.mixed.without(registers);
        self.cut = self.cut.without(registers);
        self.surely = self.surely.without(registers);
        self.surely_mixed = self.surely_mixed.without(registers);
    }

    /// What may be in the lanes of a VGPR.
    fn lanes_of(&self, vgpr: u8) -> impl Iterator<Item = (u32, u8)> {
        let lanes = self.lanes.range((vgpr, 0)..=(vgpr, u32::MAX));
        lanes.map(|(&(_, lane), &flags)| (lane, flags & !CERTAIN))
    }
}

impl Program {
    /// Finds the instructions that would find something else when code moves, because they do more with a
    /// return address than return: each is an obstacle.
    pub(super) fn doubt_return_addresses(&mut self) {
        if !self.functions.iter().any(calls) {
            return;
        }
        let callers = self.callers();
        let is_root = |number: usize| self.functions[number].kernel.is_some() || callers[number].is_empty();
        // What callers have when they call a function; none until one is known.
        let mut at_entry: Vec<Option<Held>> =
            (0..self.functions.len()).map(|number| is_root(number).then_some(Held::NOWHERE)).collect();
        let mut used: BTreeSet<(usize, usize)> = BTreeSet::new();
        loop {
            let mut rounds = Rounds::new(self.functions.len());
            while let Some((number, _)) = rounds.next() {
                let Some(entry) = &at_entry[number] else { continue };
                let leaves = self.follow(number, entry, &mut used);
                for (callee, held) in leaves {
                    if join(&mut at_entry[callee], &held) {
                        rounds.mark(callee);
                    }
                }
            }
            // Functions that only call each other are called by someone that is not known.
            let Some(entry) = at_entry.iter_mut().find(|entry| entry.is_none()) else { break };
            *entry = Some(Held::NOWHERE);
        }
        for (number, inst) in used {
            let located = &self.insts[inst];
            let detail = format!("`{}` uses a return address, but not to return there", located.op);
            let obstacle = Obstacle { pc: located.pc, kind: ObstacleKind::UnresolvedGetpc, detail };
            self.functions[number].obstacles.push(obstacle);
        }
    }

    /// Follows return addresses through a function, and puts the instructions that use one among `used`. What
    /// is held where it calls others.
    fn follow(&self, number: usize, entry: &Held, used: &mut BTreeSet<(usize, usize)>) -> Vec<(usize, Held)> {
        let function = &self.functions[number];
        let starts = if entry.is_nowhere() && !calls(function) {
            vec![Some(Held::NOWHERE); function.blocks.len()]
        } else {
            self.return_addresses(function, entry)
        };
        let mut leaves = Vec::new();
        used.retain(|&(of, _)| of != number);
        let may_hold = |block: Option<usize>| match block {
            Some(block) => starts[block].as_ref().map_or(ScalarSet::EMPTY, Held::anywhere),
            None => entry.anywhere(),
        };
        for (place, block) in function.blocks.iter().enumerate() {
            let Some(mut held) = starts[place].clone() else { continue };
            if !held.is_nowhere() || block.exit.calls() {
                for inst in block.insts.clone() {
                    let is_used = self.uses_lanes(inst, &held)
                        || self.uses(inst, &held)
                            && self.is_feasible(function, (place, inst), self.read(inst, &held), &may_hold);
                    if is_used {
                        used.insert((number, inst));
                    }
                    self.step(inst, &mut held);
                }
            }
            // Lanes that a function needs itself, it puts back as they were.
            held.lanes.clear();
            let callees = block.exit.entered(&self.pointed).iter();
            leaves.extend(callees.map(|&callee| (callee, held.clone())));
        }
        leaves
    }

    /// By block: what is held at its start; none if no path leads there.
    fn return_addresses(&self, function: &Function, entry: &Held) -> Vec<Option<Held>> {
        let mut starts = vec![None; function.blocks.len()];
        if let Some(first) = starts.first_mut() {
            *first = Some(entry.clone());
        }
        let mut rounds = Rounds::new(function.blocks.len());
        while let Some((number, _)) = rounds.next() {
            let block = &function.blocks[number];
            let Some(mut held) = starts[number].clone() else { continue };
            block.insts.clone().for_each(|inst| self.step(inst, &mut held));
            for &next in &block.successors {
                if join(&mut starts[next], &held) {
                    rounds.mark(next);
                }
            }
        }
        starts
    }

    /// The scalar registers that an instruction reads and that may have a return address.
    fn read(&self, index: usize, held: &Held) -> ScalarSet {
        self.scalars(&self.insts[index]).reads.without(ScalarSet::EXEC).intersection(held.anywhere())
    }

    /// Whether an instruction does something with lanes that may have a return address.
    fn uses_lanes(&self, index: usize, held: &Held) -> bool {
        let located = &self.insts[index];
        let mut operands = self.inst(index).operands.iter();
        !held.lanes.is_empty()
            && !located.encoding.is_scalar()
            && operands.any(|operand| uses_lanes(located.op, operand, held))
    }

    /// Whether an instruction does something with a return address in scalar registers that depends on which
    /// one it is.
    fn uses(&self, index: usize, held: &Held) -> bool {
        let located = &self.insts[index];
        let read = self.read(index, held);
        if read.is_empty() {
            return false;
        }
        let inst = self.inst(index);
        // A mask that nothing has set on some path may be it; what has it on every path is meant.
        let is_meant = || read.intersects(held.whole) && read.intersects(held.surely);
        match located.op {
            Op::s_setpc_b64 | Op::s_swappc_b64 => read.intersects(held.mixed),
            Op::s_mov_b32 | Op::s_mov_b64 => located.touches_exec && is_meant(),
            Op::v_writelane_b32 => {
                // By a lane's number that is one, or into a lane that is not known.
                constant(inst, 2).is_none()
            }
            Op::s_cbranch_vccz | Op::s_cbranch_vccnz => is_meant(),
            Op::v_cndmask_b32
            | Op::v_cndmask_b16
            | Op::v_addc_co_u32
            | Op::v_subb_co_u32
            | Op::v_subbrev_co_u32 => {
                // The last source alone is a mask.
                let values = inst.operands.iter().rev().skip(1);
                is_meant() || values.into_iter().any(|operand| holds(operand, held))
            }
            op if is_mask_operation(op, self.wave_size()) => {
                is_meant()
                    || read.intersects(held.mixed.intersection(ScalarSet::SCC))
                    || !inst.operands.iter().all(may_be_mask)
            }
            _ => read.intersects(held.meant()),
        }
    }

    /// What is held behind an instruction.
    fn step(&self, index: usize, held: &mut Held) {
        let located = &self.insts[index];
        let &Scalars { reads, writes } = self.scalars(located);
        match located.op {
            Op::s_swappc_b64 | Op::s_call_b64 => {
                held.forget(writes);
                held.whole = held.whole.union(writes);
                held.surely = held.surely.union(writes);
            }
            _ if held.is_nowhere() => {}
            Op::s_mov_b32 | Op::s_mov_b64 => {
                let from = held.clone();
                held.forget(writes);
                if let [
                    Operand { value: Value::Scalar(to), dwords, .. },
                    Operand { value: Value::Scalar(source), .. },
                    ..,
                ] = self.inst(index).operands[..]
                {
                    (0..dwords).for_each(|half| held.set(to + half, from.of(source + half)));
                }
            }
            Op::v_writelane_b32 => {
                let inst = self.inst(index);
                if let (Value::Vgpr(vgpr), Some(lane)) = (inst.operands[0].value, constant(inst, 2)) {
                    let flags = match inst.operands[1].value {
                        Value::Scalar(register) => held.of(register),
                        _ => 0,
                    };
                    if flags & (WHOLE | MIXED) == 0 {
                        held.lanes.remove(&(vgpr, lane));
                    } else {
                        held.lanes.insert((vgpr, lane), flags);
                    }
                }
            }
            Op::v_readlane_b32 | Op::v_readfirstlane_b32 => {
                held.forget(writes);
                let inst = self.inst(index);
                if let [Value::Scalar(to), Value::Vgpr(vgpr)] = [0, 1].map(|n: usize| inst.operands[n].value)
                {
                    let lane = (located.op == Op::v_readlane_b32).then(|| constant(inst, 2)).flatten();
                    let flags = match lane {
                        Some(lane) => held.lanes.get(&(vgpr, lane)).copied().unwrap_or(0),
                        None => held.lanes_of(vgpr).fold(0, |all, (_, flags)| all | flags),
                    };
                    held.set(to, flags);
                }
            }
            op if is_mask_operation(op, self.wave_size())
                && reads.without(ScalarSet::EXEC).intersects(held.anywhere()) =>
            {
                let is_cut =
                    reads.intersects(held.cut) || !located.touches_exec && reads.intersects(held.whole);
                held.forget(writes);
                // Those that save EXEC as it was leave nothing else in the register.
                let mixed = if op.is_of(Families::SAVES_EXEC) { ScalarSet::SCC } else { writes };
                let mixed = mixed.without(ScalarSet::EXEC);
                held.mixed = held.mixed.union(mixed);
                held.surely_mixed = held.surely_mixed.union(mixed);
                if is_cut {
                    held.cut = held.cut.union(mixed);
                }
            }
            _ => {
                held.forget(writes);
                if copies_vgpr(located.op) && !held.lanes.is_empty() {
                    // In the lanes that are active.
                    let inst = self.inst(index);
                    if let [Value::Vgpr(to), Value::Vgpr(from)] =
                        [0, 1].map(|n: usize| inst.operands[n].value)
                    {
                        let lanes: Vec<(u32, u8)> = held.lanes_of(from).collect();
                        for (lane, flags) in lanes {
                            *held.lanes.entry((to, lane)).or_insert(0) |= flags;
                        }
                    }
                }
            }
        }
    }
}

/// Takes in what one more path brings. True if that changes something.
fn join(known: &mut Option<Held>, new: &Held) -> bool {
    match known {
        Some(known) => known.join(new),
        None => {
            *known = Some(new.clone());
            true
        }
    }
}

fn calls(function: &Function) -> bool {
    function.blocks.iter().any(|block| block.exit.calls())
}

/// Whether a scalar register that is read has a return address in it that must not be read but as a mask.
fn holds(operand: &Operand, held: &Held) -> bool {
    match operand.value {
        Value::Scalar(first) if operand.access != Access::Write => (first
            ..first.saturating_add(operand.dwords))
            .any(|register| held.of(register) & (WHOLE | CUT | SURELY_MIXED) != 0),
        _ => false,
    }
}

/// Whether an operand is a vector register with a return address in its lanes that is used for more than to
/// put it by: it is an address, or something to compute with.
fn uses_lanes(op: Op, operand: &Operand, held: &Held) -> bool {
    let Value::Vgpr(first) = operand.value else { return false };
    let is_put_by = copies_vgpr(op)
        || matches!(op, Op::v_readlane_b32 | Op::v_readfirstlane_b32 | Op::v_writelane_b32)
        || matches!(operand.slot, Slot::Vdata | Slot::Data0 | Slot::Data1);
    let mut registers = first..first.saturating_add(operand.dwords);
    operand.access != Access::Write
        && !is_put_by
        && registers.any(|vgpr| held.lanes_of(vgpr).next().is_some())
}

const fn copies_vgpr(op: Op) -> bool {
    matches!(op, Op::v_mov_b32 | Op::v_accvgpr_write_b32)
}

/// What makes masks of masks, bit by bit.
pub(super) fn is_mask_operation(op: Op, wave: WaveSize) -> bool {
    matches!(
        op.mask_op(wave),
        Some(MaskOp::Not | MaskOp::Combine(_) | MaskOp::Saveexec(_) | MaskOp::Wrexec(_))
    )
}

/// Registers, and the masks of no lane and of all.
fn may_be_mask(operand: &Operand) -> bool {
    /// The operand codes of 0 and -1.
    const NONE: u8 = 128;
    const ALL: u8 = 193;
    matches!(operand.value, Value::Scalar(_) | Value::Inline(NONE | ALL))
}
