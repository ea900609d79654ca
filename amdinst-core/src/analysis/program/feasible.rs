//! Whether a wave can come to an instruction with what it seems to find there.
//!
//! Compilers make one way of several, and keep in masks and flags which of them a wave came by: behind the
//! join, a branch asks for the flag. A register that was set on one way alone is read there on the paths that
//! came by it. So what is left in it on the other ways is read on no path that a wave can take, though the
//! blocks have one.
//!
//! The search goes backwards, from the reader to where the value comes from. On the way it gathers what
//! branches tell of masks (zero or not, all ones or not), and follows these through operations on masks.
//! Where an instruction gives a mask another value than the path needs, no wave takes it.

use std::collections::BTreeSet;

use amdgpu_isa::{
    Condition, Families, Flow, Inst, Logic, MaskOp, Op, Reg, ScalarSet, Value, WaveSize, scalar,
};

use super::{Exit, Function, Program};

/// States looked at before the search gives up.
const MOST_STATES: usize = 1 << 14;
/// Facts that a state has at most. What is not known costs no more than a path that is not told to be
/// impossible.
const MOST_FACTS: usize = 8;

/// What a path needs a mask to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Is {
    Zero,
    NotZero,
    Ones,
    NotOnes,
}

impl Is {
    /// Of the inverted mask.
    const fn inverted(self) -> Self {
        match self {
            Self::Zero => Self::Ones,
            Self::NotZero => Self::NotOnes,
            Self::Ones => Self::Zero,
            Self::NotOnes => Self::NotZero,
        }
    }

    fn holds(self, mask: u64) -> bool {
        match self {
            Self::Zero => mask == 0,
            Self::NotZero => mask != 0,
            Self::Ones => mask == u64::MAX,
            Self::NotOnes => mask != u64::MAX,
        }
    }

    fn contradicts(self, other: Self) -> bool {
        ![0, 1, u64::MAX].into_iter().any(|mask| self.holds(mask) && other.holds(mask))
    }
}

/// Where a mask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// Scalar registers as many as a mask has, by the first.
    Mask(u8),
    /// SCC, which is zero or not.
    Scc,
}

/// What a path needs, in order.
type Facts = Vec<(Place, Is)>;

/// No wave takes this path.
struct Impossible;

/// A source of an operation on masks, perhaps inverted.
#[derive(Clone, Copy)]
struct Source {
    value: Value,
    is_inverted: bool,
}

/// What an operation makes of masks.
enum Made {
    Of(Source),
    /// What both have; inverted, if the flag says so.
    Both(Source, Source, bool),
    /// The one or the other, as SCC tells.
    Selected(Value, Value),
    /// Lanes that differ, or others.
    Other,
}

/// A place on a path, before which instructions are still to be looked at.
struct State {
    block: usize,
    /// The end of what is to be looked at.
    end: usize,
    /// Registers one of which has the value; none if it was found where that comes from.
    of: ScalarSet,
    facts: Facts,
}

