//! Follows the value of `s_getpc_b64` through straight-line code.
//!
//! The compiler forms every address in or near the code as
//! ```text
//! s_getpc_b64 s[4:5]
//! s_add_u32   s4, s4, low
//! s_addc_u32  s5, s5, high
//! ```
//! (`SI_PC_ADD_REL_OFFSET` in LLVM; GFX12 has `s_sext_i32_i16 s5, s5` behind the first) and calls, jumps or
//! loads through the result, perhaps after moving it or parking it in lanes of a VGPR. The tracker knows, at
//! each instruction, which registers hold a half of such an address.
//!
//! Assemblers' own long branches put the distance into a register first (`s_mov_b32 s6, low`,
//! `s_add_i32 s6, low, 4`), take its absolute value, or subtract it (`s_sub_u32`, `s_subb_u32`). The tracker
//! follows that within a block: such a register is part of the address, and must be of no other use.
//!
//! A value of the program counter must become an address by an addition and its own carry. What registers
//! still hold of one must be dead where blocks join and where calls return. Else the function cannot move.

mod tables;

use std::collections::BTreeMap;

pub use tables::{Base, Entry, Offsets};
use tables::{Compared, Sum};

use amdgpu_isa::{Access, Families, Inst, Op, Value, scalar};
use arrayvec::ArrayVec;

/// What is known of a 32-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    /// Low half of what `s_getpc_b64` at instruction `.0` returned.
    RawLow(usize),
    /// High half of it.
    RawHigh(usize),
    /// `RawLow(.0)` plus a literal, by instruction `.1`; the high half is still to come.
    SumLow(usize, usize),
    /// Low half of an address.
    Low(u64),
    /// High half of an address.
    High(u64),
    /// A constant that was made part of an address, for the `s_getpc_b64` at instruction `.0`.
    Spent(usize),
    /// Low half of the address of a table, to which one of these offsets was added.
    IndexedLow(u64, Offsets),
    /// High half of it.
    IndexedHigh(u64),
    /// An entry of a table of distances, by the instruction that loads it.
    Entry(usize),
    /// All bits are its sign.
    EntrySign(usize),
    /// Low half of a place that is an entry away from its base.
    PlaceLow(usize),
    /// High half of it, and whether the entry has a sign.
    PlaceHigh(usize, bool),
    /// Computed from something else, or loaded.
    Computed,
}

impl Half {
    /// The instruction that it comes from, if it becomes something else when code moves and is no address
    /// yet.
    const fn changes(&self) -> Option<usize> {
        match *self {
            Self::RawLow(of) | Self::RawHigh(of) | Self::SumLow(of, _) | Self::Spent(of) => Some(of),
            Self::Entry(of) | Self::EntrySign(of) | Self::PlaceLow(of) | Self::PlaceHigh(of, _) => Some(of),
            Self::Low(_) | Self::High(_) | Self::IndexedLow(..) | Self::IndexedHigh(_) | Self::Computed => {
                None
            }
        }
    }
}

/// A constant that a distance is made of, so that it can be given another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index of the instruction with the constant.
    pub inst: usize,
    /// The constant's value.
    pub value: u32,
    /// The constant in the instruction is `offset` less, or `offset` less the value if it is `negated`.
    pub offset: u32,
    /// The value falls as the constant in the instruction rises.
    pub negated: bool,
    /// Instructions went by its sign, so the sign must stay as it is.
    pub keeps_sign: bool,
}

impl Part {
    /// The constant for the instruction to have, for this value. None if that is not possible.
    pub fn constant(&self, value: u32) -> Option<u32> {
        if self.keeps_sign && ((value ^ self.value) as i32) < 0 {
            return None;
        }
        let rest = value.wrapping_sub(self.offset);
        Some(if self.negated { rest.wrapping_neg() } else { rest })
    }
}

/// The addition to, or subtraction from, the low half of a value of the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Carry {
    getpc: usize,
    add: usize,
    low: Part,
    subtracts: bool,
}

/// An address computed relative to the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcRelative {
    /// Index of the `s_getpc_b64`.
    pub getpc: usize,
    /// Index of the `s_add_u32` that adds the low half of the distance, or of the `s_sub_u32` that subtracts
    /// it.
    pub add: usize,
    /// Index of the `s_addc_u32`, or `s_subb_u32`, for the high half.
    pub addc: usize,
    /// Parts of the distance: its low half, its high half.
    pub parts: [Part; 2],
    /// The distance is subtracted.
    pub subtracts: bool,
    /// The address.
    pub target: u64,
}

