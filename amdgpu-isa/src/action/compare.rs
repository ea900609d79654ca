//! Comparisons.

use crate::NumberKind;

/// Outcomes of which one holds for two numbers: a set of some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Relation(u8);

impl Relation {
    /// No outcome.
    pub const NEVER: Self = Self(0);
    /// The first is less.
    pub const LESS: Self = Self(1);
    /// They are equal.
    pub const EQUAL: Self = Self(2);
    /// The first is greater.
    pub const GREATER: Self = Self(4);
    /// One is no number.
    pub const UNORDERED: Self = Self(8);

    /// The outcomes of both.
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The other outcomes.
    pub const fn negated(self) -> Self {
        Self(!self.0 & 15)
    }

    /// A bit for each: less, equal, greater, unordered, from the lowest on.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether it holds for two numbers that compare so: `None` if one is no number.
    pub fn holds(self, outcome: Option<std::cmp::Ordering>) -> bool {
        let found = match outcome {
            Some(std::cmp::Ordering::Less) => Self::LESS,
            Some(std::cmp::Ordering::Equal) => Self::EQUAL,
            Some(std::cmp::Ordering::Greater) => Self::GREATER,
            None => Self::UNORDERED,
        };
        self.0 & found.0 != 0
    }
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Comparison {
    /// The outcomes for which it holds.
    pub relation: Relation,
    /// The numbers.
    pub operands: Compared,
}

/// Numbers that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are called as in Rust")]
pub enum Compared {
    F16,
    F32,
    F64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
}

impl Compared {
    /// The kind of number that each is.
    pub(crate) const fn number_kind(self) -> NumberKind {
        match self {
            Self::F16 => NumberKind::F16,
            Self::F32 => NumberKind::F32,
            Self::F64 => NumberKind::F64,
            Self::I16 | Self::U16 => NumberKind::Bits16,
            Self::I32 | Self::U32 => NumberKind::Bits32,
            Self::I64 | Self::U64 => NumberKind::Bits64,
        }
    }
}
