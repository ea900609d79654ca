//! Comparisons: VOPC in all its encodings.
//!
//! The sixteen float comparisons are the sixteen subsets of {less, equal, greater, unordered}, and the eight integer
//! ones those of the first three, so a comparison is a table of four bits.

use super::float::{double, single};
use super::{Context, half, valu};
use crate::check::{Outcome, Trap};
use crate::program::{Kind, Step};
use crate::wave::{EXEC, Half, Wave};

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;

/// The four bits of a comparison's name.
fn relation(name: &str) -> Option<u8> {
    Some(match name {
        "f" => 0,
        "lt" => LESS,
        "eq" => EQUAL,
        "le" => LESS | EQUAL,
        "gt" => GREATER,
        "lg" | "ne" => LESS | GREATER,
        "ge" => GREATER | EQUAL,
        "o" | "t" => LESS | EQUAL | GREATER,
        "u" => UNORDERED,
        "nge" => UNORDERED | LESS,
        "nlg" => UNORDERED | EQUAL,
        "ngt" => UNORDERED | LESS | EQUAL,
        "nle" => UNORDERED | GREATER,
        "neq" => UNORDERED | LESS | GREATER,
        "nlt" => UNORDERED | EQUAL | GREATER,
        "tru" => 15,
        _ => return None,
    })
}

/// Lanes for which the relation holds.
#[inline(always)]
fn holds<T: crate::wave::Elem + PartialOrd>(w: &Wave, relation: u8) -> u64 {
    match relation {
        LESS => w.test2(|a: T, b: T| a < b),
        EQUAL => w.test2(|a: T, b: T| a == b),
        GREATER => w.test2(|a: T, b: T| a > b),
        relation => {
            let less = if relation & LESS != 0 { !0 } else { 0 };
            let equal = if relation & EQUAL != 0 { !0 } else { 0 };
            let greater = if relation & GREATER != 0 { !0 } else { 0 };
            let unordered = if relation & UNORDERED != 0 { !0 } else { 0 };
            let lt = w.test2(|a: T, b: T| a < b);
            let eq = w.test2(|a: T, b: T| a == b);
            let gt = w.test2(|a: T, b: T| a > b);
            lt & less | eq & equal | gt & greater | !(lt | eq | gt) & unordered
        }
    }
}

/// A half as a single, which compares alike.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
struct Single(f32);

impl crate::wave::Elem for Single {
    fn get(rows: &[crate::wave::Row; crate::wave::ROWS], row: usize, lane: usize) -> Self {
        Self(half::value(Half::get(rows, row, lane)))
    }
    fn set(self, _: &mut [crate::wave::Row; crate::wave::ROWS], _: usize, _: usize, _: u32) {}
}

fn class(w: &Wave, kind: Kind) -> u64 {
    match kind {
        Kind::F16 => w.test2(|a: Half, b: u32| half_class(a) & b != 0),
        Kind::F64 => w.test2(|a: f64, b: u32| double::class(a) & b != 0),
        _ => w.test2(|a: f32, b: u32| single::class(a) & b != 0),
    }
}

/// A half's class: widening keeps it, but for subnormals and signalling NaNs.
fn half_class(a: Half) -> u32 {
    let (exponent, fraction) = (a.0 >> 10 & 31, a.0 & 0x3ff);
    let negative = a.0 & 0x8000 != 0;
    match (exponent, fraction) {
        (31, 0) => {
            if negative {
                1 << 2
            } else {
                1 << 9
            }
        }
        (31, _) => {
            if fraction & 0x200 == 0 {
                1
            } else {
                2
            }
        }
        (0, 0) => {
            if negative {
                1 << 5
            } else {
                1 << 6
            }
        }
        (0, _) => {
            if negative {
                1 << 4
            } else {
                1 << 7
            }
        }
        _ => {
            if negative {
                1 << 3
            } else {
                1 << 8
            }
        }
    }
}

/// The lanes' comparison results.
#[inline(always)]
fn compare(w: &Wave, relation: u8, type_name: &str) -> Option<u64> {
    Some(match type_name {
        "f16" => holds::<Single>(w, relation),
        "f32" => holds::<f32>(w, relation),
        "f64" => holds::<f64>(w, relation),
        "i16" => holds::<i16>(w, relation),
        "u16" => holds::<u16>(w, relation),
        "i32" => holds::<i32>(w, relation),
        "u32" => holds::<u32>(w, relation),
        "i64" => holds::<i64>(w, relation),
        "u64" => holds::<u64>(w, relation),
        _ => return None,
    })
}

/// `v_cmp_*` and `v_cmpx_*`: inactive lanes give zero; `x` writes EXEC too.
pub(super) fn vopc(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let mut parts = step.op.name().split('_').skip(1);
    let unknown = || Trap::unimplemented(step.op, "");
    let (Some(verb), Some(what), Some(type_name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(unknown());
    };
    if valu::is_slow(w, step) {
        valu::prepare(w, step)?;
        w.clamp = false;
    } else {
        valu::resolve(w, step);
    }
    let bits = if what == "class" {
        class(w, step.extra.as_ref().map_or(Kind::F32, |extra| extra.src_kind[0]))
    } else {
        relation(what).and_then(|relation| compare(w, relation, type_name)).ok_or_else(unknown)?
    };
    let bits = bits & w.exec;
    w.set_s64(step.sdst, bits);
    if verb == "cmpx" {
        w.set_s64(EXEC, bits);
    }
    Ok(())
}
