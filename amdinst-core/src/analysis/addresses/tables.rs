//! Jumps by tables of distances between places in code.
//!
//! Compilers write none, people do:
//! ```text
//! s_and_b32      s6, s6, 3              ; how many there are: or s_min_u32, s_bfe_u32, or a comparison
//! s_lshl_b32     s6, s6, 2
//! s_load_dword   s7, s[4:5], s6         ; s[4:5] is the table's address
//! s_ashr_i32     s8, s7, 31             ; or 0, if all places stand behind the base
//! s_add_u32      s4, s4, s7             ; to an address, or to the value of the program counter
//! s_addc_u32     s5, s5, s8
//! s_setpc_b64    s[4:5]
//! ```
//! The table's length must be known, and its entries must be of no other use: they change when code moves.

use amdgpu_isa::{Inst, Op, Value};

use super::{Half, Pointer, Tracker, constant};

/// The offsets that an index may be, in bytes: from 0 to the last in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offsets {
    last: u32,
    step: u32,
}

impl Offsets {
    const fn times(self, factor: u32) -> Option<Self> {
        match (self.last.checked_mul(factor), self.step.checked_mul(factor)) {
            (Some(last), Some(step)) => Some(Self { last, step }),
            _ => None,
        }
    }

    /// Each of them.
    pub fn all(self) -> impl Iterator<Item = u32> {
        (0..=self.last).step_by(self.step.max(1) as usize)
    }

    /// Whether they are of dwords, and not too many for a table.
    pub const fn are_of_dwords(self) -> bool {
        /// Entries of a table, at most.
        const MOST: u32 = 4096;
        self.step.is_multiple_of(4) && self.step > 0 && self.last / self.step < MOST
    }
}

/// What distances count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The address.
    pub address: u64,
    /// Index of the `s_getpc_b64`, if it is its value as it is.
    pub getpc: Option<usize>,
}

/// An entry that was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where the table begins.
    pub table: u64,
    /// Which entry it may be.
    pub offsets: Offsets,
    /// The base, which the entry was added to.
    pub base: Option<Base>,
}

/// What SCC is the carry of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    /// A table's address and an offset into it.
    Index(u64, Offsets),
    /// A base and an entry, by the instruction that loads it.
    Place(usize),
}

/// A comparison of a register with a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Compared {
    register: u8,
    op: Op,
    constant: u32,
}

impl Compared {
    pub(super) const fn is_of(self, register: u8) -> bool {
        self.register == register
    }
}

impl Tracker {
    /// Takes an instruction that works with tables or indices. False if this is none, and others are to look
    /// at it.
    pub(super) fn step_table(&mut self, index: usize, inst: &Inst, sum: Option<Sum>) -> bool {
        self.note_comparison(inst);
        let Some(to) = scalar(inst, 0) else { return false };
        let is_taken = match inst.op {
            Op::s_load_dword => self.load(index, inst, to),
            Op::s_ashr_i32 => match self.operand(inst, 1) {
                Some(Half::Entry(load)) if constant(inst, 2) == Some(31) => {
                    self.set(to, Some(Half::EntrySign(load)));
                    true
                }
                _ => false,
            },
            Op::s_add_u32 => self.add(inst, to, 1, 2) || self.add(inst, to, 2, 1),
            Op::s_addc_u32 => self.add_carry(inst, to, (1, 2), sum) || self.add_carry(inst, to, (2, 1), sum),
            _ => false,
        };
        if is_taken {
            self.use_constants(inst);
        }
        is_taken
    }

    /// Goes on behind a branch that is not taken.
    pub fn goes_on(&mut self, op: Op) {
        self.end_block();
        let Some(Compared { register, op: comparison, constant }) = self.compared.take() else { return };
        let last = match (comparison, op) {
            (Op::s_cmp_gt_u32 | Op::s_cmpk_gt_u32, Op::s_cbranch_scc1)
            | (Op::s_cmp_le_u32 | Op::s_cmpk_le_u32, Op::s_cbranch_scc0) => Some(constant),
            (Op::s_cmp_ge_u32 | Op::s_cmpk_ge_u32, Op::s_cbranch_scc1)
            | (Op::s_cmp_lt_u32 | Op::s_cmpk_lt_u32, Op::s_cbranch_scc0) => constant.checked_sub(1),
            _ => None,
        };
        if let Some(last) = last {
            self.offsets.retain(|&(of, _)| of != register);
            self.offsets.push((register, Offsets { last, step: 1 }));
        }
    }

    /// The entry that this instruction loads.
    pub fn entry(&self, load: usize) -> Option<Entry> {
        self.entries.get(&load).copied()
    }

    fn note_comparison(&mut self, inst: &Inst) {
        let constant = match inst.op {
            Op::s_cmp_gt_u32 | Op::s_cmp_ge_u32 | Op::s_cmp_lt_u32 | Op::s_cmp_le_u32 => constant(inst, 1),
            Op::s_cmpk_gt_u32 | Op::s_cmpk_ge_u32 | Op::s_cmpk_lt_u32 | Op::s_cmpk_le_u32 => {
                constant(inst, 1).map(|value| value & 0xffff)
            }
            _ => return,
        };
        let compared = scalar(inst, 0).zip(constant);
        self.compared = compared.map(|(register, constant)| Compared { register, op: inst.op, constant });
    }