/// What a register pair holds when a jump goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// The address is known.
    Known(u64),
    /// One of a table, whose entry this instruction loads; and whether entries have a sign.
    Table(usize, bool),
    /// Something computed or loaded here.
    Computed,
    /// Whatever it held when the straight line began (for example a return address).
    Inherited,
}

/// A use of a raw program counter that the tracker does not understand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misuse {
    /// Index of the `s_getpc_b64`.
    pub getpc: usize,
    /// Index of the instruction that uses its value.
    pub user: usize,
}

/// The tracker: feed it the instructions of a straight line in order.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    /// Scalar registers that were computed from something else, or loaded: nearly all.
    computed: u128,
    /// The others of which something is known.
    scalars: BTreeMap<u8, Half>,
    /// Lanes of VGPRs.
    lanes: BTreeMap<(u8, u32), Half>,
    /// Value of each `s_getpc_b64` seen.
    bases: BTreeMap<usize, u64>,
    /// The addition to the low half of such a value whose carry SCC is.
    carry: Option<Carry>,
    /// Registers that instructions of this block gave constants.
    constants: Vec<(u8, Part)>,
    /// What SCC is known to be, while a value of the program counter is no address yet.
    scc: Option<bool>,
    /// Registers that can only be one of some offsets.
    offsets: Vec<(u8, Offsets)>,
    /// Entries of tables, by the instructions that load them.
    entries: BTreeMap<usize, Entry>,
    /// What SCC is the carry of, where tables are concerned.
    sum: Option<Sum>,
    /// The comparison that SCC is of.
    compared: Option<Compared>,
}

impl Tracker {
    /// No register is known to hold an address, or a part of one.
    pub fn is_idle(&self) -> bool {
        self.scalars.is_empty() && self.lanes.is_empty()
    }

    /// The content of the pair that starts at scalar register `first`.
    pub fn pointer(&self, first: u8) -> Pointer {
        match (self.half(first), self.half(first.saturating_add(1))) {
            (Some(Half::Low(low)), Some(Half::High(high))) if low == high => Pointer::Known(low),
            (Some(Half::PlaceLow(load)), Some(Half::PlaceHigh(of, signed))) if load == of => {
                Pointer::Table(load, signed)
            }
            (None, None) => Pointer::Inherited,
            _ => Pointer::Computed,
        }
    }

    fn half(&self, register: u8) -> Option<Half> {
        if register < 128 && self.computed >> register & 1 != 0 {
            return Some(Half::Computed);
        }
        if self.scalars.is_empty() { None } else { self.scalars.get(&register).copied() }
    }

    fn set(&mut self, register: u8, half: Option<Half>) {
        self.constants.retain(|&(of, _)| of != register);
        self.offsets.retain(|&(of, _)| of != register);
        if self.compared.is_some_and(|compared| compared.is_of(register)) {
            self.compared = None;
        }
        let bit = if register < 128 { 1 << register } else { 0 };
        self.computed &= !bit;
        match half {
            Some(Half::Computed) if bit != 0 => {
                self.computed |= bit;
                if !self.scalars.is_empty() {
                    self.scalars.remove(&register);
                }
            }
            Some(half) => drop(self.scalars.insert(register, half)),
            None => drop(self.scalars.remove(&register)),
        }
    }

    /// Takes the instruction with index `index`, which starts at `pc`. `load` reads the address that the
    /// loader puts into a slot of the global offset table. `writes_scc` tells whether the instruction does.
    pub fn step(
        &mut self,
        index: usize,
        pc: u64,
        inst: (&Inst, bool),
        load: &dyn Fn(u64) -> Option<u64>,
        found: &mut Vec<PcRelative>,
        misuses: &mut Vec<Misuse>,
    ) {
        let offsets = self.offsets_made(inst.0);
        self.step_address(index, pc, inst, load, found, misuses);
        if let (Some(offsets), Some(Value::Scalar(to))) =
            (offsets, inst.0.operands.first().map(|operand| operand.value))
        {
            self.offsets.push((to, offsets));
        }
    }

