//! Comparisons and class tests.

use rustc_apfloat::ieee::{Double, Half, Single};
use std::cmp::Ordering;

use crate::model::float::{Format, exponent, infinity, is_nan, is_signalling, is_zero, mask, sign, sources};
use crate::model::{Args, Kind};

/// `v_cmp_lt_f32` and the like.
pub(super) fn is_comparison(name: &str) -> bool {
    name.starts_with("v_cmp_") || name.starts_with("v_cmpx_")
}

/// Relation and operands' kind.
fn parts(name: &str) -> (&str, &str) {
    let rest = name.trim_start_matches("v_cmpx_").trim_start_matches("v_cmp_");
    rest.split_once('_').unwrap_or((rest, ""))
}

/// Kinds of the two sources.
pub(super) fn kinds(name: &str) -> [Kind; 2] {
    let (relation, ty) = parts(name);
    let kind = match ty {
        "f16" => Kind::F16,
        "f32" => Kind::F32,
        "f64" => Kind::F64,
        "i16" | "u16" => Kind::I16,
        "i64" | "u64" => Kind::I64,
        _ => Kind::I32,
    };
    [kind, if relation == "class" { Kind::I32 } else { kind }]
}

/// The comparison's result in one lane.
pub(super) fn run(name: &str, a: &Args) -> bool {
    let (relation, ty) = parts(name);
    if relation == "class" {
        let class = match ty {
            "f16" => class::<Half>(a.s[0]),
            "f32" => class::<Single>(a.s[0]),
            _ => class::<Double>(a.s[0]),
        };
        return a.u(1) >> class & 1 != 0;
    }
    let order = match ty {
        "f16" => floats::<Half>(a),
        "f32" => floats::<Single>(a),
        "f64" => floats::<Double>(a),
        "i16" => Some((a.s[0] as i16).cmp(&(a.s[1] as i16))),
        "u16" => Some((a.s[0] as u16).cmp(&(a.s[1] as u16))),
        "i32" => Some(a.i(0).cmp(&a.i(1))),
        "u32" => Some(a.u(0).cmp(&a.u(1))),
        "i64" => Some((a.s[0] as i64).cmp(&(a.s[1] as i64))),
        _ => Some((a.s[0] as u64).cmp(&(a.s[1] as u64))),
    };
    let less = order == Some(Ordering::Less);
    let equal = order == Some(Ordering::Equal);
    let greater = order == Some(Ordering::Greater);
    match relation {
        "f" => false,
        "lt" => less,
        "eq" => equal,
        "le" => less || equal,
        "gt" => greater,
        "lg" | "ne" if ty.starts_with('f') => less || greater,
        "ne" | "lg" => !equal,
        "ge" => greater || equal,
        "o" => order.is_some(),
        "u" => order.is_none(),
        "nge" => !(greater || equal),
        "nlg" => !(less || greater),
        "ngt" => !greater,
        "nle" => !(less || equal),
        "neq" => !equal,
        "nlt" => !less,
        "t" | "tru" => true,
        other => panic!("{other}: no such relation"),
    }
}

fn floats<F: Format>(a: &Args) -> Option<Ordering> {
    let [x, y, _] = sources::<F>(a);
    F::from_bits(x).partial_cmp(&F::from_bits(y))
}

/// Bit of the class mask: signalling, quiet, -∞, -normal, -subnormal, -0, +0, +subnormal, +normal, +∞.
fn class<F: Format>(bits: u128) -> u32 {
    let bits = mask::<F>(bits);
    let pick = |negative: u32, positive: u32| if bits & sign::<F>() != 0 { negative } else { positive };
    if is_signalling::<F>(bits) {
        0
    } else if is_nan::<F>(bits) {
        1
    } else if bits & !sign::<F>() == infinity::<F>() {
        pick(2, 9)
    } else if is_zero::<F>(bits) {
        pick(5, 6)
    } else if exponent::<F>(bits) == 0 {
        pick(4, 7)
    } else {
        pick(3, 8)
    }
}