    /// What an instruction makes of an index, or makes an index of anything.
    pub(super) fn offsets_made(&self, inst: &Inst) -> Option<Offsets> {
        let known = |n: usize| self.offsets_of(scalar(inst, n)?);
        let either = || constant(inst, 1).or_else(|| constant(inst, 2));
        match inst.op {
            Op::s_mov_b32 => known(1),
            Op::s_and_b32 => {
                let mask = either().filter(|&mask| mask > 0)?;
                Some(Offsets { last: mask, step: 1 << mask.trailing_zeros() })
            }
            Op::s_min_u32 => Some(Offsets { last: either()?, step: 1 }),
            Op::s_bfe_u32 => {
                let width = constant(inst, 2)? >> 16 & 0x7f;
                Some(Offsets { last: 1u32.checked_shl(width)?.wrapping_sub(1), step: 1 })
            }
            Op::s_lshl_b32 => known(1)?.times(1u32.checked_shl(constant(inst, 2)?)?),
            Op::s_mul_i32 => known(1).or_else(|| known(2))?.times(either()?),
            _ => None,
        }
    }

    /// The offsets that a register can only be one of.
    fn offsets_of(&self, register: u8) -> Option<Offsets> {
        self.offsets.iter().find(|(of, _)| *of == register).map(|&(_, offsets)| offsets)
    }

    fn operand(&self, inst: &Inst, n: usize) -> Option<Half> {
        scalar(inst, n).and_then(|register| self.half(register))
    }

    fn load(&mut self, index: usize, inst: &Inst, to: u8) -> bool {
        let Some(base) = scalar(inst, 1) else { return false };
        let mut offsets = None;
        let mut fixed = 0;
        for operand in inst.operands.iter().skip(2) {
            match operand.value {
                Value::Imm(value) => fixed += i64::from(value),
                Value::Scalar(register) if offsets.is_none() => {
                    let Some(known) = self.offsets_of(register) else { return false };
                    offsets = Some(known);
                }
                _ => return false,
            }
        }
        let halves = (self.half(base), self.half(base.saturating_add(1)));
        let found = match (halves, self.pointer(base), offsets) {
            (_, Pointer::Known(table), Some(offsets)) => Some((table, offsets)),
            ((Some(Half::IndexedLow(table, of)), Some(Half::IndexedHigh(other))), _, None)
                if other == table =>
            {
                Some((table, of))
            }
            _ => None,
        };
        let Some((table, offsets)) = found.filter(|(_, offsets)| offsets.are_of_dwords()) else {
            return false;
        };
        self.entries.insert(index, Entry { table: table.wrapping_add_signed(fixed), offsets, base: None });
        self.set(to, Some(Half::Entry(index)));
        true
    }

    fn add(&mut self, inst: &Inst, to: u8, n: usize, other: usize) -> bool {
        let base = match self.operand(inst, n) {
            Some(Half::RawLow(getpc)) => {
                self.bases.get(&getpc).map(|&address| Base { address, getpc: Some(getpc) })
            }
            Some(Half::Low(address)) => Some(Base { address, getpc: None }),
            _ => None,
        };
        match (base, self.operand(inst, other)) {
            (Some(base), Some(Half::Entry(load))) => {
                let Some(entry) = self.entries.get_mut(&load).filter(|entry| entry.base.is_none()) else {
                    return false;
                };
                entry.base = Some(base);
                self.set(to, Some(Half::PlaceLow(load)));
                self.sum = Some(Sum::Place(load));
                true
            }
            (Some(Base { address: table, getpc: None }), _) => {
                let offsets = scalar(inst, other).and_then(|register| self.offsets_of(register));
                let Some(offsets) = offsets else { return false };
                self.set(to, Some(Half::IndexedLow(table, offsets)));
                self.sum = Some(Sum::Index(table, offsets));
                true
            }
            _ => false,
        }
    }

    fn add_carry(&mut self, inst: &Inst, to: u8, (n, other): (usize, usize), sum: Option<Sum>) -> bool {
        let (half, is_zero) = (self.operand(inst, n), constant(inst, other) == Some(0));
        let made = match (sum, half) {
            (Some(Sum::Index(table, _)), Some(Half::High(of))) if of == table && is_zero => {
                Half::IndexedHigh(table)
            }
            (Some(Sum::Place(load)), Some(half)) => {
                let base = self.entries.get(&load).and_then(|entry| entry.base);
                let is_base = match half {
                    Half::High(address) => base == Some(Base { address, getpc: None }),
                    Half::RawHigh(getpc) => base.is_some_and(|base| base.getpc == Some(getpc)),
                    _ => false,
                };
                let is_sign = self.operand(inst, other) == Some(Half::EntrySign(load));
                if !is_base || !is_zero && !is_sign {
                    return false;
                }
                Half::PlaceHigh(load, is_sign)
            }
            _ => return false,
        };
        self.set(to, Some(made));
        true
    }
}

fn scalar(inst: &Inst, n: usize) -> Option<u8> {
    match inst.operands.get(n)?.value {
        Value::Scalar(register) => Some(register),
        _ => None,
    }
}