    fn step_address(
        &mut self,
        index: usize,
        pc: u64,
        (inst, writes_scc): (&Inst, bool),
        load: &dyn Fn(u64) -> Option<u64>,
        found: &mut Vec<PcRelative>,
        misuses: &mut Vec<Misuse>,
    ) {
        let scalar = |n: usize| match inst.operands.get(n).map(|operand| operand.value) {
            Some(Value::Scalar(register)) => Some(register),
            _ => None,
        };
        let half = |this: &Self, n: usize| scalar(n).and_then(|register| this.half(register));
        let (carry, sum) = (self.carry, self.sum);
        if writes_scc {
            self.carry = None;
            self.scc = None;
            self.sum = None;
            self.compared = None;
        }
        if self.step_table(index, inst, sum) {
            return;
        }
        if self.step_constant(index, inst) {
            return;
        }
        if !matches!(inst.op, Op::s_add_u32 | Op::s_addc_u32 | Op::s_sub_u32 | Op::s_subb_u32) {
            self.use_constants(inst);
        }
        match (inst.op, scalar(0)) {
            (Op::s_getpc_b64, Some(to)) => {
                self.bases.insert(index, pc + u64::from(inst.size));
                self.set(to, Some(Half::RawLow(index)));
                self.set(to + 1, Some(Half::RawHigh(index)));
            }
            // Fills in the highest bits, where the program counter comes without them.
            (Op::s_sext_i32_i16, Some(to)) if let Some(raw @ Half::RawHigh(_)) = half(self, 1) => {
                self.set(to, Some(raw));
            }
            (Op::s_add_u32 | Op::s_sub_u32, Some(to)) => {
                let subtracts = inst.op == Op::s_sub_u32;
                let operands = match (half(self, 1), half(self, 2)) {
                    (Some(Half::RawLow(base)), _) => self.part(index, inst, 2).map(|low| (base, low)),
                    (_, Some(Half::RawLow(base))) if !subtracts => {
                        self.part(index, inst, 1).map(|low| (base, low))
                    }
                    _ => None,
                };
                match operands {
                    Some((getpc, low)) => {
                        self.spend(low, getpc);
                        self.carry = Some(Carry { getpc, add: index, low, subtracts });
                        self.set(to, Some(Half::SumLow(getpc, index)));
                    }
                    None => self.forget(index, inst, misuses),
                }
            }
            (Op::s_addc_u32 | Op::s_subb_u32, Some(to)) => {
                let subtracts = inst.op == Op::s_subb_u32;
                let operands = match (half(self, 1), half(self, 2)) {
                    (Some(Half::RawHigh(base)), _) => self.part(index, inst, 2).map(|high| (base, high)),
                    (_, Some(Half::RawHigh(base))) if !subtracts => {
                        self.part(index, inst, 1).map(|high| (base, high))
                    }
                    _ => None,
                };
                // The carry must be that of the low half's addition.
                let raw = operands.and_then(|(base, high)| {
                    let carry = carry.filter(|carry| carry.getpc == base && carry.subtracts == subtracts)?;
                    Some((*self.bases.get(&base)?, carry, high))
                });
                match raw {
                    Some((value, Carry { getpc, add, low, .. }, high)) => {
                        self.spend(high, getpc);
                        let distance = u64::from(high.value) << 32 | u64::from(low.value);
                        let target = if subtracts {
                            value.wrapping_sub(distance)
                        } else {
                            value.wrapping_add(distance)
                        };
                        let parts = [low, high];
                        self.complete(
                            to,
                            PcRelative { getpc, add, addc: index, parts, subtracts, target },
                            found,
                        );
                    }
                    None => self.forget(index, inst, misuses),
                }
            }
            (Op::s_mov_b32, Some(to)) if scalar(1).is_some() => self.set(to, half(self, 1)),
            (Op::s_mov_b64, Some(to)) if let Some(from) = scalar(1) => {
                let halves = [self.half(from), self.half(from.saturating_add(1))];
                self.set(to, halves[0]);
                self.set(to + 1, halves[1]);
            }
            (Op::v_writelane_b32, _) => match (vector(inst, 0), constant(inst, 2)) {
                (Some(to), Some(lane)) => match half(self, 1) {
                    Some(half) => drop(self.lanes.insert((to, lane), half)),
                    None => drop(self.lanes.remove(&(to, lane))),
                },
                _ => self.forget(index, inst, misuses),
            },
            (Op::v_readlane_b32, Some(to)) => match (vector(inst, 1), constant(inst, 2)) {
                (Some(from), Some(lane)) => self.set(to, self.lanes.get(&(from, lane)).copied()),
                _ => self.forget(index, inst, misuses),
            },
            (Op::s_load_dwordx2, Some(to)) => {
                let slot =
                    match (scalar(1).map(|base| self.pointer(base)), inst.operands.get(2).map(|o| o.value)) {
                        (Some(Pointer::Known(base)), Some(Value::Imm(offset))) => {
                            load(base.wrapping_add_signed(offset.into()))
                        }
                        _ => None,
                    };
                match slot {
                    Some(address) => {
                        self.set(to, Some(Half::Low(address)));
                        self.set(to + 1, Some(Half::High(address)));
                    }
                    None => self.forget(index, inst, misuses),
                }
            }
            _ => self.forget(index, inst, misuses),
        }
    }

