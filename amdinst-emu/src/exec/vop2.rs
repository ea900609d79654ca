//! Two sources: VOP2, in all its encodings. Operations with a carry write a mask besides the lanes' results.

use super::float::{double, single};
use super::{half, rounding, vop3p};
use crate::program::Step;
use crate::wave::{Half, Wave, accumulate, map2, map2_bit, map3, test2_bit};

/// The mask a carry or selection is read from: source 2.
#[inline(always)]
fn mask_in(w: &Wave, step: &Step) -> u64 {
    w.scalar_mask(step.src[2])
}

/// Write a mask: the active lanes' bits, zero for the others.
#[inline(always)]
fn mask_out(w: &mut Wave, step: &Step, bits: u64) {
    let bits = bits & w.exec;
    w.set_mask(step.sdst, bits);
}

#[inline(always)]
fn i24(a: u32) -> i32 {
    (a << 8) as i32 >> 8
}

#[inline(always)]
fn u24(a: u32) -> u32 {
    a & 0xff_ffff
}

#[inline(always)]
fn add_f32(w: &mut Wave) {
    match w.round32() {
        0 => map2!(w, single::add),
        r => map2!(w, |a, b| single::add_round(a, b, r)),
    }
}

#[inline(always)]
fn sub_f32(w: &mut Wave) {
    match w.round32() {
        0 => map2!(w, |a: f32, b: f32| single::add(a, if b.is_nan() { b } else { -b })),
        r => map2!(w, |a, b| single::sub_round(a, b, r)),
    }
}

/// Multiplication and addition with two roundings and without subnormals, as `v_mac_f32` and `v_mad_f32` have
/// it.
#[inline(always)]
pub(super) fn mad_f32(a: f32, b: f32, c: f32, round: u32) -> f32 {
    if round != 0 {
        return mad_f32_round(a, b, c, round);
    }
    let product = single::flush(single::mul(single::flush(a), single::flush(b)));
    single::flush(single::add(product, single::flush(c)))
}

#[inline(always)]
fn mad_f32_round(a: f32, b: f32, c: f32, round: u32) -> f32 {
    let product = single::flush(single::mul_round(single::flush(a), single::flush(b), round));
    single::flush(single::add_round(product, single::flush(c), round))
}

/// DX9's rule: zero times anything is zero.
#[inline(always)]
fn legacy_mul(a: f32, b: f32, round: u32) -> f32 {
    if a == 0.0 || b == 0.0 {
        0.0
    } else if round == 0 {
        single::mul(a, b)
    } else {
        single::mul_round(a, b, round)
    }
}

/// DX9's rule in a fused multiplication and addition.
#[inline(always)]
pub(super) fn legacy_fma(a: f32, b: f32, c: f32, round: u32) -> f32 {
    if a == 0.0 || b == 0.0 {
        single::fix1(c, c)
    } else if round == 0 {
        single::fma(a, b, c)
    } else {
        single::fma_round(a, b, c, round)
    }
}

/// A product, saturated if the instruction clamps.
#[inline(always)]
fn product_i32(clamp: bool, exact: i64) -> i32 {
    if clamp { exact.clamp(i32::MIN.into(), i32::MAX.into()) as i32 } else { exact as i32 }
}

#[inline(always)]
fn product_u32(clamp: bool, exact: u64) -> u32 {
    if clamp { exact.min(u32::MAX.into()) as u32 } else { exact as u32 }
}

/// Adds, or subtracts, with a carry in and carries out; the result is `$limit` where there is a carry and the
/// instruction clamps.
macro_rules! carry {
    ($w:ident, $step:ident, $bits:expr, $limit:expr, |$a:ident, $b:ident, $bit:tt| $body:expr) => {{
        let (bits, clamp) = ($bits, $w.clamp);
        // The test reads the sources before the result overwrites one of them.
        let carries = test2_bit!($w, bits, |$a: u32, $b: u32, $bit| $body.1);
        map2_bit!($w, bits, |$a: u32, $b: u32, $bit| {
            let (value, carry) = $body;
            if clamp && carry { $limit } else { value }
        });
        mask_out($w, $step, carries);
    }};
}

#[inline(always)]
fn add_carry(a: u32, b: u32, carry: bool) -> (u32, bool) {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    (sum as u32, sum >> 32 != 0)
}

#[inline(always)]
fn sub_borrow(a: u32, b: u32, borrow: bool) -> (u32, bool) {
    let difference = u64::from(a).wrapping_sub(u64::from(b)).wrapping_sub(u64::from(borrow));
    (difference as u32, difference >> 32 != 0)
}