impl Program {
    /// Whether a wave can come to instruction `reader` of a function's block with something in the registers
    /// `of` that a call left, or the function was called with; `may_hold` tells which registers may have it
    /// at the start of a block, or `None` at the function's entry.
    pub(super) fn is_feasible(
        &self,
        function: &Function,
        (block, reader): (usize, usize),
        of: ScalarSet,
        may_hold: &dyn Fn(Option<usize>) -> ScalarSet,
    ) -> bool {
        let mut facts = Facts::new();
        // Without lanes, vector instructions give nothing that their sources tell.
        let takes_lanes = matches!(
            self.insts[reader].op,
            Op::v_readfirstlane_b32 | Op::v_readlane_b32 | Op::v_writelane_b32
        );
        if !self.insts[reader].encoding.is_scalar() && !takes_lanes {
            facts.push((Place::Mask(scalar::EXEC), Is::NotZero));
        }
        let mut open = vec![State { block, end: reader, of, facts }];
        let mut seen: BTreeSet<(usize, u128, Facts)> = BTreeSet::new();
        while let Some(mut state) = open.pop() {
            if self.backwards(function, &mut state).is_err() {
                continue;
            }
            let mut of = state.of;
            // What comes before where the value does may still tell that no wave comes by.
            let is_found = of.is_empty();
            if is_found && state.facts.is_empty()
                || state.block == 0 && (is_found || of.intersects(may_hold(None)))
            {
                return true;
            }
            if !is_found {
                of = of.intersection(may_hold(Some(state.block)));
                if of.is_empty() {
                    continue;
                }
            }
            for &before in function.predecessors(state.block) {
                // Who is called may change anything.
                let is_left = function.blocks[before].exit != Exit::Local;
                let mut facts = if is_left { Facts::new() } else { state.facts.clone() };
                if self.take(function, (before, state.block), &mut facts).is_err()
                    || !seen.insert((before, of.bits(), facts.clone()))
                {
                    continue;
                }
                if seen.len() > MOST_STATES {
                    return true;
                }
                open.push(State { block: before, end: function.blocks[before].insts.end, of, facts });
            }
        }
        false
    }

    /// Goes back to the start of the block.
    fn backwards(&self, function: &Function, state: &mut State) -> Result<(), Impossible> {
        for index in (function.blocks[state.block].insts.start..state.end).rev() {
            let located = &self.insts[index];
            if !located.changes_scalars && !self.scalars(located).writes.intersects(ScalarSet::SCC) {
                continue;
            }
            let changes = ScalarSet::of(&self.effects(index).changes());
            let inst = self.inst(index);
            if changes.intersects(state.of) {
                let is_found = matches!(
                    located.op,
                    Op::s_swappc_b64 | Op::s_call_b64 | Op::v_readlane_b32 | Op::v_readfirstlane_b32
                ) || located.op.is_of(Families::SGPRS_BY_NUMBER);
                let sources = came_from((inst, self.wave_size()), state.of);
                state.of = state.of.without(self.scalars(located).writes).union(sources);
                if is_found {
                    state.of = ScalarSet::EMPTY;
                } else if state.of.is_empty() {
                    return Err(Impossible);
                }
            }
            if located.op.is_of(Families::SGPRS_BY_NUMBER) {
                state.facts.clear();
            }
            for (place, is) in std::mem::take(&mut state.facts) {
                if changes.intersects(place.registers(self.wave_size())) {
                    before((inst, self.wave_size()), (place, is), &mut state.facts)?;
                } else {
                    add(&mut state.facts, place, is)?;
                }
            }
        }
        Ok(())
    }

    /// What the branch from one block to another tells.
    fn take(
        &self,
        function: &Function,
        (from, to): (usize, usize),
        facts: &mut Facts,
    ) -> Result<(), Impossible> {
        let located = &self.insts[function.blocks[from].insts.end - 1];
        let Flow::CondBranch { offset, condition } = located.flow() else { return Ok(()) };
        let start = self.insts[function.blocks[to].insts.start].pc;
        let taken = start == located.end().wrapping_add_signed(offset.into());
        if taken == (start == located.end()) {
            return Ok(());
        }
        let (place, if_taken) = match condition {
            Condition::Scc0 => (Place::Scc, Is::Zero),
            Condition::Scc1 => (Place::Scc, Is::NotZero),
            Condition::Vccz => (Place::Mask(scalar::VCC), Is::Zero),
            Condition::Vccnz => (Place::Mask(scalar::VCC), Is::NotZero),
            Condition::Execz => (Place::Mask(scalar::EXEC), Is::Zero),
            Condition::Execnz => (Place::Mask(scalar::EXEC), Is::NotZero),
            Condition::Debug => return Ok(()),
        };
        let is = match (taken, if_taken) {
            (true, is) => is,
            (false, Is::Zero) => Is::NotZero,
            (false, _) => Is::Zero,
        };
        add(facts, place, is)
    }
}

