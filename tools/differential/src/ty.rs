//! The types of the generated programs.

/// A type of C, as the programs' prelude names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Ty {
    /// A condition. There are no variables of this type.
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
    I16x2,
    U16x2,
    F16x2,
    F32x2,
}

impl Ty {
    /// Every type that a variable can have.
    pub const VALUES: [Self; 15] = [
        Self::U32,
        Self::I32,
        Self::F32,
        Self::U64,
        Self::I64,
        Self::F64,
        Self::U16,
        Self::I16,
        Self::F16,
        Self::U8,
        Self::I8,
        Self::U16x2,
        Self::I16x2,
        Self::F16x2,
        Self::F32x2,
    ];
    /// Integers.
    pub const INTEGERS: [Self; 8] =
        [Self::I8, Self::U8, Self::I16, Self::U16, Self::I32, Self::U32, Self::I64, Self::U64];
    /// Floating-point numbers.
    pub const FLOATS: [Self; 3] = [Self::F16, Self::F32, Self::F64];

    /// Its name in C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::U16 => "u16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::I16x2 => "i16x2",
            Self::U16x2 => "u16x2",
            Self::F16x2 => "f16x2",
            Self::F32x2 => "f32x2",
        }
    }

    /// Its size in memory.
    pub fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 | Self::I16x2 | Self::U16x2 | Self::F16x2 => 4,
            Self::I64 | Self::U64 | Self::F64 | Self::F32x2 => 8,
        }
    }

    /// Whether values are floating-point numbers, so that NaNs must be made equal before their bits are
    /// looked at.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64 | Self::F16x2 | Self::F32x2)
    }

    /// Whether the type is a signed integer.
    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// The type of a vector's elements; itself for a scalar.
    pub fn element(self) -> Self {
        match self {
            Self::I16x2 => Self::I16,
            Self::U16x2 => Self::U16,
            Self::F16x2 => Self::F16,
            Self::F32x2 => Self::F32,
            scalar => scalar,
        }
    }
}
