//! Comparisons of 32-bit lanes: `v_cmp_*` and `v_cmpx_*`.

use crate::program::{Context, Hot};
use std::marker::PhantomData;

use super::level::Level;
use super::mode::{FloatMode, Modifiers, Signs};
use super::valu::{put_mask, sources};
use super::{Body, Lanes, parts};

/// A test of two vectors.
pub(super) trait Test {
    const FLOAT: bool;
    /// # Safety
    /// As for [`Level`].
    unsafe fn test<L: Level>(a: L::V, b: L::V) -> u32;
}

macro_rules! tests {
    ($($name:ident = |$a:ident, $b:ident| $body:expr;)*) => {$(
        pub(super) struct $name;
        impl Test for $name {
            const FLOAT: bool = false;
            #[inline(always)]
            unsafe fn test<L: Level>($a: L::V, $b: L::V) -> u32 {
                // SAFETY: the caller's.
                unsafe { $body }
            }
        }
    )*};
}

tests! {
    Equal = |a, b| L::equal(a, b);
    NotEqual = |a, b| !L::equal(a, b);
    LessSigned = |a, b| L::less_signed(a, b);
    LessEqualSigned = |a, b| !L::less_signed(b, a);
    GreaterSigned = |a, b| L::less_signed(b, a);
    GreaterEqualSigned = |a, b| !L::less_signed(a, b);
    LessUnsigned = |a, b| L::less_unsigned(a, b);
    LessEqualUnsigned = |a, b| !L::less_unsigned(b, a);
    GreaterUnsigned = |a, b| L::less_unsigned(b, a);
    GreaterEqualUnsigned = |a, b| !L::less_unsigned(a, b);
}

/// A [`relation`](super::level::relation) of floats.
pub(super) struct Float<const RELATION: i32>;

impl<const RELATION: i32> Test for Float<RELATION> {
    const FLOAT: bool = true;
    #[inline(always)]
    unsafe fn test<L: Level>(a: L::V, b: L::V) -> u32 {
        // SAFETY: the caller's.
        unsafe { L::compare_f32::<RELATION>(a, b) }
    }
}

/// What `hot.imm[2]` is, which comparisons have no source in, where the result goes to EXEC as well.
pub(super) const MASK_TO_EXEC: u32 = 1;

/// A comparison; `SAME` says which sources are the same for all lanes, `TO_EXEC` is for `v_cmpx_*`.
pub(super) struct Compare<T, const SAME: u8, const TO_EXEC: bool>(PhantomData<T>);

impl<T: Test, const SAME: u8, const TO_EXEC: bool> Body for Compare<T, SAME, TO_EXEC> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        let mut bits = 0;
        // SAFETY: rows are in the register file (checked by `compile`).
        unsafe {
            if T::FLOAT && !w.plain32() {
                return L::apart::<InMode<T, false>>(context, hot);
            }
            let [a, b, _] = sources::<L, 2, SAME>(w, hot);
            for i in 0..parts::<L>() {
                let lanes = u64::from(T::test::<L>(a.get(i), b.get(i))) & ((1u64 << L::N) - 1);
                bits |= lanes << (i * L::N);
            }
        }
        put_mask::<L>(context, hot, bits, TO_EXEC);
        hot.next
    }
}

/// A comparison in every mode, and if it is `MODIFIED` with the instruction's own modifiers. See [`Compare`].
pub(super) struct InMode<T, const MODIFIED: bool>(PhantomData<T>);

impl<T: Test, const MODIFIED: bool> Body for InMode<T, MODIFIED> {
    #[inline(always)]
    unsafe fn run<L: Level>(context: &mut Context<'_>, hot: &Hot) -> u32 {
        let w = &mut *context.wave;
        // Subnormals are equal to zero where they are flushed.
        let flushes = FloatMode::single(w).flushes_sources;
        let modifiers = if MODIFIED { Modifiers::get(hot) } else { Modifiers::NONE };
        let mut bits = 0;
        // SAFETY: as for `Compare`.
        unsafe {
            let (first, second) = (Lanes::<L>::of(w, hot, 0), Lanes::<L>::of(w, hot, 1));
            let (first_signs, second_signs) = (Signs::<L>::of(modifiers, 0), Signs::<L>::of(modifiers, 1));
            for i in 0..parts::<L>() {
                let mut a = first_signs.apply(first.get(i));
                let mut b = second_signs.apply(second.get(i));
                if flushes {
                    (a, b) = (L::flush_f32(a), L::flush_f32(b));
                }
                let lanes = u64::from(T::test::<L>(a, b)) & ((1u64 << L::N) - 1);
                bits |= lanes << (i * L::N);
            }
        }
        put_mask::<L>(context, hot, bits, hot.imm[2] == MASK_TO_EXEC);
        hot.next
    }
}
