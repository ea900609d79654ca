//! Elements in the registers of one lane.

use amdgpu_isa::Value;

use super::PERMUTED;
use super::plan::Plan;
use crate::exec::minifloat::{self, Format};
use crate::program::Extra;
use crate::wave::{Src, Wave, register_row};

/// A source.
#[derive(Clone, Copy, Debug)]
pub(super) enum Operand {
    /// First register.
    Row(u16),
    /// Bits that are the same for all lanes.
    Bits(u64),
}

impl Operand {
    /// A dword of the source.
    pub(super) fn word(&self, w: &Wave, lane: usize, at: usize) -> u32 {
        match self {
            Self::Row(row) => w.rows[usize::from(*row) + at][lane],
            Self::Bits(bits) => (bits >> (32 * at.min(1))) as u32,
        }
    }

    /// An element of the source, the first of which starts at bit `first`.
    pub(super) fn element(&self, w: &Wave, lane: usize, first: u32, format: Format, index: usize) -> u32 {
        let bit = first as usize + index * format.bits() as usize;
        let low = u64::from(self.word(w, lane, bit / 32));
        let runs_over = bit % 32 + format.bits() as usize > 32;
        let high = if runs_over { u64::from(self.word(w, lane, bit / 32 + 1)) } else { 0 };
        let mask = (1u64 << format.bits()) - 1;
        ((high << 32 | low) >> (bit % 32) & mask) as u32
    }
}

/// The sources of an instruction.
pub(super) fn sources(w: &Wave, plan: &Plan, extra: &Extra) -> Option<[Operand; 3]> {
    let mut sources = [Operand::Bits(0); 3];
    let operands = extra.inst.operands.iter().skip(1);
    for (at, (operand, source)) in operands.zip(&mut sources).enumerate() {
        let is_data = at == 0 || plan.in_turn && at == 1;
        let format = if is_data { plan.from } else { minifloat::F32 };
        *source = match operand.value {
            _ if at == 0 && extra.inst.mods.dpp.is_some() => Operand::Row(PERMUTED),
            Value::Vgpr(_) | Value::Agpr(_) => Operand::Row(register_row(operand.value)?),
            Value::Scalar(register) if operand.dwords >= 2 => Operand::Bits(w.s64(register)),
            Value::Scalar(register) => Operand::Bits(u64::from(w.scalar32(Src::Scalar(register)))),
            Value::Special(special) => Operand::Bits(w.scalar64(Src::Special(special))),
            Value::Literal(bits) => Operand::Bits(u64::from(bits)),
            Value::Inline(code) => Operand::Bits(u64::from(minifloat::inline_constant(code, format))),
            Value::Imm(_) | Value::Off | Value::Vgprs(_) => return None,
        };
    }
    Some(sources)
}

/// The result of one lane, element by element.
#[derive(Debug)]
pub(super) struct Sink {
    words: [u32; 32],
    bits: u32,
    /// Next free bit.
    next: u32,
    /// First bit, and how many bits are replaced if not whole registers.
    place: (u32, Option<u32>),
}

impl Sink {
    pub(super) fn new(format: Format, place: (u32, Option<u32>)) -> Self {
        Self { words: [0; 32], bits: format.bits(), next: 0, place }
    }

    /// Append an element.
    pub(super) fn push(&mut self, code: u32) {
        let (word, bit) = (self.next as usize / 32, self.next % 32);
        let wide = u64::from(code) << bit;
        self.words[word] |= wide as u32;
        if wide >> 32 != 0 {
            self.words[word + 1] |= (wide >> 32) as u32;
        }
        self.next += self.bits;
    }

    /// Write the registers from `row` on.
    pub(super) fn write(&self, w: &mut Wave, row: u16, lane: usize) {
        match self.place {
            (_, None) => {
                for (at, word) in self.words[..self.next.div_ceil(32) as usize].iter().enumerate() {
                    w.rows[usize::from(row) + at][lane] = *word;
                }
            }
            (first, Some(bits)) => {
                let mask = (((1u64 << bits) - 1) << first) as u32;
                let old = &mut w.rows[usize::from(row)][lane];
                *old = *old & !mask | self.words[0] << first & mask;
            }
        }
    }
}
