//! VOP3P: two halves, or two dwords, each with sources of its own; mixed precision; pairs of products.

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::float::{finish, flush, fma, is_nan, limited, mask, sign};
use super::{Answer, Args, Kind, Mode, operation};

/// Selections and signs of an instruction: bit n is source n.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Selection {
    pub(crate) op_sel: u8,
    pub(crate) op_sel_hi: u8,
    pub(crate) neg: u8,
    pub(crate) neg_hi: u8,
}

/// The operation of one half (or dword) of a packed one, and its width.
fn element(name: &str) -> Option<(&'static str, Kind)> {
    Some(match name {
        "v_pk_mad_i16" => ("v_mad_i16", Kind::I16),
        "v_pk_mad_u16" => ("v_mad_u16", Kind::I16),
        "v_pk_mul_lo_u16" => ("v_mul_lo_u16", Kind::I16),
        "v_pk_add_i16" => ("v_add_i16", Kind::I16),
        "v_pk_sub_i16" => ("v_sub_i16", Kind::I16),
        "v_pk_add_u16" => ("v_add_u16", Kind::I16),
        "v_pk_sub_u16" => ("v_sub_u16", Kind::I16),
        "v_pk_lshlrev_b16" => ("v_lshlrev_b16", Kind::I16),
        "v_pk_lshrrev_b16" => ("v_lshrrev_b16", Kind::I16),
        "v_pk_ashrrev_i16" => ("v_ashrrev_i16", Kind::I16),
        "v_pk_max_i16" => ("v_max_i16", Kind::I16),
        "v_pk_min_i16" => ("v_min_i16", Kind::I16),
        "v_pk_max_u16" => ("v_max_u16", Kind::I16),
        "v_pk_min_u16" => ("v_min_u16", Kind::I16),
        "v_pk_fma_f16" => ("v_fma_f16", Kind::F16),
        "v_pk_fmac_f16" => ("v_fma_f16", Kind::F16),
        "v_pk_add_f16" => ("v_add_f16", Kind::F16),
        "v_pk_mul_f16" => ("v_mul_f16", Kind::F16),
        "v_pk_min_f16" => ("v_min_f16", Kind::F16),
        "v_pk_max_f16" => ("v_max_f16", Kind::F16),
        "v_pk_minimum_f16" => ("v_minimum_f16", Kind::F16),
        "v_pk_maximum_f16" => ("v_maximum_f16", Kind::F16),
        "v_pk_minimum3_f16" => ("v_minimum3_f16", Kind::F16),
        "v_pk_maximum3_f16" => ("v_maximum3_f16", Kind::F16),
        "v_pk_fma_f32" => ("v_fma_f32", Kind::F32),
        "v_pk_mul_f32" => ("v_mul_f32", Kind::F32),
        "v_pk_add_f32" => ("v_add_f32", Kind::F32),
        _ => return None,
    })
}

/// Whether there is a model of an operation here.
pub(crate) fn is_known(name: &str) -> bool {
    element(name).is_some()
        || is_mix(name)
        || matches!(name, "v_pk_mov_b32" | "v_dot4_i32_iu8" | "v_dot8_i32_iu4")
}

fn is_mix(name: &str) -> bool {
    name.starts_with("v_fma_mix") || name.starts_with("v_mad_mix")
}

/// The result of a VOP3P instruction in one lane.
pub(crate) fn run(name: &str, a: &Args, selection: &Selection) -> Option<Answer> {
    if let Some((operation_name, kind)) = element(name) {
        return Some(packed(operation_name, kind, a, selection));
    }
    if is_mix(name) {
        return Some(mix(name, a, selection));
    }
    Some(match name {
        "v_pk_mov_b32" => {
            let dword =
                |source: usize| a.s[source] >> (32 * u32::from(selection.op_sel >> source & 1)) & 0xffff_ffff;
            (dword(0) | dword(1) << 32).into()
        }
        "v_dot4_i32_iu8" => mixed_dot(a, selection, 8),
        "v_dot8_i32_iu4" => mixed_dot(a, selection, 4),
        // The halves of each product are chosen, as LLVM does for constants of which one half is zero.
        "v_dot2_i32_i16" | "v_dot2_u32_u16" => {
            let chosen = |number: usize| {
                let half = |select: u8| a.s[number] >> (16 * u32::from(select >> number & 1)) & 0xffff;
                half(selection.op_sel) | half(selection.op_sel_hi) << 16
            };
            (operation(name)?.run)(&Args { s: [chosen(0), chosen(1), a.s[2]], ..*a })
        }
        // Whole registers: the operation of one lane, without selections.
        _ => (operation(name)?.run)(a),
    })
}

