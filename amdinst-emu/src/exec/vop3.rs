//! Instructions that only VOP3 encodes.

use super::float::{self, choose, double, single};
use super::vop2::{legacy_fma, mad_f32};
use super::{half, rounding};
use crate::wave::{
    CHUNK, LANES, Nans, VCC, Wave, accumulate, map2, map2_bit, map3, map3_bits, masks, read, write,
};

#[inline(always)]
fn i24(a: u32) -> i64 {
    i64::from((a << 8) as i32 >> 8)
}

#[inline(always)]
fn u24(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

#[inline(always)]
fn med<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.max(b).min(a.min(b).max(c))
}

/// The middle one of three; the smallest if one of them is a NaN.
#[inline(always)]
fn med3_f32(a: f32, b: f32, c: f32, nans: Nans) -> f32 {
    let smallest = single::min(single::min(a, b, nans), c, nans);
    let largest = single::max(single::max(a, b, nans), c, nans);
    let middle = choose(largest == b, single::max(a, c, nans), single::max(a, b, nans));
    let middle = choose(largest == a, single::max(b, c, nans), middle);
    choose(a.is_nan() | b.is_nan() | c.is_nan(), smallest, middle)
}

#[inline(always)]
fn bfe_u32(a: u32, offset: u32, width: u32) -> u32 {
    let width = width & 31;
    a >> (offset & 31) & ((1 << width) - 1)
}

#[inline(always)]
fn bfe_i32(a: i32, offset: u32, width: u32) -> i32 {
    let (offset, width) = (offset & 31, width & 31);
    if width == 0 {
        0
    } else if offset + width >= 32 {
        a >> offset
    } else {
        a << (32 - offset - width) >> (32 - width)
    }
}

/// `v_perm_b32`: four bytes picked from eight by selectors; b is the low dword.
#[inline(always)]
fn perm(a: u32, b: u32, selectors: u32) -> u32 {
    let mut value = 0;
    for at in [0, 8, 16, 24] {
        let selector = selectors >> at & 0xff;
        let dword = if selector & 4 != 0 { a } else { b };
        let byte = dword >> (8 * (selector & 3)) & 0xff;
        // The sign of bytes 1, 3, 5, 7.
        let signed = if selector & 2 != 0 { a } else { b };
        let sign = ((signed << (16 * (!selector & 1))) as i32 >> 31) as u32 & 0xff;
        let constant = if selector == 12 { 0 } else { 0xff };
        let picked = if selector < 8 {
            byte
        } else if selector < 12 {
            sign
        } else {
            constant
        };
        value |= picked << at;
    }
    value
}

#[inline(always)]
fn sad_u8(a: u32, b: u32) -> u32 {
    let mut sum = 0;
    for at in [0, 8, 16, 24] {
        sum += (a >> at & 0xff).abs_diff(b >> at & 0xff);
    }
    sum
}

/// Sum of absolute differences of four bytes, without the bytes where the reference (b) is zero.
#[inline(always)]
fn msad_u8(a: u32, b: u32) -> u32 {
    let mut sum = 0;
    for at in [0, 8, 16, 24] {
        let reference = b >> at & 0xff;
        sum += if reference == 0 { 0 } else { (a >> at & 0xff).abs_diff(reference) };
    }
    sum
}

/// A sum, saturated if the instruction clamps.
#[inline(always)]
fn plus(clamp: bool, a: u32, b: u32) -> u32 {
    if clamp { a.saturating_add(b) } else { a.wrapping_add(b) }
}

#[inline(always)]
fn lerp_u8(a: u32, b: u32, c: u32) -> u32 {
    let mut value = 0;
    for at in [0, 8, 16, 24] {
        let sum = (a >> at & 0xff) + (b >> at & 0xff) + (c >> at & 1);
        value |= sum >> 1 << at;
    }
    value
}

