//! The vocabulary of actions in `signatures!` lists: a verb and what it is done with.

#![expect(non_upper_case_globals, reason = "they are words of the lists")]

use crate::action::{
    Accumulator, Action, AtomicOp, Compared, Comparison, Components, Conversion, ConvertedGroup, Element,
    Half, MatrixProduct, MatrixUnit, MemoryAction, Moved, Packing, Relation, SmallFloat,
};
use crate::{NumberKind, Numbers};

pub(crate) const fn load(what: Moved) -> Action {
    Action::Memory(MemoryAction::Load(what))
}

pub(crate) const fn store(what: Moved) -> Action {
    Action::Memory(MemoryAction::Store(what))
}

pub(crate) const fn atomic((op, bytes): (AtomicOp, u8)) -> Action {
    Action::Memory(MemoryAction::Atomic { op, bytes })
}

pub(crate) const fn load_format(what: Components) -> Action {
    Action::Memory(MemoryAction::LoadFormat(what))
}

pub(crate) const fn store_format(what: Components) -> Action {
    Action::Memory(MemoryAction::StoreFormat(what))
}

/// Rows of A, columns of A, and blocks; the elements of A, B, and C and D.
pub(crate) const fn mfma(shape: [usize; 3], a: Element, b: Element, result: Accumulator) -> Action {
    product(MatrixUnit::Mfma, shape, [a, b], result, false)
}

/// As [`mfma`], A sparse.
pub(crate) const fn smfmac(shape: [usize; 3], a: Element, b: Element, result: Accumulator) -> Action {
    product(MatrixUnit::Mfma, shape, [a, b], result, true)
}

/// As [`mfma`].
pub(crate) const fn wmma(shape: [usize; 3], a: Element, b: Element, result: Accumulator) -> Action {
    product(MatrixUnit::Wmma, shape, [a, b], result, false)
}

/// As [`mfma`], A sparse.
pub(crate) const fn swmmac(shape: [usize; 3], a: Element, b: Element, result: Accumulator) -> Action {
    product(MatrixUnit::Wmma, shape, [a, b], result, true)
}

const fn product(
    unit: MatrixUnit,
    [size, depth, blocks]: [usize; 3],
    [a, b]: [Element; 2],
    result: Accumulator,
    is_sparse: bool,
) -> Action {
    Action::Matrix(MatrixProduct { unit, size, depth, blocks, a, b, result, is_sparse })
}

pub(crate) const fn compare(relation: Relation, operands: Compared) -> Action {
    Action::Compare(Comparison { relation, operands })
}

/// A conversion of one float from a format to another.
pub(crate) const fn one(to: SmallFloat, from: SmallFloat) -> Conversion {
    Conversion { to, from, group: ConvertedGroup::One, is_stochastic: false, is_scaled: false }
}

/// Words behind the formats of a conversion.
pub(crate) mod manners {
    use crate::action::{Conversion, ConvertedGroup};

    /// Two floats.
    pub(crate) const fn pk(conversion: Conversion) -> Conversion {
        Conversion { group: ConvertedGroup::Two, ..conversion }
    }

    /// 32 floats.
    pub(crate) const fn pk32(conversion: Conversion) -> Conversion {
        Conversion { group: ConvertedGroup::All32, ..conversion }
    }

    /// 32 floats of two sources.
    pub(crate) const fn twice16(conversion: Conversion) -> Conversion {
        Conversion { group: ConvertedGroup::Interleaved32, ..conversion }
    }

    /// Stochastic rounding.
    pub(crate) const fn sr(conversion: Conversion) -> Conversion {
        Conversion { is_stochastic: true, ..conversion }
    }

    /// With a scale.
    pub(crate) const fn scaled(conversion: Conversion) -> Conversion {
        Conversion { is_scaled: true, ..conversion }
    }
}

/// Relations, as mnemonics have them.
pub(crate) mod relations {
    use crate::action::Relation;

    pub(crate) const f: Relation = Relation::NEVER;
    pub(crate) const lt: Relation = Relation::LESS;
    pub(crate) const eq: Relation = Relation::EQUAL;
    pub(crate) const gt: Relation = Relation::GREATER;
    pub(crate) const u: Relation = Relation::UNORDERED;
    pub(crate) const le: Relation = lt.or(eq);
    pub(crate) const ge: Relation = gt.or(eq);
    pub(crate) const lg: Relation = lt.or(gt);
    pub(crate) const o: Relation = u.negated();
    pub(crate) const nlt: Relation = lt.negated();
    pub(crate) const neq: Relation = eq.negated();
    pub(crate) const ngt: Relation = gt.negated();
    pub(crate) const nle: Relation = le.negated();
    pub(crate) const nge: Relation = ge.negated();
    pub(crate) const nlg: Relation = lg.negated();
    pub(crate) const tru: Relation = f.negated();
    /// Of integers: what `tru` and `lg` are, of which no outcome is unordered.
    pub(crate) const t: Relation = o;
    pub(crate) const ne: Relation = lg;
}