/// Integer operation that clamps by saturation.
macro_rules! saturating {
    ($w:ident, $wraps:path, $clamps:path) => {
        if $w.clamp { map2!($w, $clamps) } else { map2!($w, $wraps) }
    };
}

super::table! { w, step;
    v_cndmask_b32 => {
        let mask = mask_in(w, step);
        map2_bit!(w, mask, |a: u32, b: u32, bit| if bit { b } else { a });
    },
    v_add_f32 => add_f32(w),
    v_sub_f32 => sub_f32(w),
    v_subrev_f32 => { w.src.swap(0, 1); sub_f32(w); },
    v_mul_legacy_f32 => rounding!(r = w.round32(); map2!(w, |a, b| legacy_mul(a, b, r))),
    v_mul_f32 => match w.round32() {
        0 => map2!(w, single::mul),
        r => map2!(w, |a, b| single::mul_round(a, b, r)),
    },
    v_min_f32 => { let n = w.nans(); map2!(w, |a, b| single::min(a, b, n)); },
    v_max_f32 => { let n = w.nans(); map2!(w, |a, b| single::max(a, b, n)); },
    v_fmac_f32 => match w.round32() {
        0 => { w.src[2] = w.src[3]; map3!(w, single::fma); },
        r => accumulate!(w, |a, b, c| single::fma_round(a, b, c, r)),
    },
    v_fmac_f64 => match w.round64() {
        0 => { w.src[2] = w.src[3]; map3!(w, double::fma); },
        r => accumulate!(w, |a, b, c| double::fma_round(a, b, c, r)),
    },
    v_fmac_legacy_f32 => rounding!(r = w.round32(); accumulate!(w, |a, b, c| legacy_fma(a, b, c, r))),
    v_fmac_f16 => rounding!(r = w.round16(); accumulate!(w, |a, b, c| half::fma(a, b, c, r))),
    v_fmamk_f16 | v_fmaak_f16 => rounding!(r = w.round16(); map3!(w, |a, b, c| half::fma(a, b, c, r))),
    v_mac_legacy_f32 => rounding!(r = w.round32(); accumulate!(w, |a, b, c| super::vop3::mad_legacy(a, b, c, r))),
    v_mac_f32 => rounding!(r = w.round32(); accumulate!(w, |a, b, c| mad_f32(a, b, c, r))),
    // The constant is the second source of `madmk` and `fmamk`, the third of the others, as in the text.
    v_madmk_f32 | v_madak_f32 => rounding!(r = w.round32(); map3!(w, |a, b, c| mad_f32(a, b, c, r))),
    v_fmamk_f32 | v_fmaak_f32 => super::vop3::fma_f32(w),
    v_mac_f16 => rounding!(r = w.round16(); accumulate!(w, |a, b, c| half::mad(a, b, c, r))),
    v_madmk_f16 | v_madak_f16 => rounding!(r = w.round16(); map3!(w, |a, b, c| half::mad(a, b, c, r))),

    v_mul_i32_i24 => { let k = w.clamp; map2!(w, |a: u32, b: u32| product_i32(k, i64::from(i24(a)) * i64::from(i24(b)))); },
    v_mul_hi_i32_i24 => map2!(w, |a: u32, b: u32| ((i64::from(i24(a)) * i64::from(i24(b))) >> 32) as i32),
    v_mul_u32_u24 => match w.clamp {
        false => map2!(w, |a: u32, b: u32| u24(a).wrapping_mul(u24(b))),
        true => map2!(w, |a: u32, b: u32| product_u32(true, u64::from(u24(a)) * u64::from(u24(b)))),
    },
    v_mul_hi_u32_u24 => map2!(w, |a: u32, b: u32| ((u64::from(u24(a)) * u64::from(u24(b))) >> 32) as u32),
    v_min_i32 => map2!(w, |a: i32, b: i32| a.min(b)),
    v_max_i32 => map2!(w, |a: i32, b: i32| a.max(b)),
    v_min_u32 => map2!(w, |a: u32, b: u32| a.min(b)),
    v_max_u32 => map2!(w, |a: u32, b: u32| a.max(b)),
    v_lshrrev_b32 => map2!(w, |a: u32, b: u32| b >> (a & 31)),
    v_ashrrev_i32 => map2!(w, |a: u32, b: i32| b >> (a & 31)),
    v_lshlrev_b32 => map2!(w, |a: u32, b: u32| b << (a & 31)),
    v_and_b32 => map2!(w, |a: u32, b: u32| a & b),
    v_or_b32 => map2!(w, |a: u32, b: u32| a | b),
    v_xor_b32 => map2!(w, |a: u32, b: u32| a ^ b),
    v_xnor_b32 => map2!(w, |a: u32, b: u32| !(a ^ b)),
    v_add_u32 => saturating!(w, u32::wrapping_add, u32::saturating_add),
    v_sub_u32 => saturating!(w, u32::wrapping_sub, u32::saturating_sub),
    v_subrev_u32 => { w.src.swap(0, 1); saturating!(w, u32::wrapping_sub, u32::saturating_sub); },
    v_add_co_u32 => carry!(w, step, 0, u32::MAX, |a, b, _| a.overflowing_add(b)),
    v_sub_co_u32 => carry!(w, step, 0, 0, |a, b, _| a.overflowing_sub(b)),
    v_subrev_co_u32 => carry!(w, step, 0, 0, |a, b, _| b.overflowing_sub(a)),
    v_addc_co_u32 => { let bits = mask_in(w, step); carry!(w, step, bits, u32::MAX, |a, b, bit| add_carry(a, b, bit)); },
    v_subb_co_u32 => { let bits = mask_in(w, step); carry!(w, step, bits, 0, |a, b, bit| sub_borrow(a, b, bit)); },
    v_subbrev_co_u32 => { let bits = mask_in(w, step); carry!(w, step, bits, 0, |a, b, bit| sub_borrow(b, a, bit)); },

    v_add_f16 => rounding!(r = w.round16(); map2!(w, |a, b| half::add(a, b, r))),
    v_sub_f16 => rounding!(r = w.round16(); map2!(w, |a, b| half::sub(a, b, r))),
    v_subrev_f16 => rounding!(r = w.round16(); map2!(w, |a, b| half::sub(b, a, r))),
    v_mul_f16 => rounding!(r = w.round16(); map2!(w, |a, b| half::mul(a, b, r))),
    v_min_f16 => { let n = w.nans(); map2!(w, |a, b| half::min(a, b, n)); },
    v_max_f16 => { let n = w.nans(); map2!(w, |a, b| half::max(a, b, n)); },
    v_ldexp_f16 => rounding!(r = w.round16(); map2!(w, |a: Half, b: i16| half::ldexp(a, i32::from(b), r))),
    v_add_u16 => saturating!(w, u16::wrapping_add, u16::saturating_add),
    v_sub_u16 => saturating!(w, u16::wrapping_sub, u16::saturating_sub),
    v_subrev_u16 => { w.src.swap(0, 1); saturating!(w, u16::wrapping_sub, u16::saturating_sub); },
    v_mul_lo_u16 => saturating!(w, u16::wrapping_mul, u16::saturating_mul),
    v_min_u16 => map2!(w, |a: u16, b: u16| a.min(b)),
    v_max_u16 => map2!(w, |a: u16, b: u16| a.max(b)),
    v_min_i16 => map2!(w, |a: i16, b: i16| a.min(b)),
    v_max_i16 => map2!(w, |a: i16, b: i16| a.max(b)),
    v_lshlrev_b16 => map2!(w, |a: u16, b: u16| b << (a & 15)),
    v_lshrrev_b16 => map2!(w, |a: u16, b: u16| b >> (a & 15)),
    v_ashrrev_i16 => map2!(w, |a: u16, b: i16| b >> (a & 15)),

    v_dot2c_i32_i16 => { let k = w.clamp; accumulate!(w, |a, b, c| vop3p::dot_i(a, b, c, 16, k)); },
    v_dot4c_i32_i8 => { let k = w.clamp; accumulate!(w, |a, b, c| vop3p::dot_i(a, b, c, 8, k)); },
    v_dot8c_i32_i4 => { let k = w.clamp; accumulate!(w, |a, b, c| vop3p::dot_i(a, b, c, 4, k)); },
    v_pk_fmac_f16 => {
        let rules = vop3p::Rules::of(w, step);
        accumulate!(w, |a: u32, b: u32, c: u32| {
            let low = rules.fused([Half(a as u16), Half(b as u16), Half(c as u16)]);
            let high = rules.fused([Half((a >> 16) as u16), Half((b >> 16) as u16), Half((c >> 16) as u16)]);
            u32::from(low) | u32::from(high) << 16
        });
    },
}
