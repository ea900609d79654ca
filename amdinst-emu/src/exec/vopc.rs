//! Comparisons: VOPC in all its encodings.
//!
//! The sixteen float comparisons are the sixteen subsets of {less, equal, greater, unordered}, and the eight
//! integer ones those of the first three, so a comparison is a table of four bits.

use amdgpu_isa::{Compared, Comparison, Families, NumberKind, Op, Relation};

use super::float::{choose, double, single};
use super::{half, valu};
use crate::check::Outcome;
use crate::program::{Context, Step};
use crate::wave::{EXEC, Elem, Half, NO_SCALAR, Wave, test2};

/// Lanes for which the relation holds.
#[inline(always)]
fn holds<T: Elem + PartialOrd>(w: &Wave, relation: u8) -> u64 {
    let relation = u32::from(relation);
    let holds_if = |found: Relation| relation & u32::from(found.bits());
    let (less, equal) = (holds_if(Relation::LESS), holds_if(Relation::EQUAL));
    let (greater, unordered) = (holds_if(Relation::GREATER), holds_if(Relation::UNORDERED));
    test2!(w, |a: T, b: T| {
        let not_less = choose(a > b, greater, choose(a == b, equal, unordered));
        choose(a < b, less, not_less) != 0
    })
}

/// A half as a single, which compares alike.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
struct Single(f32);

impl Elem for Single {
    const WIDE: bool = false;
    #[inline(always)]
    fn of(low: u32, _: u32) -> Self {
        Self(half::value(Half(low as u16)))
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.0.to_bits().into()
    }
}

#[inline(always)]
fn class(w: &Wave, kind: NumberKind) -> u64 {
    match kind {
        NumberKind::F16 => test2!(w, |a: Half, b: u32| half_class(a) & b != 0),
        NumberKind::F64 => test2!(w, |a: f64, b: u32| double::class(a) & b != 0),
        _ => test2!(w, |a: f32, b: u32| single::class(a) & b != 0),
    }
}

/// A half's class: widening keeps it, but for subnormals and signalling NaNs.
#[inline(always)]
fn half_class(a: Half) -> u32 {
    let (if_negative, if_positive) = match (a.0 >> 10 & 31, a.0 & 0x3ff) {
        (31, 0) => (1 << 2, 1 << 9),
        (31, _) if a.0 & 0x200 == 0 => (1, 1),
        (31, _) => (2, 2),
        (0, 0) => (1 << 5, 1 << 6),
        (0, _) => (1 << 4, 1 << 7),
        _ => (1 << 3, 1 << 8),
    };
    if a.0 & 0x8000 != 0 { if_negative } else { if_positive }
}

/// What a step's number says besides the relation, which is its lowest four bits: the operands, from bit 4
/// on.
const TESTS_CLASS: i64 = 15;
const WRITES_EXEC: i64 = 1 << 8;

/// A comparison of lanes as the number that a step carries; `None` if the instruction is none.
pub(crate) fn code(op: Op) -> Option<i64> {
    let writes_exec = op.is_of(Families::COMPARE_EXEC);
    if !writes_exec && !op.is_of(Families::COMPARE) {
        return None;
    }
    let compared = match op.comparison() {
        Some(Comparison { relation, operands }) => i64::from(relation.bits()) | (operands as i64) << 4,
        None => TESTS_CLASS << 4,
    };
    Some(compared | if writes_exec { WRITES_EXEC } else { 0 })
}

/// The lanes' comparison results.
#[inline(always)]
fn compare(w: &Wave, step: &Step) -> u64 {
    let relation = step.imm as u8 & 15;
    macro_rules! by_operands {
        ($class:expr; $($number:ident = $operands:ident as $element:ty;)*) => {{
            $(const $number: i64 = Compared::$operands as i64;)*
            match step.imm >> 4 & 15 {
                $($number => holds::<$element>(w, relation),)*
                _ => $class,
            }
        }};
    }
    let kind = || step.extra.as_ref().map_or(NumberKind::F32, |extra| extra.numbers.sources[0]);
    by_operands! {
        class(w, kind());
        HALF = F16 as Single;
        SINGLE = F32 as f32;
        DOUBLE = F64 as f64;
        I16 = I16 as i16;
        U16 = U16 as u16;
        I32 = I32 as i32;
        U32 = U32 as u32;
        I64 = I64 as i64;
        U64 = U64 as u64;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn compare_avx2(w: &Wave, step: &Step) -> u64 {
    compare(w, step)
}

/// `v_cmp_*` and `v_cmpx_*`: inactive lanes give zero; `x` writes EXEC too.
pub(super) fn vopc(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let exec = w.exec;
    if valu::is_slow(w, step) {
        valu::prepare(w, step)?;
        w.clamp = false;
    } else {
        valu::resolve(w, step);
    }
    #[cfg(target_arch = "x86_64")]
    let bits = if w.avx2 {
        // SAFETY: `Wave::new` sets it only where the host has these features.
        unsafe { compare_avx2(w, step) }
    } else {
        compare(w, step)
    };
    #[cfg(not(target_arch = "x86_64"))]
    let bits = compare(w, step);
    // DPP may have taken lanes out.
    let bits = bits & w.exec;
    w.exec = exec;
    // GFX10 and later write EXEC alone.
    if step.sdst != NO_SCALAR {
        w.set_mask(step.sdst, bits);
    }
    if step.imm & WRITES_EXEC != 0 {
        w.set_mask(EXEC, bits);
    }
    Ok(())
}