impl Place {
    fn registers(self, wave: WaveSize) -> ScalarSet {
        match self {
            Self::Mask(first) => (first..first + wave.mask_sgprs())
                .fold(ScalarSet::EMPTY, |all, register| all.union(ScalarSet::register(register))),
            Self::Scc => ScalarSet::SCC,
        }
    }
}

/// Adds what a path needs.
fn add(facts: &mut Facts, place: Place, is: Is) -> Result<(), Impossible> {
    if facts.iter().any(|&(of, other)| of == place && is.contradicts(other)) {
        return Err(Impossible);
    }
    if let Err(at) = facts.binary_search(&(place, is))
        && facts.len() < MOST_FACTS
    {
        facts.insert(at, (place, is));
    }
    Ok(())
}

/// Adds what a source must be.
fn need(facts: &mut Facts, source: Source, is: Is) -> Result<(), Impossible> {
    let is = if source.is_inverted { is.inverted() } else { is };
    match (source.value, mask(source.value)) {
        (_, Some(mask)) if !is.holds(mask) => Err(Impossible),
        (Value::Scalar(first), _) => add(facts, Place::Mask(first), is),
        _ => Ok(()),
    }
}

/// Adds what must have been before an instruction that changes `place`, which has to be this behind it.
fn before(
    (inst, wave): (&Inst, WaveSize),
    (place, is): (Place, Is),
    facts: &mut Facts,
) -> Result<(), Impossible> {
    let first = inst.operands.first().map(|operand| operand.value);
    let is_result = |first: Option<Value>| match place {
        Place::Mask(register) => first == Some(Value::Scalar(register)),
        // The operations on masks tell by it whether their result is zero; moves and selections do not change
        // it.
        Place::Scc => true,
    };
    let saves = inst.op.is_of(Families::SAVES_EXEC);
    if saves && is_result(first) && place != Place::Scc {
        return need(facts, Source::plain(Value::EXEC), is);
    }
    let result = if saves { Some(Value::EXEC) } else { first };
    if !is_result(result) {
        return Ok(());
    }
    match made(inst, wave) {
        Made::Of(source) => need(facts, source, is),
        Made::Both(a, b, is_inverted) => match if is_inverted { is.inverted() } else { is } {
            is @ (Is::NotZero | Is::Ones) => {
                need(facts, a, is)?;
                need(facts, b, is)
            }
            // One of them: the other, where one has all.
            is => match [a, b].map(Source::mask) {
                [Some(u64::MAX), _] => need(facts, b, is),
                [_, Some(u64::MAX)] => need(facts, a, is),
                _ => Ok(()),
            },
        },
        Made::Selected(a, b) if place != Place::Scc => {
            let [fits_a, fits_b] = [a, b].map(|value| mask(value).is_none_or(|mask| is.holds(mask)));
            match (fits_a, fits_b) {
                (false, false) => Err(Impossible),
                (true, false) => {
                    add(facts, Place::Scc, Is::NotZero)?;
                    need(facts, Source::plain(a), is)
                }
                (false, true) => {
                    add(facts, Place::Scc, Is::Zero)?;
                    need(facts, Source::plain(b), is)
                }
                (true, true) => Ok(()),
            }
        }
        Made::Selected(..) | Made::Other => Ok(()),
    }
}

impl Source {
    const fn plain(value: Value) -> Self {
        Self { value, is_inverted: false }
    }

    const fn inverted(value: Value) -> Self {
        Self { value, is_inverted: true }
    }

    fn mask(self) -> Option<u64> {
        mask(self.value).map(|mask| if self.is_inverted { !mask } else { mask })
    }
}