    /// Takes an instruction that makes a constant of constants, or compares one. False if this is none.
    fn step_constant(&mut self, index: usize, inst: &Inst) -> bool {
        let to = match inst.operands.first().map(|operand| operand.value) {
            Some(Value::Scalar(register)) => register,
            _ => return false,
        };
        let made = match inst.op {
            Op::s_mov_b32 | Op::s_movk_i32 => self.part(index, inst, 1),
            Op::s_abs_i32 => self.part(index, inst, 1).map(|part| {
                let negative = (part.value as i32) < 0;
                Part { keeps_sign: true, ..if negative { part.negative() } else { part } }
            }),
            Op::s_add_i32 | Op::s_add_u32 | Op::s_sub_i32 | Op::s_sub_u32 => {
                let subtracts = matches!(inst.op, Op::s_sub_i32 | Op::s_sub_u32);
                let is_literal = |n: usize| matches!(inst.operands[n].value, Value::Literal(_));
                let sum = |this: &Self, varies: usize, fixed: usize| {
                    let fixed = constant(inst, fixed)?;
                    let part = this.part(index, inst, varies)?;
                    Some(match (subtracts, varies) {
                        (false, _) => part.plus(fixed),
                        (true, 1) => part.plus(fixed.wrapping_neg()),
                        (true, _) => part.negative().plus(fixed),
                    })
                };
                let varies = if inst.operands.len() == 3 && is_literal(2) { 2 } else { 1 };
                sum(self, varies, 3 - varies).or_else(|| sum(self, 3 - varies, varies))
            }
            // What it compares with stands second.
            Op::s_cmp_ge_i32 | Op::s_cmp_gt_i32 | Op::s_cmp_le_i32 | Op::s_cmp_lt_i32
                if constant(inst, 1) == Some(0) && self.raw().next().is_some() =>
            {
                let Some((_, part)) = self.constants.iter_mut().find(|(of, _)| *of == to) else {
                    return false;
                };
                let value = part.value as i32;
                // Zero is none of both.
                if value == 0 {
                    return false;
                }
                part.keeps_sign = true;
                self.scc = Some((value > 0) == matches!(inst.op, Op::s_cmp_ge_i32 | Op::s_cmp_gt_i32));
                return true;
            }
            _ => None,
        };
        let Some(part) = made else { return false };
        self.set(to, Some(Half::Computed));
        // Others are read by instructions that do not name them.
        if to < scalar::VCC {
            self.constants.push((to, part));
        }
        true
    }

    /// The constant that operand `n` is, or that its register was given.
    fn part(&self, index: usize, inst: &Inst, n: usize) -> Option<Part> {
        if let Some(value) = constant(inst, n) {
            return Some(Part { inst: index, value, offset: 0, negated: false, keeps_sign: false });
        }
        let Value::Scalar(register) = inst.operands.get(n)?.value else { return None };
        self.constants.iter().find(|(of, _)| *of == register).map(|&(_, part)| part)
    }

    /// What an instruction reads as it is cannot become part of an address.
    fn use_constants(&mut self, inst: &Inst) {
        if self.constants.is_empty() {
            return;
        }
        if matches!(inst.op, Op::s_movrels_b32 | Op::s_movrels_b64)
            || inst.op.is_of(Families::SGPRS_BY_NUMBER)
        {
            self.constants.clear();
        }
        for operand in inst.operands.iter().filter(|operand| operand.access != Access::Write) {
            let Value::Scalar(first) = operand.value else { continue };
            let read = first..first.saturating_add(operand.dwords);
            let used: ArrayVec<usize, 16> = self
                .constants
                .iter()
                .filter(|(of, _)| read.contains(of))
                .map(|(_, part)| part.inst)
                .take(16)
                .collect();
            self.constants.retain(|(_, part)| !used.contains(&part.inst));
        }
    }