/// Four 16-bit sums of differences between four overlapping windows of `a` and `b`.
macro_rules! qsad {
    ($a:ident, $b:ident, $c:ident, $clamp:ident, $sad:ident) => {{
        let mut sums = 0;
        for window in 0..4 {
            let sum = $sad(($a >> (8 * window)) as u32, $b) + (($c >> (16 * window)) as u32 & 0xffff);
            let sum = if $clamp { sum.min(0xffff) } else { sum & 0xffff };
            sums |= u64::from(sum) << (16 * window);
        }
        sums
    }};
}

/// `v_mqsad_u32_u8`: four 32-bit sums, to four rows.
fn mqsad_u32(w: &mut Wave) {
    let [a, b, c, _] = w.src;
    let clamp = w.clamp;
    for lane in 0..LANES {
        // All is read before the first sum is written: the result may lie over the sources.
        let (windows, reference) = (w.lane::<u64>(a, lane), w.lane::<u32>(b, lane));
        let addends = [0, 1, 2, 3].map(|dword| w.lane::<u32>(c + dword, lane));
        if !w.active(lane) {
            continue;
        }
        for (window, addend) in (0..4u16).zip(addends) {
            let sum = msad_u8((windows >> (8 * window)) as u32, reference);
            w.set_lane(w.dst + window, lane, plus(clamp, sum, addend));
        }
    }
}

/// Bits of 2/π after the point, the first in the top bit; the last word is cut to the manual's 1201 bits.
const TWO_OVER_PI: [u64; 19] = [
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
    0x5603_3046_fc7b_0000,
];

/// `v_trig_preop_f64`: 53 bits of 2/π, from the place that the segment and the angle's exponent say.
fn trig_preop(angle: f64, segment: u32) -> f64 {
    let exponent = (angle.to_bits() >> 52 & 0x7ff) as u32;
    let shift = (segment & 31) * 53 + exponent.saturating_sub(1077);
    let word = |index: u32| u128::from(TWO_OVER_PI.get(index as usize).copied().unwrap_or(0));
    let window = word(shift / 64) << 64 | word(shift / 64 + 1);
    let bits = (window << (shift % 64) >> 75) as u64;
    let power = -53 - shift as i32 + if exponent >= 1968 { 128 } else { 0 };
    // 53 bits are exact, and rounding is towards zero.
    double::ldexp(bits as f64, power, 3)
}

/// `v_cvt_pk_u8_f32`: a byte of a dword replaced.
#[inline(always)]
fn insert_byte(a: f32, b: u32, c: u32) -> u32 {
    let shift = 8 * (b & 3);
    c & !(0xff << shift) | (float::to_i32(a.round_ties_even()).clamp(0, 0xff) as u32) << shift
}

/// Two singles packed as normalised 16-bit integers.
#[inline(always)]
fn pack_norm(a: f32, b: f32, low: f32, most: f64) -> u32 {
    let one = |a: f32| super::vop1::normalized(a, low, most) as u32 & 0xffff;
    one(a) | one(b) << 16
}

/// Face of a cube map a direction points at: 0-5 for +x, -x, +y, -y, +z, -z.
#[inline(always)]
fn cube_face(x: f32, y: f32, z: f32) -> u32 {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z < 0.0 { 5 } else { 4 }
    } else if y.abs() >= x.abs() {
        if y < 0.0 { 3 } else { 2 }
    } else if x < 0.0 {
        1
    } else {
        0
    }
}

/// Carries out of 64-bit multiply-adds.
#[inline(always)]
fn carry_out(w: &mut Wave, register: u8, bits: u64) {
    let bits = bits & w.exec;
    w.set_mask(register, bits);
}

#[inline(always)]
pub(super) fn fma_f32(w: &mut Wave) {
    match w.round32() {
        0 => map3!(w, single::fma),
        r => map3!(w, |a, b, c| single::fma_round(a, b, c, r)),
    }
}

