//! Conversions from or to floats of 16 bits and less that are not plain halves.

use crate::{NumberKind, Numbers};

/// A conversion of one or several floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// Results.
    pub to: SmallFloat,
    /// Sources.
    pub from: SmallFloat,
    /// How many are converted, and where the sources stand.
    pub group: ConvertedGroup,
    /// Rounding is stochastic: a source behind the data is its seed.
    pub is_stochastic: bool,
    /// The last source's exponent is a scale.
    pub is_scaled: bool,
}

/// Formats of floats that such conversions have at either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmallFloat {
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// The upper half of single precision.
    Bf16,
    /// 8 bits, 4 of them the exponent: the processor's own format.
    Fp8,
    /// 8 bits, 5 of them the exponent: the processor's own format.
    Bf8,
    /// E2M3.
    Fp6,
    /// E3M2.
    Bf6,
    /// E2M1.
    Fp4,
}

impl SmallFloat {
    /// Bits of one.
    pub const fn bits(self) -> u32 {
        match self {
            Self::F32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::Fp8 | Self::Bf8 => 8,
            Self::Fp6 | Self::Bf6 => 6,
            Self::Fp4 => 4,
        }
    }
}

/// Floats that one lane converts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvertedGroup {
    /// One.
    One,
    /// Two: single ones from the first two sources, unless the second is a seed; all else from the first.
    Two,
    /// 32 of the first source.
    All32,
    /// 32, in turn from the first two sources.
    Interleaved32,
}

impl ConvertedGroup {
    /// How many.
    pub const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::All32 | Self::Interleaved32 => 32,
        }
    }
}

impl Conversion {
    /// Elements come in turn from the first two sources.
    pub fn is_interleaved(&self) -> bool {
        let pairs = self.group == ConvertedGroup::Two && self.from == SmallFloat::F32 && !self.is_stochastic;
        pairs || self.group == ConvertedGroup::Interleaved32
    }

    /// Kinds of its numbers. What is packed is raw; a seed and a scale are.
    pub(crate) fn numbers(&self) -> Numbers {
        let alone = |format| match format {
            SmallFloat::F32 => NumberKind::F32,
            SmallFloat::F16 => NumberKind::F16,
            _ => NumberKind::Bits32,
        };
        let is_one = self.group == ConvertedGroup::One;
        let source = alone(self.from);
        let second = if self.is_interleaved() { source } else { NumberKind::Bits32 };
        Numbers {
            result: if is_one { alone(self.to) } else { NumberKind::Bits32 },
            sources: [source, second, NumberKind::Bits32, NumberKind::Bits32],
        }
    }
}