/// A module of words, each a variant: `word = variant;`
macro_rules! words {
    ($(#[$doc:meta])* $module:ident of $ty:ident; $($word:ident = $variant:ident;)*) => {
        $(#[$doc])*
        pub(crate) mod $module {
            $(pub(crate) const $word: super::$ty = super::$ty::$variant;)*
        }
    };
}

words! {
    /// Numbers that are compared.
    compared of Compared;
    f16 = F16;
    f32 = F32;
    f64 = F64;
    i16 = I16;
    u16 = U16;
    i32 = I32;
    u32 = U32;
    i64 = I64;
    u64 = U64;
}

words! {
    /// Ends of conversions.
    small_floats of SmallFloat;
    f32 = F32;
    f16 = F16;
    bf16 = Bf16;
    fp8 = Fp8;
    bf8 = Bf8;
    fp6 = Fp6;
    bf6 = Bf6;
    fp4 = Fp4;
}

words! {
    /// Kinds of numbers.
    kinds of NumberKind;
    b16 = Bits16;
    b32 = Bits32;
    b64 = Bits64;
    f16 = F16;
    bf16 = Bf16;
    f32 = F32;
}

/// The result's kind, and those of sources.
pub(crate) const fn numbers(result: NumberKind, sources: [NumberKind; 3]) -> Action {
    let [a, b, c] = sources;
    Action::Numbers(Numbers { result, sources: [a, b, c, NumberKind::Bits32] })
}

words! {
    /// Elements of A and B.
    elements of Element;
    f64 = F64;
    f32 = F32;
    xf32 = Xf32;
    f16 = F16;
    bf16 = Bf16;
    fp8 = Fp8;
    bf8 = Bf8;
    f8f6f4 = Small;
    i8 = I8;
    iu8 = Iu8;
    iu4 = Iu4;
}

words! {
    /// Elements of C and D.
    accumulators of Accumulator;
    f64 = F64;
    f32 = F32;
    f16 = F16;
    bf16 = Bf16;
    i32 = I32;
}

/// `word = bytes, whether its sign is extended, half;`
macro_rules! moved {
    ($($word:ident = $bytes:literal, $signed:literal, $half:expr;)*) => {
        $(pub(crate) const $word: Moved = Moved { bytes: $bytes, signed: $signed, half: $half };)*
    };
}

moved! {
    u8 = 1, false, None;
    u8_low = 1, false, Some(Half::Low);
    u8_high = 1, false, Some(Half::High);
    i8 = 1, true, None;
    i8_low = 1, true, Some(Half::Low);
    i8_high = 1, true, Some(Half::High);
    u16 = 2, false, None;
    i16 = 2, true, None;
    b8 = 1, false, None;
    b8_high = 1, false, Some(Half::High);
    b16 = 2, false, None;
    b16_low = 2, false, Some(Half::Low);
    b16_high = 2, false, Some(Half::High);
    b32 = 4, false, None;
    b64 = 8, false, None;
    b96 = 12, false, None;
    b128 = 16, false, None;
    b256 = 32, false, None;
    b512 = 64, false, None;
}

/// `word = components, how they lie in registers;`
macro_rules! components {
    ($($word:ident = $count:literal, $packing:ident;)*) => {
        $(pub(crate) const $word: Components = Components { count: $count, packing: Packing::$packing };)*
    };
}

components! {
    x = 1, Dwords;
    xy = 2, Dwords;
    xyz = 3, Dwords;
    xyzw = 4, Dwords;
    d16_x = 1, Halves;
    d16_xy = 2, Halves;
    d16_xyz = 3, Halves;
    d16_xyzw = 4, Halves;
    d16_hi_x = 1, HighHalf;
}

/// `word = operation, bytes;`
macro_rules! atomics {
    ($($word:ident = $op:ident, $bytes:literal;)*) => {
        $(pub(crate) const $word: (AtomicOp, u8) = (AtomicOp::$op, $bytes);)*
    };
}

atomics! {
    swap_b32 = Swap, 4;
    swap_b64 = Swap, 8;
    cmp_swap_b32 = CmpSwap, 4;
    cmp_swap_b64 = CmpSwap, 8;
    add_b32 = Add, 4;
    add_b64 = Add, 8;
    sub_b32 = Sub, 4;
    sub_b64 = Sub, 8;
    sub_clamped_b32 = SubClamped, 4;
    sub_if_not_less_b32 = SubIfNotLess, 4;
    rsub_b32 = Rsub, 4;
    rsub_b64 = Rsub, 8;
    smin_b32 = SMin, 4;
    smin_b64 = SMin, 8;
    smax_b32 = SMax, 4;
    smax_b64 = SMax, 8;
    umin_b32 = UMin, 4;
    umin_b64 = UMin, 8;
    umax_b32 = UMax, 4;
    umax_b64 = UMax, 8;
    and_b32 = And, 4;
    and_b64 = And, 8;
    or_b32 = Or, 4;
    or_b64 = Or, 8;
    xor_b32 = Xor, 4;
    xor_b64 = Xor, 8;
    inc_b32 = Inc, 4;
    inc_b64 = Inc, 8;
    dec_b32 = Dec, 4;
    dec_b64 = Dec, 8;
    mask_or_b32 = MaskOr, 4;
    mask_or_b64 = MaskOr, 8;
    wrap_b32 = Wrap, 4;
    add_f32 = FAdd, 4;
    add_f64 = FAdd, 8;
    min_f32 = FMin, 4;
    min_f64 = FMin, 8;
    max_f32 = FMax, 4;
    max_f64 = FMax, 8;
    cmp_swap_f32 = FCmpSwap, 4;
    cmp_swap_f64 = FCmpSwap, 8;
    pk_add_f16 = PkAddF16, 4;
    pk_add_bf16 = PkAddBf16, 4;
    conditional_swap_32 = ConditionalSwap32, 8;
}