/// DX9's rule: zero (or a subnormal, which is none here) times anything is zero.
#[inline(always)]
pub(super) fn mad_legacy(a: f32, b: f32, c: f32, round: u32) -> f32 {
    let zero = single::flush(a) == 0.0 || single::flush(b) == 0.0;
    if zero { mad_f32(0.0, 0.0, c, round) } else { mad_f32(a, b, c, round) }
}

/// `v_mullit_f32`: a product for lighting.
#[inline(always)]
fn multiply_lit(a: f32, b: f32, c: f32, round: u32) -> f32 {
    if b == -f32::MAX || b == f32::NEG_INFINITY || b.is_nan() || c <= 0.0 || c.is_nan() {
        -f32::MAX
    } else if a == 0.0 || b == 0.0 {
        0.0
    } else if round == 0 {
        single::mul(a, b)
    } else {
        single::mul_round(a, b, round)
    }
}

/// Saturate if the instruction clamps.
#[inline(always)]
fn clamp_u32(clamp: bool, value: u64) -> u32 {
    if clamp { value.min(u64::from(u32::MAX)) as u32 } else { value as u32 }
}

#[inline(always)]
fn clamp_i32(clamp: bool, value: i64) -> i32 {
    if clamp { value.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 } else { value as i32 }
}

/// `v_div_fmas_*`: where no lane's result is scaled, which is common, a multiply-add.
macro_rules! div_fmas {
    ($w:ident, $round:ident, $format:ident) => {
        match ($w.mask(VCC) & $w.exec, $w.$round()) {
            (0, 0) => map3!($w, $format::fma),
            (scaled, r) => {
                map3_bits!($w, scaled, |a, b, c, bit| ($format::div_fmas(a, b, c, bit, r), false));
            }
        }
    };
}

/// `v_mbcnt_*`: bits of a mask below the lane, plus a number. The mask's first bit is for lane `first`.
#[inline(always)]
fn count_below(w: &mut Wave, first: usize) {
    let ([mask, add, ..], dst) = (w.src, w.dst);
    for base in (0..w.lanes()).step_by(CHUNK) {
        let (mask, add) = (read::<u32>(&w.rows, mask, base), read::<u32>(&w.rows, add, base));
        let mut result = [0; CHUNK];
        for lane in 0..CHUNK {
            let below = (base + lane).saturating_sub(first).min(32);
            let bits = ((1u64 << below) - 1) as u32;
            result[lane] = (mask[lane] & bits).count_ones().wrapping_add(add[lane]);
        }
        let masks = masks(&w.rows, base);
        write(&mut w.rows, dst, base, &result, &masks);
    }
}

