//! Follows the value of `s_getpc_b64` through straight-line code.
//!
//! The compiler forms every address in or near the code as
//! ```text
//! s_getpc_b64 s[4:5]
//! s_add_u32   s4, s4, low
//! s_addc_u32  s5, s5, high
//! ```
//! (`SI_PC_ADD_REL_OFFSET` in LLVM; GFX12 has `s_sext_i32_i16 s5, s5` behind the first) and calls, jumps or loads through the
//! result, perhaps after moving it or parking it in lanes of a VGPR. The tracker knows, at each instruction, which registers hold a
//! half of such an address.
//!
//! A value of the program counter must become an address by an addition and its own carry. What registers
//! still hold of one must be dead where blocks join and where calls return. Else the function cannot move.

use std::collections::BTreeMap;

use amdgpu_isa::{Access, Inst, Op, Value};

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
    /// Computed from something else, or loaded.
    Computed,
}

/// An address computed relative to the program counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcRelative {
    /// Index of the `s_getpc_b64`.
    pub getpc: usize,
    /// Index of the `s_add_u32` that adds the low literal.
    pub add: usize,
    /// Index of the `s_addc_u32` that adds the high one.
    pub addc: usize,
    /// The address.
    pub target: u64,
}

/// What a register pair holds when a jump goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// The address is known.
    Known(u64),
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
    /// The addition to the low half of such a value whose carry SCC is: the `s_getpc_b64`, the `s_add_u32`, and what is added.
    carry: Option<(usize, usize, u32)>,
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

    /// Takes the instruction with index `index`, which starts at `pc`. `load` reads the address that the loader puts into a
    /// slot of the global offset table. `writes_scc` tells whether the instruction does.
    pub fn step(
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
        let carry = self.carry;
        if writes_scc {
            self.carry = None;
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
            (Op::s_add_u32, Some(to)) => {
                match (half(self, 1), constant(inst, 2), half(self, 2), constant(inst, 1)) {
                    (Some(Half::RawLow(base)), Some(low), _, _)
                    | (_, _, Some(Half::RawLow(base)), Some(low)) => {
                        self.carry = Some((base, index, low));
                        self.set(to, Some(Half::SumLow(base, index)));
                    }
                    _ => self.forget(index, inst, misuses),
                }
            }
            (Op::s_addc_u32, Some(to)) => {
                let operands = (half(self, 1), constant(inst, 2), half(self, 2), constant(inst, 1));
                let raw = match operands {
                    (Some(Half::RawHigh(base)), Some(high), _, _)
                    | (_, _, Some(Half::RawHigh(base)), Some(high)) => {
                        // The carry must be that of the low half's addition.
                        let carry = carry.filter(|&(of, ..)| of == base);
                        let value = self.bases.get(&base);
                        value.zip(carry).map(|(&value, (_, add, low))| (base, add, value, low, high))
                    }
                    _ => None,
                };
                match raw {
                    Some((base, add, value, low, high)) => {
                        let target = value.wrapping_add(u64::from(high) << 32 | u64::from(low));
                        self.complete(to, (base, add, index), target, found);
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

    /// The `s_addc_u32` at `addc` makes `to` the high half of `target`: then what was the low sum, by `add`, is its low half.
    fn complete(
        &mut self,
        to: u8,
        (getpc, add, addc): (usize, usize, usize),
        target: u64,
        found: &mut Vec<PcRelative>,
    ) {
        let sum = Half::SumLow(getpc, add);
        // The register itself may hold the low half's sum.
        let is_low = self.scalars.get(&to) == Some(&sum);
        for half in self.scalars.values_mut().chain(self.lanes.values_mut()).filter(|half| **half == sum) {
            found.push(PcRelative { getpc, add, addc, target });
            *half = Half::Low(target);
        }
        if !is_low {
            self.set(to, Some(Half::High(target)));
        }
    }

    /// The `s_getpc_b64` of values that are no addresses yet, with the scalar register that has a half of one, or none for a lane.
    pub fn raw(&self) -> impl Iterator<Item = (usize, Option<u8>)> {
        let scalars = self.scalars.iter().map(|(&register, half)| (half, Some(register)));
        let lanes = self.lanes.values().map(|half| (half, None));
        scalars.chain(lanes).filter_map(|(half, register)| match *half {
            Half::RawLow(getpc) | Half::RawHigh(getpc) | Half::SumLow(getpc, _) => Some((getpc, register)),
            _ => None,
        })
    }

    /// After a call: what registers hold is up to the callee.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What an instruction without a rule does: its destinations are computed, and raw program counters must not be among
    /// its sources, since they change when code moves.
    fn forget(&mut self, index: usize, inst: &Inst, misuses: &mut Vec<Misuse>) {
        if !self.scalars.is_empty() {
            for operand in inst.operands.iter().filter(|operand| operand.access != Access::Write) {
                let Value::Scalar(first) = operand.value else { continue };
                for register in first..first.saturating_add(operand.dwords) {
                    if let Some(Half::RawLow(getpc) | Half::RawHigh(getpc) | Half::SumLow(getpc, _)) =
                        self.scalars.get(&register)
                    {
                        misuses.push(Misuse { getpc: *getpc, user: index });
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