/// What an operation on masks makes of its sources.
fn made(inst: &Inst, wave: WaveSize) -> Made {
    let value = |n: usize| inst.operands.get(n).map(|operand| operand.value);
    let Some(a) = value(1) else { return Made::Other };
    match (inst.op.mask_op(wave), value(2)) {
        (Some(MaskOp::Move), _) => Made::Of(Source::plain(a)),
        (Some(MaskOp::Not), _) => Made::Of(Source::inverted(a)),
        (Some(MaskOp::Select), Some(b)) => Made::Selected(a, b),
        (Some(MaskOp::Combine(logic)), Some(b)) => combined(logic, a, b),
        (Some(MaskOp::Saveexec(logic)), _) => combined(logic, a, Value::EXEC),
        _ => Made::Other,
    }
}

/// What two masks make.
fn combined(logic: Logic, a: Value, b: Value) -> Made {
    let (plain, inverted) = (Source::plain, Source::inverted);
    match logic {
        Logic::And => Made::Both(plain(a), plain(b), false),
        Logic::AndNot => Made::Both(plain(a), inverted(b), false),
        Logic::NotAnd => Made::Both(inverted(a), plain(b), false),
        Logic::Nand => Made::Both(plain(a), plain(b), true),
        Logic::Or => Made::Both(inverted(a), inverted(b), true),
        Logic::OrNot => Made::Both(inverted(a), plain(b), true),
        Logic::NotOr => Made::Both(plain(a), inverted(b), true),
        Logic::Nor => Made::Both(inverted(a), inverted(b), false),
        Logic::Xor => match (mask(a), mask(b)) {
            (_, Some(u64::MAX)) => Made::Of(inverted(a)),
            (Some(u64::MAX), _) => Made::Of(inverted(b)),
            (_, Some(0)) => Made::Of(plain(a)),
            (Some(0), _) => Made::Of(plain(b)),
            _ => Made::Other,
        },
        Logic::Xnor => Made::Other,
    }
}

/// The mask that an inline constant is.
const fn mask(value: Value) -> Option<u64> {
    match value {
        Value::Inline(code @ 128..=192) => Some(code as u64 - 128),
        Value::Inline(code @ 193..=208) => Some((192 - code as i64) as u64),
        _ => None,
    }
}

/// The registers whose bits an instruction puts into some of `of`: those that it copies, and those that it
/// combines with others.
fn came_from((inst, wave): (&Inst, WaveSize), of: ScalarSet) -> ScalarSet {
    let scalar = |value: Value| if let Value::Scalar(first) = value { Some(first) } else { None };
    let mut operands = inst.operands.iter();
    let Some(to) = operands.next() else { return ScalarSet::EMPTY };
    let has = |register: u8| of.contains(Reg::scalar(register));
    let of_scc = of.intersects(ScalarSet::SCC);
    let copies = inst.op == Op::s_mov_b32 || inst.op.mask_op(wave) == Some(MaskOp::Move);
    if !copies && !super::returns::is_mask_operation(inst.op, wave) {
        return ScalarSet::EMPTY;
    }
    let saves = inst.op.is_of(Families::SAVES_EXEC);
    let mut sources = ScalarSet::EMPTY;
    for first in operands.filter_map(|operand| scalar(operand.value)) {
        for half in 0..to.dwords {
            let is_put = scalar(to.value).is_some_and(|to| has(to + half)) && !saves;
            if is_put || of_scc && !copies {
                sources = sources.union(ScalarSet::register(first + half));
            }
        }
    }
    sources.without(ScalarSet::EXEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_contradict_each_other_where_no_mask_has_both() {
        use Is::{NotOnes, NotZero, Ones, Zero};
        let all = [Zero, NotZero, Ones, NotOnes];
        let pairs: Vec<(Is, Is)> =
            all.into_iter().flat_map(|a| all.map(|b| (a, b))).filter(|(a, b)| a.contradicts(*b)).collect();
        assert_eq!(
            pairs,
            [(Zero, NotZero), (Zero, Ones), (NotZero, Zero), (Ones, Zero), (Ones, NotOnes), (NotOnes, Ones)]
        );
    }
}
