//! What one instruction does to the values of masks.

use amdgpu_isa::scalar::{EXEC, EXEC_HI};
use amdgpu_isa::{Access, Families, Inst, LAST_BY_NUMBER, Logic, MaskOp, Op, Reg, RegSet, Value, WaveSize};

use super::flow::Flowing;
use super::operations::{has_mask_rule, is_followed, may_copy_whole};
use super::state::{AGPRS, LANES, Rest, SLOTS, State, lane};
use super::tries::Trie;
use crate::analysis::program::Exit;
use crate::analysis::values::{Expr, Values, Vn};

impl Flowing<'_> {
    /// The size of the waves that run the code.
    pub(super) const fn wave_size(&self) -> WaveSize {
        self.program.wave_size()
    }

    /// What the instruction of a step does.
    pub(super) fn step(&mut self, number: usize, state: &mut State) {
        let step = self.slice.steps()[number];
        if step.matters || step.is_vector && state.rest.lanes != Trie::default() {
            self.apply(step.inst, state);
        }
    }

    /// What the instruction itself does.
    fn apply(&mut self, index: usize, state: &mut State) {
        let inst = self.program.inst(index);
        let operand = |n: usize| inst.operands.get(n).map(|operand| operand.value);
        let old = state.rest.exec;
        // Where masks are as wide as numbers, these are operations on masks.
        let is_mask_op = has_mask_rule(inst.op, self.wave_size());
        match (inst.op, operand(0), operand(1), operand(2)) {
            // Any from this one on, as M0 tells.
            (Op::s_movreld_b32 | Op::s_movreld_b64, Some(Value::Scalar(first)), ..) => {
                for register in first..=LAST_BY_NUMBER {
                    let value = self.values.number(Expr::Opaque(index, register));
                    self.write32(state, register, value);
                }
            }
            // First, so that no rule below can stand for an operation that the slice does not look for.
            (op, ..) if !is_followed(op, self.program.wave_size()) && !self.formed.contains_key(&index) => {
                self.without_rule(index, inst, state);
            }
            (Op::s_add_u32 | Op::s_addc_u32, Some(Value::Scalar(to)), ..)
                if self.formed.contains_key(&index) =>
            {
                let value = self.values.number(Expr::Const32(self.formed[&index]));
                self.write32(state, to, value);
            }
            (Op::s_mov_b32, Some(Value::Scalar(to)), Some(from), _) if !is_mask_op => {
                let value = self.read32(state, from, index);
                self.write32(state, to, value);
            }
            (
                Op::s_lshl_b32 | Op::s_lshr_b32 | Op::s_and_b32 | Op::s_or_b32,
                Some(Value::Scalar(to)),
                Some(a),
                Some(b),
            ) if !is_mask_op => {
                let (a, b) = (self.read32(state, a, index), self.read32(state, b, index));
                let value = match (self.values.expr(a), self.values.expr(b)) {
                    (Expr::Const32(a), Expr::Const32(b)) => Expr::Const32(match inst.op {
                        // Five bits of the distance count (Vega ISA, S_LSHL_B32).
                        Op::s_lshl_b32 => a.wrapping_shl(b),
                        Op::s_lshr_b32 => a.wrapping_shr(b),
                        Op::s_and_b32 => a & b,
                        _ => a | b,
                    }),
                    _ => Expr::Opaque(index, 16),
                };
                let value = self.values.number(value);
                self.write32(state, to, value);
            }
            (Op::s_cselect_b32, Some(Value::Scalar(to)), Some(a), Some(b)) if !is_mask_op => {
                let (a, b) = (self.read32(state, a, index), self.read32(state, b, index));
                let value = self.values.select(index, a, b);
                self.write32(state, to, value);
            }
            (Op::v_writelane_b32, Some(Value::Vgpr(to)), Some(from), Some(number)) => {
                match lane_constant(number, self.wave_size()) {
                    Some(number) => {
                        let value = self.read32(state, from, index);
                        let place = lane(u32::from(to), number);
                        state.rest.lanes = self.lanes.with(state.rest.lanes, place, value);
                    }
                    None => self.forget_lanes(state, u32::from(to)),
                };
            }
            (Op::v_readlane_b32, Some(Value::Scalar(to)), Some(Value::Vgpr(from)), Some(number)) => {
                let known = lane_constant(number, self.wave_size())
                    .and_then(|number| self.lanes.get(state.rest.lanes, lane(u32::from(from), number)));
                let value = known.unwrap_or_else(|| self.values.number(Expr::Opaque(index, 0)));
                self.write32(state, to, value);
            }
            (op, Some(Value::Scalar(to)), Some(a), b) => match op.mask_op(self.wave_size()) {
                Some(what) => self.mask_step((what, index), to, [Some(a), b], state),
                None => self.without_rule(index, inst, state),
            },
            _ => self.without_rule(index, inst, state),
        }
        if state.rest.exec != old {
            let whole = matches!(self.values.expr(state.rest.exec), Expr::Const64(u64::MAX));
            state.rest.full = whole || self.function.kernel.is_some() && state.rest.exec == self.entry_exec;
        }
    }

    /// An operation on masks, to a register from one source or two.
    fn mask_step(
        &mut self,
        (what, index): (MaskOp, usize),
        to: u8,
        sources: [Option<Value>; 2],
        state: &mut State,
    ) {
        let [a, b] = sources.map(|source| source.map(|source| self.read_mask(state, source, index)));
        let old = state.rest.exec;
        match (what, a, b) {
            (MaskOp::Move, Some(from), _) => self.write_mask(state, to, from),
            (MaskOp::Not, Some(from), _) => {
                let value = self.values.not(from);
                self.write_mask(state, to, value);
            }
            (MaskOp::Select, Some(a), Some(b)) => {
                let value = self.values.select(index, a, b);
                self.write_mask(state, to, value);
            }
            (MaskOp::Combine(logic), Some(a), Some(b)) => {
                let value = combined(&mut self.values, logic, a, b);
                self.write_mask(state, to, value);
                if logic == Logic::Or && to == EXEC {
                    self.has_lanes_of([a, b], state);
                }
            }
            (MaskOp::Saveexec(logic) | MaskOp::Wrexec(logic), Some(mask), _) => {
                let new = combined(&mut self.values, logic, mask, old);
                let copied = if matches!(what, MaskOp::Wrexec(_)) { new } else { old };
                self.write_mask(state, to, copied);
                state.rest.exec = new;
                if logic == Logic::Or {
                    self.has_lanes_of([old, mask], state);
                }
            }
            _ => self.without_rule(index, self.program.inst(index), state),
        }
    }

    /// EXEC has the lanes of these masks: some, if one of them has.
    fn has_lanes_of(&mut self, masks: [Vn; 2], state: &mut State) {
        let Rest { exec, nonzero, .. } = state.rest;
        if masks.iter().any(|&mask| self.is_nonzero(nonzero, mask)) {
            state.rest.nonzero = self.nonzero.with(nonzero, exec.number(), ());
        }
    }

    /// What an instruction does that no rule tells of: a copy of a whole register, or something new.
    fn without_rule(&mut self, index: usize, inst: &Inst, state: &mut State) {
        let Some((to, from)) = self.whole_copy(inst, state) else {
            return self.generic(index, inst, state);
        };
        let copied = self.lanes.entries(state.rest.lanes, lane(from, 0), LANES);
        self.forget_lanes(state, to);
        for (place, value) in copied {
            let place = to * LANES + place % LANES;
            state.rest.lanes = self.lanes.with(state.rest.lanes, place, value);
        }
    }

    /// Nothing is known of a vector register's lanes any more.
    fn forget_lanes(&mut self, state: &mut State, register: u32) {
        state.rest.lanes = self.lanes.without(state.rest.lanes, lane(register, 0), LANES);
    }

    /// What the function does that is called at the end of a block.
    pub(super) fn call(&mut self, block: usize, exit: Exit, state: &mut State) {
        let index = self.function.blocks[block].insts.end - 1;
        let clobbered = match exit {
            Exit::Call(callee) => Some((self.clobbers)(callee)),
            Exit::CallPointed => Some(*self.pointed.get_or_init(|| {
                let mut all = RegSet::default();
                let callees = self.program.pointed.iter();
                callees.for_each(|&callee| all.union_with(&(self.clobbers)(callee)));
                all
            })),
            Exit::Unknown => Some(self.calls.map_or_else(RegSet::all, |calls| calls.unknown)),
            _ => None,
        };
        if let Some(clobbered) = clobbered {
            for register in 0..=107u8 {
                if clobbered.contains(Reg::scalar(register))
                    && let Some(place) = self.slice.place(register)
                {
                    state.scalars[place] = self.values.number(Expr::Opaque(index, register));
                }
            }
            // Spill slots belong to this function's frame.
            for register in self.lanes.groups(state.rest.lanes, 0..SLOTS * LANES, LANES) {
                let written = match register / LANES {
                    vgpr @ 0..AGPRS => Reg::vgpr(vgpr as u8),
                    agpr => Reg::agpr((agpr - AGPRS) as u8),
                };
                if clobbered.contains(written) {
                    state.rest.lanes = self.lanes.without(state.rest.lanes, register, LANES);
                }
            }
        }
    }

    /// A copy of all lanes of a vector register to another, or to or from a spill slot: (to, from).
    fn whole_copy(&mut self, inst: &Inst, state: &State) -> Option<(u32, u32)> {
        let all_lanes = matches!(self.values.expr(state.rest.exec), Expr::Const64(u64::MAX));
        if !all_lanes || !may_copy_whole(inst.op) {
            return None;
        }
        let vector = |n: usize| match inst.operands.get(n)?.value {
            Value::Vgpr(register) => Some(u32::from(register)),
            Value::Agpr(register) => Some(AGPRS + u32::from(register)),
            _ => None,
        };
        let mut slot = |address: &[usize]| {
            let base = address.iter().find_map(|&n| match inst.operands.get(n)?.value {
                Value::Scalar(register) => Some(register),
                _ => None,
            });
            let next = SLOTS + self.slots.len() as u32;
            *self.slots.entry((base, inst.mods.offset)).or_insert(next)
        };
        match inst.op {
            Op::v_mov_b32 | Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32 | Op::v_accvgpr_mov_b32
                if inst.mods.sdwa.is_none() && inst.mods.dpp.is_none() =>
            {
                Some((vector(0)?, vector(1)?))
            }
            // buffer_*_dword vdata, vaddr, srsrc, soffset
            Op::buffer_store_dword => Some((slot(&[3]), vector(0)?)),
            Op::buffer_load_dword => Some((vector(0)?, slot(&[3]))),
            // scratch_store_dword vaddr, vdata, saddr; scratch_load_dword vdst, vaddr, saddr
            Op::scratch_store_dword => Some((slot(&[2]), vector(1)?)),
            Op::scratch_load_dword => Some((vector(0)?, slot(&[2]))),
            _ => None,
        }
    }

    /// An instruction without a rule: what it writes is new. A comparison's mask has only active lanes.
    fn generic(&mut self, index: usize, inst: &Inst, state: &mut State) {
        let is_compare = inst.op.is_of(Families::COMPARE) || inst.op.is_of(Families::COMPARE_EXEC);
        for (n, operand) in inst.operands.iter().enumerate() {
            if operand.access == Access::Read {
                continue;
            }
            match operand.value {
                Value::Scalar(first) if is_compare && operand.dwords == self.wave_size().mask_sgprs() => {
                    let fresh = self.values.number(Expr::Opaque(index, n as u8));
                    let value = self.values.and(state.rest.exec, fresh);
                    self.write_mask(state, first, value);
                }
                Value::Scalar(first) if operand.dwords == 2 => {
                    let fresh = self.values.number(Expr::Opaque(index, n as u8));
                    self.write64(state, first, fresh);
                }
                Value::Scalar(first) => {
                    for k in 0..operand.dwords {
                        let to = first.saturating_add(k);
                        if self.is_exec(to) || self.slice.place(to).is_some() {
                            let value = self.values.number(Expr::Opaque(index, 16 + 16 * n as u8 + k));
                            self.write32(state, to, value);
                        }
                    }
                }
                Value::Vgpr(first) => {
                    for k in 0..u32::from(operand.dwords) {
                        self.forget_lanes(state, u32::from(first) + k);
                    }
                }
                Value::Agpr(first) => {
                    for k in 0..u32::from(operand.dwords) {
                        self.forget_lanes(state, AGPRS + u32::from(first) + k);
                    }
                }
                _ => {}
            }
        }
        if inst.op.is_of(Families::COMPARE_EXEC) {
            let fresh = self.values.number(Expr::Opaque(index, 0));
            state.rest.exec = self.values.and(state.rest.exec, fresh);
        }
    }

    /// Whether a register is EXEC, or its upper half where a wave has that many lanes.
    fn is_exec(&self, register: u8) -> bool {
        (EXEC..EXEC + self.wave_size().mask_sgprs()).contains(&register)
    }

    fn read32(&mut self, state: &State, value: Value, index: usize) -> Vn {
        match value {
            Value::Scalar(register) if self.is_exec(register) => {
                self.values.half(state.rest.exec, register - EXEC)
            }
            // In waves of 32 lanes it is a register that may hold anything, and is not followed.
            Value::Scalar(EXEC_HI) => self.values.number(Expr::Opaque(index, 11)),
            Value::Scalar(register) => self.held(state, register),
            other => match constant(other) {
                Some(value) => self.values.number(Expr::Const32(value as u32)),
                None => self.values.number(Expr::Opaque(index, 9)),
            },
        }
    }

    /// The mask that an operand is, as [`Values::widened`] has it in waves of 32 lanes.
    pub(super) fn read_mask(&mut self, state: &State, value: Value, index: usize) -> Vn {
        match (self.wave_size(), value) {
            (WaveSize::Wave64, _) => self.read64(state, value, index),
            (WaveSize::Wave32, Value::Scalar(EXEC)) => state.rest.exec,
            (WaveSize::Wave32, _) => {
                let half = self.read32(state, value, index);
                self.values.widened(half)
            }
        }
    }

    fn write_mask(&mut self, state: &mut State, to: u8, value: Vn) {
        match self.wave_size() {
            WaveSize::Wave64 => self.write64(state, to, value),
            WaveSize::Wave32 if to == EXEC => state.rest.exec = value,
            WaveSize::Wave32 => {
                let half = self.values.half(value, 0);
                self.write32(state, to, half);
            }
        }
    }

    pub(super) fn read64(&mut self, state: &State, value: Value, index: usize) -> Vn {
        match value {
            Value::Scalar(EXEC) => match self.wave_size() {
                WaveSize::Wave64 => state.rest.exec,
                WaveSize::Wave32 => {
                    let low = self.values.half(state.rest.exec, 0);
                    let high = self.read32(state, Value::Scalar(EXEC_HI), index);
                    self.values.pair(low, high)
                }
            },
            Value::Scalar(register) if register < EXEC => {
                let (low, high) = (self.held(state, register), self.held(state, register + 1));
                self.values.pair(low, high)
            }
            other => match constant(other) {
                Some(value) => self.values.const64(value as u64),
                None => self.values.number(Expr::Opaque(index, 10)),
            },
        }
    }

    /// What a register holds, if that ever matters.
    fn held(&self, state: &State, register: u8) -> Vn {
        self.slice.place(register).map_or(self.dead, |place| state.scalars[place])
    }

    fn write32(&mut self, state: &mut State, to: u8, value: Vn) {
        match (to, self.wave_size()) {
            (EXEC, WaveSize::Wave32) => state.rest.exec = self.values.widened(value),
            (EXEC | EXEC_HI, WaveSize::Wave64) => {
                let (low, high) =
                    (self.values.half(state.rest.exec, 0), self.values.half(state.rest.exec, 1));
                state.rest.exec =
                    if to == EXEC { self.values.pair(value, high) } else { self.values.pair(low, value) };
            }
            _ => {
                if let Some(place) = self.slice.place(to) {
                    state.scalars[place] = value;
                }
            }
        }
    }

    fn write64(&mut self, state: &mut State, to: u8, value: Vn) {
        if to == EXEC && self.wave_size() == WaveSize::Wave64 {
            state.rest.exec = value;
        } else {
            let (low, high) = (self.values.half(value, 0), self.values.half(value, 1));
            self.write32(state, to, low);
            self.write32(state, to.saturating_add(1), high);
        }
    }
}

