//! Comparisons of 32-bit lanes: `v_cmp_*` and `v_cmpx_*`.

use crate::program::{Context, Hot};
use std::marker::PhantomData;

use super::level::Level;
use super::mode::{FloatMode, Modifiers, Signs};
use super::valu::{put_mask, sources};
use super::{Body, Lanes, Operands, parts};

/// A test of two vectors.
pub(super) trait Test {
    const FLOAT: bool;
    fn test<L: Level>(level: L, a: L::V, b: L::V) -> u32;
}

macro_rules! tests {
    ($($name:ident = |$level:ident, $a:ident, $b:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl Test for $name {
            const FLOAT: bool = false;
            #[inline(always)]
            fn test<L: Level>($level: L, $a: L::V, $b: L::V) -> u32 {
                $body
            }
        }
    )*};
}

tests! {
    Equal = |level, a, b| level.equal(a, b);
    NotEqual = |level, a, b| !level.equal(a, b);
    LessSigned = |level, a, b| level.less_signed(a, b);
    LessEqualSigned = |level, a, b| !level.less_signed(b, a);
    GreaterSigned = |level, a, b| level.less_signed(b, a);
    GreaterEqualSigned = |level, a, b| !level.less_signed(a, b);
    LessUnsigned = |level, a, b| level.less_unsigned(a, b);
    LessEqualUnsigned = |level, a, b| !level.less_unsigned(b, a);
    GreaterUnsigned = |level, a, b| level.less_unsigned(b, a);
    GreaterEqualUnsigned = |level, a, b| !level.less_unsigned(a, b);
}

/// A [`relation`](super::level::relation) of floats.
pub(super) struct Float<const RELATION: i32>;

impl<const RELATION: i32> Test for Float<RELATION> {
    const FLOAT: bool = true;
    #[inline(always)]
    fn test<L: Level>(level: L, a: L::V, b: L::V) -> u32 {
        level.compare_f32::<RELATION>(a, b)
    }
}

/// What `hot.imm[2]` is, which comparisons have no source in, where the result goes to EXEC as well.
pub(super) const MASK_TO_EXEC: u32 = 1;

/// A comparison; `SAME` says which sources are the same for all lanes, `TO_EXEC` is for `v_cmpx_*`.
pub(super) struct Compare<T, const SAME: u8, const TO_EXEC: bool>(PhantomData<T>);

impl<T: Test, const SAME: u8, const TO_EXEC: bool> Body for Compare<T, SAME, TO_EXEC> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mut bits = 0;
        if T::FLOAT && !w.plain32() {
            return level.apart::<InMode<T, false>>(context, hot);
        }
        let [a, b, _] = sources::<L, 2, SAME>(level, Operands::of(w), hot);
        for i in 0..parts::<L>() {
            let lanes = u64::from(T::test(level, a.get(i), b.get(i))) & ((1u64 << L::N) - 1);
            bits |= lanes << (i * L::N);
        }
        put_mask::<L>(context, hot, bits, TO_EXEC);
        hot.next
    }
}

/// A comparison in every mode, and if it is `MODIFIED` with the instruction's own modifiers. See [`Compare`].
pub(super) struct InMode<T, const MODIFIED: bool>(PhantomData<T>);

impl<T: Test, const MODIFIED: bool> Body for InMode<T, MODIFIED> {
    #[inline(always)]
    fn run<L: Level>(level: L, context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // Subnormals are equal to zero where they are flushed.
        let flushes = FloatMode::single(w).flushes_sources;
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        let mut bits = 0;
        let operands = Operands::of(w);
        let (first, second) = (Lanes::of(level, operands, hot, 0), Lanes::of(level, operands, hot, 1));
        let (first_signs, second_signs) = (Signs::of(level, modifiers, 0), Signs::of(level, modifiers, 1));
        for i in 0..parts::<L>() {
            let mut a = first_signs.apply(first.get(i));
            let mut b = second_signs.apply(second.get(i));
            if flushes {
                (a, b) = (level.flush_f32(a), level.flush_f32(b));
            }
            let lanes = u64::from(T::test(level, a, b)) & ((1u64 << L::N) - 1);
            bits |= lanes << (i * L::N);
        }
        put_mask::<L>(context, hot, bits, hot.imm[2] == MASK_TO_EXEC);
        hot.next
    }
}