/// A dot product of which NEG says whose elements are signed (RDNA3 ISA, V_DOT4_I32_IU8).
fn mixed_dot(a: &Args, selection: &Selection, width: u32) -> Answer {
    let element = |source: usize, at: u32| {
        let bits = (a.s[source] >> (width * at) & ((1 << width) - 1)) as i128;
        let is_negative = selection.neg >> source & 1 != 0 && bits >> (width - 1) & 1 != 0;
        if is_negative { bits - (1 << width) } else { bits }
    };
    let sum = (0..32 / width).fold(i128::from(a.i(2)), |sum, at| sum + element(0, at) * element(1, at));
    let limited = if a.mode.clamp { sum.clamp(i32::MIN.into(), i32::MAX.into()) } else { sum };
    (limited as u32).into()
}

fn packed(name: &str, kind: Kind, a: &Args, selection: &Selection) -> Answer {
    let Some(operation) = operation(name) else { return Answer::default() };
    let width = kind.bits();
    let part = |high: bool| {
        let (select, negate) =
            if high { (selection.op_sel_hi, selection.neg_hi) } else { (selection.op_sel, selection.neg) };
        let source = |number: usize| {
            let bits = a.s[number] >> (width * u32::from(select >> number & 1)) & ((1 << width) - 1);
            // The integer operations have no negation.
            if kind.is_float() && negate >> number & 1 != 0 { bits ^ 1 << (width - 1) } else { bits }
        };
        (operation.run)(&Args { s: [source(0), source(1), source(2)], ..*a }).value
    };
    (part(false) | part(true) << width).into()
}

/// A half as a single, by MODE's control of input subnormals.
fn widened(bits: u128, mode: Mode) -> u128 {
    let bits = flush::<Half>(mask::<Half>(bits), mode.keeps_inputs(Kind::F16));
    if is_nan::<Half>(bits) {
        let fraction = (bits & 0x3ff) << 13;
        return (bits & sign::<Half>()) << 16 | 0x7f80_0000 | fraction;
    }
    let single: Single = Half::from_bits(bits).convert(&mut false).value;
    single.to_bits()
}

/// `v_fma_mix*`: one rounding; `v_mad_mix*`: two, and no subnormals of the single format (LLVM:
/// `FeatureMadMixInsts` is used only where singles are flushed).
fn mix(name: &str, a: &Args, selection: &Selection) -> Answer {
    let mut s = [0; 3];
    for (number, source) in s.iter_mut().enumerate() {
        let bit = |bits: u8| bits >> number & 1 != 0;
        let is_half = bit(selection.op_sel_hi);
        let raw = if is_half && bit(selection.op_sel) { a.s[number] >> 16 } else { a.s[number] };
        let width = if is_half { 16 } else { 32 };
        let mut raw = raw & ((1 << width) - 1);
        if bit(selection.neg_hi) {
            raw &= !(1 << (width - 1));
        }
        if bit(selection.neg) {
            raw ^= 1 << (width - 1);
        }
        *source = if is_half { widened(raw, a.mode) } else { raw };
    }
    let plain = Mode { clamp: false, omod: 0, ..a.mode };
    let args = Args { s, mode: plain, ..*a };
    let single = if name.starts_with("v_fma") {
        fma::<Single>(&args).value
    } else {
        let mad = operation("v_mad_f32").map(|mad| (mad.run)(&args).value);
        mad.unwrap_or_default()
    };
    if name.ends_with("_f32") {
        return finish::<Single>(single, a.mode).into();
    }
    let half = if is_nan::<Single>(single) {
        (single & sign::<Single>()) >> 16 | 0x7e00 | single >> 13 & 0x3ff
    } else {
        let value: Half = Single::from_bits(single).convert_r(a.mode.round(Kind::F16), &mut false).value;
        // Of finite sources, whether the single or the half overflows.
        let finite = s.iter().all(|bits| Single::from_bits(*bits).is_finite());
        if finite { limited::<Half>(value.to_bits(), a.mode) } else { value.to_bits() }
    };
    let half = finish::<Half>(half, a.mode);
    if name.contains("mixlo") {
        (a.old & 0xffff_0000 | half).into()
    } else {
        (a.old & 0xffff | half << 16).into()
    }
}
