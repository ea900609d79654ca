//! What the instructions do, one lane at a time, written from the manuals' pseudocode on top of LLVM's
//! software floats (`rustc_apfloat`) and 128-bit integers. Nothing here is taken from the emulator.

pub(crate) mod approximate;
pub(crate) mod convert;
pub(crate) mod divide;
pub(crate) mod float;
pub(crate) mod integer;
pub(crate) mod packed;

use rustc_apfloat::Round;

/// What an operand is, for modifiers and widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    F16,
    F32,
    F64,
    I16,
    I32,
    I64,
    I128,
}

impl Kind {
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::F16 | Self::I16 => 16,
            Self::F32 | Self::I32 => 32,
            Self::F64 | Self::I64 => 64,
            Self::I128 => 128,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }
}

/// The MODE register, and the instruction's own clamp and output modifier.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    pub(crate) register: u32,
    pub(crate) clamp: bool,
    pub(crate) omod: u8,
    /// As RDNA 4 has it: neither DX10_CLAMP nor IEEE, minima and maxima of IEEE 754-2019, an output modifier
    /// in every mode (RDNA4 ISA, sections 3.4.3 and 7.2.3.1).
    pub(crate) is_fixed: bool,
}

impl Mode {
    /// FP_ROUND of a format: bits 0-1 single, bits 2-3 half and double.
    pub(crate) fn round(self, kind: Kind) -> Round {
        let field = if kind == Kind::F32 { self.register } else { self.register >> 2 };
        match field & 3 {
            0 => Round::NearestTiesToEven,
            1 => Round::TowardPositive,
            2 => Round::TowardNegative,
            _ => Round::TowardZero,
        }
    }

    fn denormals(self, kind: Kind) -> u32 {
        let field = if kind == Kind::F32 { self.register >> 4 } else { self.register >> 6 };
        field & 3
    }

    /// Input subnormals are kept: mode 1 and 3.
    pub(crate) fn keeps_inputs(self, kind: Kind) -> bool {
        self.denormals(kind) & 1 != 0
    }

    /// Output subnormals are kept: mode 2 and 3.
    pub(crate) fn keeps_outputs(self, kind: Kind) -> bool {
        self.denormals(kind) & 2 != 0
    }

    pub(crate) fn dx10_clamp(self) -> bool {
        self.register & 1 << 8 != 0 || self.is_fixed
    }

    /// FP16_OVFL: halves that overflow stay at the largest number.
    pub(crate) fn saturates(self, kind: Kind) -> bool {
        kind == Kind::F16 && self.register & 1 << 23 != 0
    }

    pub(crate) fn ieee(self) -> bool {
        self.register & 1 << 9 != 0 && !self.is_fixed
    }
}

/// What one lane reads: sources after their modifiers, the old result, the lane's bit of the mask operand.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Args {
    pub(crate) s: [u128; 3],
    pub(crate) old: u128,
    pub(crate) bit: bool,
    pub(crate) mode: Mode,
    /// V_DIV_SCALE as RDNA 3 has it, by what tinygrad's tests found on a gfx1100: it marks lanes where a
    /// source is zero, and takes a quotient with the least normal exponent for subnormal, too.
    pub(crate) scales_as_rdna: bool,
}

impl Args {
    pub(crate) fn u(&self, source: usize) -> u32 {
        self.s[source] as u32
    }

    pub(crate) fn i(&self, source: usize) -> i32 {
        self.s[source] as i32
    }
}

/// What one lane writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) value: u128,
    /// The bit of the mask result, where there is one.
    pub(crate) bit: bool,
}

impl From<u128> for Answer {
    fn from(value: u128) -> Self {
        Self { value, bit: false }
    }
}

impl From<u32> for Answer {
    fn from(value: u32) -> Self {
        u128::from(value).into()
    }
}

/// One operation.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) dst: Kind,
    pub(crate) src: &'static [Kind],
    pub(crate) run: fn(&Args) -> Answer,
}

/// A line of a list of operations: name, result and sources, function.
macro_rules! operations {
    ($($name:ident: $dst:ident = $($src:ident)* => $run:expr;)*) => {
        &[$($crate::model::Operation {
            name: stringify!($name),
            dst: $crate::model::Kind::$dst,
            src: &[$($crate::model::Kind::$src),*],
            run: $run,
        },)*]
    };
}
pub(crate) use operations;

/// The model of an operation of one lane.
pub(crate) fn operation(name: &str) -> Option<&'static Operation> {
    [float::OPERATIONS, approximate::OPERATIONS, convert::OPERATIONS, divide::OPERATIONS, integer::OPERATIONS]
        .into_iter()
        .flatten()
        .find(|operation| operation.name == name)
}

/// Whether an operation with a 16-bit result leaves the other half of the register alone instead of clearing
/// it (LLVM, `GCNSubtarget::zeroesHigh16BitsOfDest`: the instructions that GFX8 had still clear it, those
/// changed or added in GFX9 do not).
pub(crate) fn keeps_other_half(name: &str) -> bool {
    matches!(
        name,
        "v_mad_f16"
            | "v_mad_u16"
            | "v_mad_i16"
            | "v_fma_f16"
            | "v_div_fixup_f16"
            | "v_mac_f16"
            | "v_madak_f16"
            | "v_madmk_f16"
            | "v_add_i16"
            | "v_sub_i16"
            | "v_min3_f16"
            | "v_min3_i16"
            | "v_min3_u16"
            | "v_max3_f16"
            | "v_max3_i16"
            | "v_max3_u16"
            | "v_med3_f16"
            | "v_med3_i16"
            | "v_med3_u16"
    )
}
