//! Fields and formats: where the parts of an instruction are.
//!
//! Bit numbers count through the dwords: 0-31 the first, 32-63 the second, 64-95 the third, up to 128-159 the
//! fifth. Of instructions with scales, which have four dwords, 0-63 are the last two.

use arrayvec::ArrayVec;

use super::modifiers::ModifierBits;
/// A run of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) lsb: u8,
    pub(crate) width: u8,
}

impl Field {
    pub(crate) const fn new(lsb: u8, width: u8) -> Self {
        Self { lsb, width }
    }

    /// Whether it is behind the first two dwords.
    pub(crate) const fn is_extra(self) -> bool {
        self.lsb >= 64
    }

    /// The bits it covers.
    pub(crate) const fn mask(self) -> u64 {
        ((1 << self.width) - 1) << (self.lsb % 64)
    }

    /// Its value in a word.
    pub(crate) const fn get(self, bits: u64) -> u32 {
        ((bits >> (self.lsb % 64)) & ((1 << self.width) - 1)) as u32
    }

    /// A word with only this field set.
    pub(crate) const fn put(self, value: u32) -> u64 {
        ((value as u64) & ((1 << self.width) - 1)) << (self.lsb % 64)
    }
}

/// How an encoding is told from the others, where its opcode is, and how long it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// The bits that are the same in every instruction.
    pub(crate) prefix: u64,
    /// Where those bits are.
    pub(crate) prefix_mask: u64,
    pub(crate) opcode: Field,
    /// Dwords without a literal.
    pub(crate) dwords: u8,
}

impl Format {
    /// The last dword behind the first two, where one is.
    pub(crate) const fn last_dword(&self) -> Field {
        match self.dwords {
            5 => Field::new(128, 32),
            4 => Field::new(96, 32),
            _ => Field::new(64, 32),
        }
    }
}

/// Modifiers of one opcode in one encoding.
pub(crate) type ModifierList = ArrayVec<ModifierBits, 16>;

/// The words of an instruction, in the pairs to which fields belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pairs {
    /// The first two dwords, of instructions with scales the last two.
    pub(crate) main: u64,
    /// The third and the fourth dword, of instructions with scales the first two.
    pub(crate) extra: u64,
    /// The fifth dword.
    pub(crate) last: u64,
}

impl Pairs {
    /// A field's value.
    pub(crate) const fn get(&self, field: Field) -> u32 {
        field.get(match field.lsb / 64 {
            0 => self.main,
            1 => self.extra,
            _ => self.last,
        })
    }

    /// Sets bits in the pair of a field.
    pub(crate) const fn add(&mut self, field: Field, bits: u64) {
        match field.lsb / 64 {
            0 => self.main |= bits,
            1 => self.extra |= bits,
            _ => self.last |= bits,
        }
    }
}