/// What an operation makes of two masks.
fn combined(values: &mut Values, logic: Logic, a: Vn, b: Vn) -> Vn {
    match logic {
        Logic::And => values.and(a, b),
        Logic::Or => values.or(a, b),
        Logic::Xor => values.xor(a, b),
        Logic::AndNot => values.and_not(a, b),
        Logic::NotAnd => values.and_not(b, a),
        Logic::OrNot => values.or_not(a, b),
        Logic::NotOr => values.or_not(b, a),
        Logic::Nand => {
            let both = values.and(a, b);
            values.not(both)
        }
        Logic::Nor => {
            let either = values.or(a, b);
            values.not(either)
        }
        Logic::Xnor => {
            let differ = values.xor(a, b);
            values.not(differ)
        }
    }
}

/// A lane's number.
fn lane_constant(value: Value, wave: WaveSize) -> Option<u8> {
    constant(value).and_then(|value| u8::try_from(value).ok()).filter(|&lane| u32::from(lane) < wave.lanes())
}

/// An integer operand, sign-extended as a 64-bit scalar operation does.
fn constant(value: Value) -> Option<i64> {
    match value {
        Value::Literal(value) => Some(i64::from(value as i32)),
        Value::Inline(code @ 128..=192) => Some(i64::from(code) - 128),
        Value::Inline(code @ 193..=208) => Some(192 - i64::from(code)),
        Value::Imm(value) => Some(value.into()),
        _ => None,
    }
}