super::table! { w, step;
    v_mbcnt_lo_u32_b32 => count_below(w, 0),
    v_mbcnt_hi_u32_b32 => count_below(w, 32),
    v_mad_f32 => rounding!(r = w.round32(); map3!(w, |a, b, c| mad_f32(a, b, c, r))),
    v_mad_legacy_f32 => rounding!(r = w.round32(); map3!(w, |a, b, c| mad_legacy(a, b, c, r))),
    v_fma_legacy_f32 => rounding!(r = w.round32(); map3!(w, |a, b, c| legacy_fma(a, b, c, r))),
    v_mullit_f32 => rounding!(r = w.round32(); map3!(w, |a, b, c| multiply_lit(a, b, c, r))),
    v_mad_i32_i24 => { let k = w.clamp; map3!(w, |a: u32, b: u32, c: i32| clamp_i32(k, i24(a) * i24(b) + i64::from(c))); },
    v_mad_u32_u24 => { let k = w.clamp; map3!(w, |a: u32, b: u32, c: u32| clamp_u32(k, u24(a) * u24(b) + u64::from(c))); },
    v_cubeid_f32 => map3!(w, |x: f32, y: f32, z: f32| cube_face(x, y, z) as f32),
    v_cubesc_f32 => map3!(w, |x: f32, y: f32, z: f32| {
        let face = cube_face(x, y, z);
        let value = if face < 2 { z } else { x };
        if face == 0 || face == 5 { -value } else { value }
    }),
    v_cubetc_f32 => map3!(w, |x: f32, y: f32, z: f32| {
        let face = cube_face(x, y, z);
        let value = if face == 2 || face == 3 { z } else { y };
        if face == 2 { value } else { -value }
    }),
    v_cubema_f32 => {
        rounding!(r = w.round32(); map3!(w, |x: f32, y: f32, z: f32| {
            let face = cube_face(x, y, z);
            single::times_power(if face < 2 { x } else if face < 4 { y } else { z }, 1, r)
        }));
    },
    v_bfe_u32 => map3!(w, bfe_u32),
    v_bfe_i32 => map3!(w, bfe_i32),
    v_bfi_b32 => map3!(w, |a: u32, b: u32, c: u32| a & b | !a & c),
    v_fma_f32 => fma_f32(w),
    v_fma_f64 => match w.round64() {
        0 => map3!(w, double::fma),
        r => map3!(w, |a, b, c| double::fma_round(a, b, c, r)),
    },
    v_lerp_u8 => map3!(w, lerp_u8),
    v_alignbit_b32 => map3!(w, |a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32),
    v_alignbyte_b32 => map3!(w, |a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32),
    v_min3_f32 => { let n = w.nans(); map3!(w, |a, b, c| single::min(single::min(a, b, n), c, n)); },
    v_minimum_f32 => map2!(w, single::minimum),
    v_maximum_f32 => map2!(w, single::maximum),
    v_minimum_f64 => map2!(w, double::minimum),
    v_maximum_f64 => map2!(w, double::maximum),
    v_minimum_f16 => map2!(w, half::minimum),
    v_maximum_f16 => map2!(w, half::maximum),
    v_minimum3_f32 => map3!(w, |a, b, c| single::minimum(single::minimum(a, b), c)),
    v_maximum3_f32 => map3!(w, |a, b, c| single::maximum(single::maximum(a, b), c)),
    v_minimum3_f16 => map3!(w, |a, b, c| half::minimum(half::minimum(a, b), c)),
    v_maximum3_f16 => map3!(w, |a, b, c| half::maximum(half::maximum(a, b), c)),
    v_minimummaximum_f32 => map3!(w, |a, b, c| single::maximum(single::minimum(a, b), c)),
    v_maximumminimum_f32 => map3!(w, |a, b, c| single::minimum(single::maximum(a, b), c)),
    v_minimummaximum_f16 => map3!(w, |a, b, c| half::maximum(half::minimum(a, b), c)),
    v_maximumminimum_f16 => map3!(w, |a, b, c| half::minimum(half::maximum(a, b), c)),
    v_min3_i32 => map3!(w, |a: i32, b: i32, c: i32| a.min(b).min(c)),
    v_min3_u32 => map3!(w, |a: u32, b: u32, c: u32| a.min(b).min(c)),
    v_max3_f32 => { let n = w.nans(); map3!(w, |a, b, c| single::max(single::max(a, b, n), c, n)); },
    v_max3_i32 => map3!(w, |a: i32, b: i32, c: i32| a.max(b).max(c)),
    v_max3_u32 => map3!(w, |a: u32, b: u32, c: u32| a.max(b).max(c)),
    v_med3_f32 => { let n = w.nans(); map3!(w, |a, b, c| med3_f32(a, b, c, n)); },
    v_maxmin_f32 => { let n = w.nans(); map3!(w, |a, b, c| single::min(single::max(a, b, n), c, n)); },
    v_minmax_f32 => { let n = w.nans(); map3!(w, |a, b, c| single::max(single::min(a, b, n), c, n)); },
    v_maxmin_f16 => { let n = w.nans(); map3!(w, |a, b, c| half::min(half::max(a, b, n), c, n)); },
    v_minmax_f16 => { let n = w.nans(); map3!(w, |a, b, c| half::max(half::min(a, b, n), c, n)); },
    v_maxmin_i32 => map3!(w, |a: i32, b: i32, c: i32| a.max(b).min(c)),
    v_minmax_i32 => map3!(w, |a: i32, b: i32, c: i32| a.min(b).max(c)),
    v_maxmin_u32 => map3!(w, |a: u32, b: u32, c: u32| a.max(b).min(c)),
    v_minmax_u32 => map3!(w, |a: u32, b: u32, c: u32| a.min(b).max(c)),
    v_med3_i32 => map3!(w, med::<i32>),
    v_med3_u32 => map3!(w, med::<u32>),
    v_sad_u8 => { let k = w.clamp; map3!(w, |a: u32, b: u32, c: u32| plus(k, sad_u8(a, b), c)); },
    v_sad_hi_u8 => { let k = w.clamp; map3!(w, |a: u32, b: u32, c: u32| plus(k, sad_u8(a, b) << 16, c)); },
    v_sad_u16 => {
        let k = w.clamp;
        map3!(w, |a: u32, b: u32, c: u32| plus(k, (a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16), c));
    },
    v_sad_u32 => { let k = w.clamp; map3!(w, |a: u32, b: u32, c: u32| plus(k, a.abs_diff(b), c)); },
    v_msad_u8 => { let k = w.clamp; map3!(w, |a: u32, b: u32, c: u32| plus(k, msad_u8(a, b), c)); },
    v_qsad_pk_u16_u8 => { let k = w.clamp; map3!(w, |a: u64, b: u32, c: u64| qsad!(a, b, c, k, sad_u8)); },
    v_mqsad_pk_u16_u8 => { let k = w.clamp; map3!(w, |a: u64, b: u32, c: u64| qsad!(a, b, c, k, msad_u8)); },
    v_mqsad_u32_u8 => mqsad_u32(w),
    v_cvt_pk_u8_f32 => map3!(w, insert_byte),
    v_cvt_pkaccum_u8_f32 => accumulate!(w, insert_byte),

    v_div_fixup_f32 => map3!(w, single::div_fixup),
    v_div_fixup_f64 => map3!(w, double::div_fixup),
    v_div_fixup_f16 | v_div_fixup_legacy_f16 => map3!(w, half::div_fixup),
    v_div_scale_f32 => {
        let rules = w.rules.div_scale;
        let bits = rounding!(r = w.round32(); map3_bits!(w, 0, |a, b, c, _| single::div_scale(a, b, c, r, &rules)));
        carry_out(w, step.sdst, bits);
    },
    v_div_scale_f64 => {
        let rules = w.rules.div_scale;
        let bits = rounding!(r = w.round64(); map3_bits!(w, 0, |a, b, c, _| double::div_scale(a, b, c, r, &rules)));
        carry_out(w, step.sdst, bits);
    },
    v_div_fmas_f32 => div_fmas!(w, round32, single),
    v_div_fmas_f64 => div_fmas!(w, round64, double),

    v_mad_u64_u32 => {
        let k = w.clamp;
        let bits = map3_bits!(w, 0, |a: u32, b: u32, c: u64, _| {
            let (sum, carry) = (u64::from(a) * u64::from(b)).overflowing_add(c);
            (if k && carry { u64::MAX } else { sum }, carry)
        });
        carry_out(w, step.sdst, bits);
    },
    v_mad_i64_i32 => {
        let k = w.clamp;
        // The bit is the 65th of the sum.
        let bits = map3_bits!(w, 0, |a: i32, b: i32, c: i64, _| {
            let exact = i128::from(a) * i128::from(b) + i128::from(c);
            let limited = if k { exact.clamp(i64::MIN.into(), i64::MAX.into()) } else { exact };
            (limited as i64, exact >> 64 & 1 != 0)
        });
        carry_out(w, step.sdst, bits);
    },
    v_xad_u32 => map3!(w, |a: u32, b: u32, c: u32| (a ^ b).wrapping_add(c)),
    v_lshl_add_u32 => map3!(w, |a: u32, b: u32, c: u32| (a << (b & 31)).wrapping_add(c)),
    // "The design treats unsupported shift counts as a shift of zero" (CDNA3 ISA manual): those above 4.
    v_lshl_add_u64 => map3!(w, |a: u64, b: u32, c: u64| {
        let count = b & 7;
        (a << if count > 4 { 0 } else { count }).wrapping_add(c)
    }),
    v_add_lshl_u32 => map3!(w, |a: u32, b: u32, c: u32| a.wrapping_add(b) << (c & 31)),
    v_add3_u32 => map3!(w, |a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c)),
    v_lshl_or_b32 => map3!(w, |a: u32, b: u32, c: u32| a << (b & 31) | c),
    v_and_or_b32 => map3!(w, |a: u32, b: u32, c: u32| a & b | c),
    v_xor3_b32 => map3!(w, |a: u32, b: u32, c: u32| a ^ b ^ c),
    v_or3_b32 => map3!(w, |a: u32, b: u32, c: u32| a | b | c),
    v_perm_b32 => map3!(w, perm),

    v_mad_f16 | v_mad_legacy_f16 => rounding!(r = w.round16(); map3!(w, |a, b, c| half::mad(a, b, c, r))),
    v_fma_f16 | v_fma_legacy_f16 => rounding!(r = w.round16(); map3!(w, |a, b, c| half::fma(a, b, c, r))),
    v_mad_u16 | v_mad_legacy_u16 => {
        let k = w.clamp;
        map3!(w, |a: u16, b: u16, c: u16| {
            let exact = u32::from(a) * u32::from(b) + u32::from(c);
            if k { exact.min(0xffff) as u16 } else { exact as u16 }
        });
    },
    v_mad_i16 | v_mad_legacy_i16 => {
        let k = w.clamp;
        map3!(w, |a: i16, b: i16, c: i16| {
            let exact = i64::from(a) * i64::from(b) + i64::from(c);
            if k { exact.clamp(-0x8000, 0x7fff) as i16 } else { exact as i16 }
        });
    },
    v_mad_u32_u16 => { let k = w.clamp; map3!(w, |a: u16, b: u16, c: u32| clamp_u32(k, u64::from(a) * u64::from(b) + u64::from(c))); },
    v_mad_i32_i16 => { let k = w.clamp; map3!(w, |a: i16, b: i16, c: i32| clamp_i32(k, i64::from(a) * i64::from(b) + i64::from(c))); },
    v_min3_f16 => { let n = w.nans(); map3!(w, |a, b, c| half::min(half::min(a, b, n), c, n)); },
    v_max3_f16 => { let n = w.nans(); map3!(w, |a, b, c| half::max(half::max(a, b, n), c, n)); },
    v_med3_f16 => { let n = w.nans(); map3!(w, |a, b, c| half::med3(a, b, c, n)); },
    v_min3_i16 => map3!(w, |a: i16, b: i16, c: i16| a.min(b).min(c)),
    v_max3_i16 => map3!(w, |a: i16, b: i16, c: i16| a.max(b).max(c)),
    v_med3_i16 => map3!(w, med::<i16>),
    v_min3_u16 => map3!(w, |a: u16, b: u16, c: u16| a.min(b).min(c)),
    v_max3_u16 => map3!(w, |a: u16, b: u16, c: u16| a.max(b).max(c)),
    v_med3_u16 => map3!(w, med::<u16>),

    v_add_f64 => match w.round64() {
        0 => map2!(w, double::add),
        r => map2!(w, |a, b| double::add_round(a, b, r)),
    },
    v_mul_f64 => match w.round64() {
        0 => map2!(w, double::mul),
        r => map2!(w, |a, b| double::mul_round(a, b, r)),
    },
    v_min_f64 => { let n = w.nans(); map2!(w, |a, b| double::min(a, b, n)); },
    v_max_f64 => { let n = w.nans(); map2!(w, |a, b| double::max(a, b, n)); },
    v_ldexp_f64 => rounding!(r = w.round64(); map2!(w, |a: f64, b: i32| double::ldexp(a, b, r))),
    v_ldexp_f32 => rounding!(r = w.round32(); map2!(w, |a: f32, b: i32| single::ldexp(a, b, r))),
    v_trig_preop_f64 => map2!(w, trig_preop),
    v_mul_lo_u32 | v_mul_lo_i32 => map2!(w, u32::wrapping_mul),
    v_mul_hi_u32 => map2!(w, |a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    v_mul_hi_i32 => map2!(w, |a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32),
    v_bcnt_u32_b32 => map2!(w, |a: u32, b: u32| a.count_ones().wrapping_add(b)),
    v_lshlrev_b64 => map2!(w, |a: u32, b: u64| b << (a & 63)),
    v_lshrrev_b64 => map2!(w, |a: u32, b: u64| b >> (a & 63)),
    v_ashrrev_i64 => map2!(w, |a: u32, b: i64| b >> (a & 63)),
    v_bfm_b32 => map2!(w, |a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31)),
    v_add_i32 => { let k = w.clamp; map2!(w, |a: i32, b: i32| if k { a.saturating_add(b) } else { a.wrapping_add(b) }); },
    v_sub_i32 => { let k = w.clamp; map2!(w, |a: i32, b: i32| if k { a.saturating_sub(b) } else { a.wrapping_sub(b) }); },
    v_add_i16 => { let k = w.clamp; map2!(w, |a: i16, b: i16| if k { a.saturating_add(b) } else { a.wrapping_add(b) }); },
    v_sub_i16 => { let k = w.clamp; map2!(w, |a: i16, b: i16| if k { a.saturating_sub(b) } else { a.wrapping_sub(b) }); },
    v_pack_b32_f16 => map2!(w, |a: u16, b: u16| u32::from(a) | u32::from(b) << 16),
    v_cvt_pknorm_i16_f32 => map2!(w, |a, b| pack_norm(a, b, -1.0, 32767.0)),
    v_cvt_pknorm_u16_f32 => map2!(w, |a, b| pack_norm(a, b, 0.0, 65535.0)),
    v_cvt_pknorm_i16_f16 => map2!(w, |a, b| pack_norm(half::value(a), half::value(b), -1.0, 32767.0)),
    v_cvt_pknorm_u16_f16 => map2!(w, |a, b| pack_norm(half::value(a), half::value(b), 0.0, 65535.0)),
    v_cvt_pkrtz_f16_f32 => {
        let rules = super::vop3p::Rules::of(w, step);
        map2!(w, |a: f32, b: f32| {
            let one = |a: f32| u32::from(rules.half_out(half::from_f32(a, 3)));
            one(a) | one(b) << 16
        });
    },
    v_cvt_pk_i16_f32 => map2!(w, |a: f32, b: f32| {
        let low = float::to_i32(a).clamp(-0x8000, 0x7fff) as u32 & 0xffff;
        low | (float::to_i32(b).clamp(-0x8000, 0x7fff) as u32) << 16
    }),
    v_cvt_pk_u16_f32 => map2!(w, |a: f32, b: f32| {
        float::to_i32(a).clamp(0, 0xffff) as u32 | (float::to_i32(b).clamp(0, 0xffff) as u32) << 16
    }),
    v_and_b16 => map2!(w, |a: u16, b: u16| a & b),
    v_or_b16 => map2!(w, |a: u16, b: u16| a | b),
    v_xor_b16 => map2!(w, |a: u16, b: u16| a ^ b),
    v_cndmask_b16 => {
        let mask = w.scalar_mask(step.src[2]);
        map2_bit!(w, mask, |a: u16, b: u16, bit| if bit { b } else { a });
    },
    v_cvt_pk_u16_u32 => map2!(w, |a: u32, b: u32| a.min(0xffff) | b.min(0xffff) << 16),
    v_cvt_pk_i16_i32 => map2!(w, |a: i32, b: i32| {
        let one = |a: i32| a.clamp(-0x8000, 0x7fff) as u32 & 0xffff;
        one(a) | one(b) << 16
    }),
}