    /// A constant becomes part of an address: the registers that have it are of no other use.
    fn spend(&mut self, part: Part, getpc: usize) {
        let spent: Vec<u8> = self
            .constants
            .iter()
            .filter(|(_, of)| of.inst == part.inst)
            .map(|&(register, _)| register)
            .collect();
        spent.into_iter().for_each(|register| self.set(register, Some(Half::Spent(getpc))));
    }

    /// A block ends: what registers hold as constants may be of use elsewhere.
    pub fn end_block(&mut self) {
        self.constants.clear();
        self.scc = None;
    }

    /// Whether a branch that goes by SCC is taken, if that is known.
    pub const fn scc(&self) -> Option<bool> {
        self.scc
    }

    /// An address is complete with its high half in `to`: then what was the sum of low halves is its low
    /// half.
    fn complete(&mut self, to: u8, address: PcRelative, found: &mut Vec<PcRelative>) {
        let PcRelative { getpc, add, target, .. } = address;
        let sum = Half::SumLow(getpc, add);
        // The register itself may hold the low half's sum.
        let is_low = self.scalars.get(&to) == Some(&sum);
        for half in self.scalars.values_mut().chain(self.lanes.values_mut()).filter(|half| **half == sum) {
            found.push(address);
            *half = Half::Low(target);
        }
        if !is_low {
            self.set(to, Some(Half::High(target)));
        }
    }

    /// The `s_getpc_b64` of values that are no addresses yet, with the scalar register that has a half of
    /// one, or none for a lane.
    pub fn raw(&self) -> impl Iterator<Item = (usize, Option<u8>)> {
        let scalars = self.scalars.iter().map(|(&register, half)| (half, Some(register)));
        let lanes = self.lanes.values().map(|half| (half, None));
        scalars.chain(lanes).filter_map(|(half, register)| Some((half.changes()?, register)))
    }

    /// After a call: what registers hold is up to the callee.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What an instruction without a rule does: its destinations are computed, and raw program counters must
    /// not be among its sources, since they change when code moves.
    fn forget(&mut self, index: usize, inst: &Inst, misuses: &mut Vec<Misuse>) {
        self.use_constants(inst);
        if !self.scalars.is_empty() {
            for operand in inst.operands.iter().filter(|operand| operand.access != Access::Write) {
                let Value::Scalar(first) = operand.value else { continue };
                for register in first..first.saturating_add(operand.dwords) {
                    let half = self.scalars.get(&register);
                    let is_place = matches!(half, Some(Half::PlaceLow(_) | Half::PlaceHigh(..)));
                    if is_place && inst.op == Op::s_setpc_b64 {
                        continue;
                    }
                    if let Some(getpc) = half.and_then(|half| half.changes()) {
                        misuses.push(Misuse { getpc, user: index });
                    }
                }
            }
        }
        for operand in inst.operands.iter().filter(|operand| operand.access != Access::Read) {
            match operand.value {
                Value::Scalar(first) => {
                    for register in first..first.saturating_add(operand.dwords) {
                        self.set(register, Some(Half::Computed));
                    }
                }
                Value::Vgpr(first) if !self.lanes.is_empty() => {
                    let written = first..first.saturating_add(operand.dwords);
                    self.lanes.retain(|(register, _), _| !written.contains(register));
                }
                _ => {}
            }
        }
    }
}

impl Part {
    const fn plus(self, more: u32) -> Self {
        Self { value: self.value.wrapping_add(more), offset: self.offset.wrapping_add(more), ..self }
    }

    const fn negative(self) -> Self {
        Self {
            value: self.value.wrapping_neg(),
            offset: self.offset.wrapping_neg(),
            negated: !self.negated,
            ..self
        }
    }
}

/// The 32-bit constant that operand `n` is.
pub fn constant(inst: &Inst, n: usize) -> Option<u32> {
    match inst.operands.get(n)?.value {
        Value::Literal(value) => Some(value),
        Value::Inline(code @ 128..=192) => Some(u32::from(code) - 128),
        Value::Inline(code @ 193..=208) => Some((192 - i32::from(code)) as u32),
        Value::Imm(value) => Some(value as u32),
        _ => None,
    }
}

fn vector(inst: &Inst, n: usize) -> Option<u8> {
    match inst.operands.get(n)?.value {
        Value::Vgpr(register) => Some(register),
        _ => None,
    }
}
