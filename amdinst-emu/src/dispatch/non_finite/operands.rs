//! The numbers that a float operation computes with, as they were before it ran.

use std::ops::Range;

use amdgpu_isa::{Access, NumberKind, Op, Slot, Value as InstValue};

use super::class::{Class, may_be, shown};
use super::kinds::Kinds;
use crate::program::Step;
use crate::wave::{LANES, Row, Src, Wave};

/// The result of an operation, in vector registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatResult {
    pub(super) row: u16,
    pub(super) dwords: u8,
    pub(super) kind: NumberKind,
}

impl FloatResult {
    /// That of a step, which is one operation; `None` of one that computes no float.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let kinds = Kinds::of(step)?;
        // Some have a scalar result.
        let first = step.extra.as_ref()?.inst.operands.first()?.value;
        let is_there = step.dst_dwords > 0 && matches!(first, InstValue::Vgpr(_) | InstValue::Agpr(_));
        is_there.then_some(Self { row: step.dst, dwords: step.dst_dwords, kind: kinds.result })
    }

    pub(super) fn rows(&self) -> Range<u16> {
        self.row..self.row + u16::from(self.dwords)
    }

    /// Dwords of an element.
    pub(super) const fn element(&self) -> usize {
        if matches!(self.kind, NumberKind::F64) { 2 } else { 1 }
    }

    /// Whether some lane may have no number there.
    pub(super) fn may_be_other(&self, wave: &Wave) -> bool {
        let rows = &wave.rows[usize::from(self.row)..][..usize::from(self.dwords)];
        // No early end, so that the loop goes by vectors.
        rows.iter().any(|row| row.iter().fold(false, |any, dword| any | may_be(self.kind, *dword)))
    }
}

/// An operand.
#[derive(Debug)]
struct Operand {
    kind: NumberKind,
    value: Value,
    /// A lane may take it from any lane.
    crosses: bool,
}

#[derive(Debug)]
enum Value {
    /// The same in all lanes.
    Uniform(u64),
    /// So many rows of those that were saved, from one on.
    Saved { first: usize, rows: usize },
}

/// The operands of an operation.
#[derive(Debug, Default)]
pub(super) struct Operands {
    operands: Vec<Operand>,
    /// Rows as they were.
    saved: Vec<Row>,
    /// Of the result.
    before: Vec<Row>,
    /// Some operands have a format that is not looked at.
    pub(super) has_others: bool,
}

impl Operands {
    /// Takes those of a wave's next step, or of one of its two operations, in place of what it has.
    pub(super) fn take(&mut self, wave: &Wave, step: &Step, result: &FloatResult) {
        self.operands.clear();
        self.saved.clear();
        self.before.clear();
        self.has_others = false;
        self.before.extend_from_slice(&wave.rows[usize::from(result.row)..][..usize::from(result.dwords)]);
        let (Some(extra), Some(kinds)) = (&step.extra, Kinds::of(step)) else { return };
        let is_matrix = step.op.matrix_product().is_some();
        for (index, (src, dwords)) in step.src.iter().zip(step.src_dwords).enumerate() {
            // The quotient so far is what the way there made of it.
            if index == 0 && ends_a_quotient(step.op) {
                continue;
            }
            let crosses = is_matrix || index == 0 && extra.permutation.is_some();
            match kinds.sources[index] {
                Some(kind) => self.add(wave, *src, dwords, kind, crosses),
                None => self.has_others |= *src != Src::None,
            }
        }
        let is_old = |operand: &&amdgpu_isa::Operand| {
            operand.access == Access::ReadWrite && operand.slot == Slot::Vdst
        };
        if extra.inst.operands.iter().any(|operand| is_old(&operand)) {
            self.add(wave, Src::Row(result.row), result.dwords, result.kind, is_matrix);
        }
    }

    fn add(&mut self, wave: &Wave, src: Src, dwords: u8, kind: NumberKind, crosses: bool) {
        let value = match src {
            Src::Row(first) => {
                let rows = &wave.rows[usize::from(first)..][..usize::from(dwords.max(1))];
                let value = Value::Saved { first: self.saved.len(), rows: rows.len() };
                self.saved.extend_from_slice(rows);
                value
            }
            Src::Scalar(first) => {
                let dword = |number: u8| u64::from(wave.s.get(usize::from(number)).copied().unwrap_or(0));
                let high = if dwords > 1 { dword(first.saturating_add(1)) } else { 0 };
                Value::Uniform(dword(first) | high << 32)
            }
            Src::Const(value) => Value::Uniform(value),
            Src::Special(_) | Src::None => return,
        };
        self.operands.push(Operand { kind, value, crosses });
    }

    /// The worst of what a lane computes with.
    pub(super) fn worst(&self, lane: usize) -> Class {
        let of = |operand: &Operand| match operand.value {
            Value::Uniform(value) => Class::of(operand.kind, value as u32, (value >> 32) as u32),
            Value::Saved { first, rows } => {
                let rows = &self.saved[first..first + rows];
                let in_lane = |lane: usize| worst_of(rows, operand.kind, lane);
                if operand.crosses {
                    (0..LANES).map(in_lane).max().unwrap_or_default()
                } else {
                    in_lane(lane)
                }
            }
        };
        self.operands.iter().map(of).max().unwrap_or_default()
    }

    /// Whether a lane computes with other lanes' values.
    pub(super) fn crosses(&self) -> bool {
        self.operands.iter().any(|operand| operand.crosses)
    }

    /// What the result's register had in a lane before, from a dword on.
    pub(super) fn before(&self, dword: usize, lane: usize) -> [u32; 2] {
        [dword, dword + 1].map(|dword| self.before.get(dword).map_or(0, |row| row[lane]))
    }

    /// Those that a lane computes with, as people read them; none of a product of matrices, which has too
    /// many.
    pub(super) fn shown(&self, lane: usize) -> Vec<String> {
        if self.operands.iter().all(|operand| operand.crosses) {
            return Vec::new();
        }
        let one = |operand: &Operand| {
            let (low, high) = match operand.value {
                Value::Uniform(value) => (value as u32, (value >> 32) as u32),
                Value::Saved { first, rows } => {
                    let dword =
                        |number: usize| self.saved[first..first + rows].get(number).map(|row| row[lane]);
                    (dword(0).unwrap_or(0), dword(1).unwrap_or(0))
                }
            };
            shown(operand.kind, low, high)
        };
        self.operands.iter().map(one).collect()
    }
}

/// Whether an operation is the end of a division: it has the result that the numerator and the denominator
/// ask for.
pub(super) const fn ends_a_quotient(op: Op) -> bool {
    matches!(op, Op::v_div_fixup_f16 | Op::v_div_fixup_f32 | Op::v_div_fixup_f64 | Op::v_div_fixup_legacy_f16)
}

/// Whether an operation is the beginning of a division: a NaN there says that the end has another result.
pub(super) const fn begins_a_quotient(op: Op) -> bool {
    matches!(op, Op::v_div_scale_f32 | Op::v_div_scale_f64)
}

/// The worst of a lane's elements in some rows.
fn worst_of(rows: &[Row], kind: NumberKind, lane: usize) -> Class {
    match kind {
        NumberKind::F64 => rows.chunks(2).map(|pair| pair_class(pair, lane)).max(),
        _ => rows.iter().map(|row| Class::of(kind, row[lane], 0)).max(),
    }
    .unwrap_or_default()
}

fn pair_class(pair: &[Row], lane: usize) -> Class {
    let high = pair.get(1).map_or(0, |row| row[lane]);
    Class::of(NumberKind::F64, pair[0][lane], high)
}
