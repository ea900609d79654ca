//! Products of matrices.

use crate::NumberKind;

/// A product of matrices, `D = A × B + C`, or several of the same shape, as its opcode tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixProduct {
    /// What multiplies them, on which it depends how lanes hold them.
    pub unit: MatrixUnit,
    /// Rows of A, C and D, and columns of B, C and D.
    pub size: usize,
    /// Columns of A and rows of B.
    pub depth: usize,
    /// Products.
    pub blocks: usize,
    /// Elements of A.
    pub a: Element,
    /// Elements of B.
    pub b: Element,
    /// Elements of C and D.
    pub result: Accumulator,
    /// Of each four elements of A along a row two are there, and indices say which.
    pub is_sparse: bool,
}

/// What multiplies matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixUnit {
    /// The matrix core of CDNA: MFMA, and SMFMAC, of which A is sparse.
    Mfma,
    /// RDNA's WMMA, and SWMMAC, of which A is sparse.
    Wmma,
}

/// An element of A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Single precision of which 10 bits of the mantissa count.
    Xf32,
    /// Half precision.
    F16,
    /// The upper half of single precision.
    Bf16,
    /// 8 bits, 4 of them the exponent.
    Fp8,
    /// 8 bits, 5 of them the exponent.
    Bf8,
    /// FP8, BF8, FP6, BF6 or FP4, as CBSZ (A) and BLGP (B) say.
    Small,
    /// 8 bits, signed.
    I8,
    /// 8 bits, signed if NEG says so.
    Iu8,
    /// 4 bits, signed if NEG says so.
    Iu4,
}

impl Element {
    /// Bits of an element in a register; of [`Element::Small`], of the widest.
    pub const fn bits(self) -> usize {
        match self {
            Self::F64 => 64,
            Self::F32 | Self::Xf32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::I8 | Self::Iu8 | Self::Fp8 | Self::Bf8 | Self::Small => 8,
            Self::Iu4 => 4,
        }
    }
}

/// An element of C or D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulator {
    /// Double precision.
    F64,
    /// Single precision.
    F32,
    /// Half precision.
    F16,
    /// The upper half of single precision.
    Bf16,
    /// 32 bits, signed.
    I32,
}

impl Accumulator {
    /// The kind of number that it is, alone.
    pub(crate) const fn number_kind(self) -> NumberKind {
        match self {
            Self::F64 => NumberKind::F64,
            Self::F32 => NumberKind::F32,
            Self::F16 => NumberKind::F16,
            Self::Bf16 => NumberKind::Bf16,
            Self::I32 => NumberKind::Bits32,
        }
    }
}
