//! Comparisons: VOPC in all its encodings.
//!
//! The sixteen float comparisons are the sixteen subsets of {less, equal, greater, unordered}, and the eight integer
//! ones those of the first three, so a comparison is a table of four bits.

use std::cmp::Ordering;

use amdgpu_isa::Op;

use super::float::{choose, double, single};
use super::{Context, half, valu};
use crate::check::Outcome;
use crate::program::{Kind, Step};
use crate::wave::{EXEC, Elem, Half, NO_SCALAR, Wave, test2};

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

/// Whether a relation holds for two numbers, by its name.
pub(super) fn holds_for(name: &str, [a, b]: [f32; 2]) -> Option<bool> {
    let found = match a.partial_cmp(&b) {
        Some(Ordering::Less) => LESS,
        Some(Ordering::Equal) => EQUAL,
        Some(Ordering::Greater) => GREATER,
        None => UNORDERED,
    };
    Some(relation(name)? & found != 0)
}

/// Lanes for which the relation holds.
#[inline(always)]
fn holds<T: Elem + PartialOrd>(w: &Wave, relation: u8) -> u64 {
    let relation = u32::from(relation);
    let holds_if = |found: u8| relation & u32::from(found);
    let (less, equal) = (holds_if(LESS), holds_if(EQUAL));
    let (greater, unordered) = (holds_if(GREATER), holds_if(UNORDERED));
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
fn class(w: &Wave, kind: Kind) -> u64 {
    match kind {
        Kind::F16 => test2!(w, |a: Half, b: u32| half_class(a) & b != 0),
        Kind::F64 => test2!(w, |a: f64, b: u32| double::class(a) & b != 0),
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

/// What a comparison's mnemonic says, made once when the code is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Comparison {
    relation: u8,
    operands: u8,
    writes_exec: bool,
}

/// Operand types, in the order of their numbers in a [`Comparison`]; the last stands for class tests.
const TYPES: [&str; 9] = ["f16", "f32", "f64", "i16", "u16", "i32", "u32", "i64", "u64"];
const CLASS: u8 = TYPES.len() as u8;

impl Comparison {
    fn of(op: Op) -> Option<Self> {
        let mut parts = op.name().split('_');
        let writes_exec = match (parts.next()?, parts.next()?) {
            ("v", "cmp") => false,
            ("v", "cmpx") => true,
            _ => return None,
        };
        let (what, type_name) = (parts.next()?, parts.next()?);
        if what == "class" {
            return Some(Self { relation: 0, operands: CLASS, writes_exec });
        }
        let operands = TYPES.iter().position(|name| *name == type_name)? as u8;
        Some(Self { relation: relation(what)?, operands, writes_exec })
    }
}

/// The comparison as the number that a step carries; `None` if the instruction is none.
pub(crate) fn code(op: Op) -> Option<i64> {
    let Comparison { relation, operands, writes_exec } = Comparison::of(op)?;
    Some(i64::from(relation) | i64::from(operands) << 4 | i64::from(writes_exec) << 8)
}

/// The lanes' comparison results.
#[inline(always)]
fn compare(w: &Wave, step: &Step) -> u64 {
    let relation = step.imm as u8 & 15;
    match step.imm >> 4 & 15 {
        0 => holds::<Single>(w, relation),
        1 => holds::<f32>(w, relation),
        2 => holds::<f64>(w, relation),
        3 => holds::<i16>(w, relation),
        4 => holds::<u16>(w, relation),
        5 => holds::<i32>(w, relation),
        6 => holds::<u32>(w, relation),
        7 => holds::<i64>(w, relation),
        8 => holds::<u64>(w, relation),
        _ => class(w, step.extra.as_ref().map_or(Kind::F32, |extra| extra.src_kind[0])),
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
    if step.imm >> 8 & 1 != 0 {
        w.set_mask(EXEC, bits);
    }
    Ok(())
}
