//! Instructions that only VOP3 encodes.

use super::float::{self, double, single};
use super::half;
use crate::wave::{Half, VCC, Wave};

fn i24(a: u32) -> i64 {
    i64::from((a << 8) as i32 >> 8)
}

fn u24(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

fn med<T: Ord + Copy>(a: T, b: T, c: T) -> T {
    a.max(b).min(a.min(b).max(c))
}

/// The middle one of three; the smallest if one of them is a NaN.
#[inline(never)]
fn med3_f32(a: f32, b: f32, c: f32, ieee: bool) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return single::min(single::min(a, b, ieee), c, ieee);
    }
    let largest = single::max(single::max(a, b, ieee), c, ieee);
    if largest == a {
        single::max(b, c, ieee)
    } else if largest == b {
        single::max(a, c, ieee)
    } else {
        single::max(a, b, ieee)
    }
}

fn bfe_u32(a: u32, offset: u32, width: u32) -> u32 {
    let width = width & 31;
    a >> (offset & 31) & ((1 << width) - 1)
}

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
#[inline(never)]
fn perm(a: u32, b: u32, selectors: u32) -> u32 {
    let bytes = u64::from(a) << 32 | u64::from(b);
    let pick = |selector: u32| -> u32 {
        match selector {
            0..=7 => (bytes >> (8 * selector)) as u32 & 0xff,
            // The sign of bytes 1, 3, 5, 7.
            8..=11 => {
                let sign = bytes >> (16 * (selector - 8) + 15) & 1;
                if sign != 0 { 0xff } else { 0 }
            }
            12 => 0,
            _ => 0xff,
        }
    };
    (0..4).fold(0, |value, byte| value | pick(selectors >> (8 * byte) & 0xff) << (8 * byte))
}

#[inline(never)]
fn byte_sum(a: u32, b: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    (0..4).fold(0u32, |sum, byte| sum.wrapping_add(f(a >> (8 * byte) & 0xff, b >> (8 * byte) & 0xff)))
}

#[inline(never)]
fn sad_u8(a: u32, b: u32, c: u32) -> u32 {
    byte_sum(a, b, u32::abs_diff).wrapping_add(c)
}

/// As `sad_u8`, without the bytes where the reference (b) is zero.
#[inline(never)]
fn msad_u8(a: u32, b: u32, c: u32) -> u32 {
    byte_sum(a, b, |a, b| if b == 0 { 0 } else { a.abs_diff(b) }).wrapping_add(c)
}

#[inline(never)]
fn lerp_u8(a: u32, b: u32, c: u32) -> u32 {
    (0..4).fold(0, |value, byte| {
        let at = 8 * byte;
        let sum = (a >> at & 0xff) + (b >> at & 0xff) + (c >> at & 1);
        value | (sum >> 1) << at
    })
}

/// Four 16-bit sums of differences between four overlapping windows of `a` and `b`.
#[inline(never)]
fn qsad(a: u64, b: u32, c: u64, sad: fn(u32, u32, u32) -> u32) -> u64 {
    (0..4).fold(0, |value, window| {
        let sum = sad((a >> (8 * window)) as u32, b, (c >> (16 * window)) as u32 & 0xffff);
        value | u64::from(sum.min(0xffff)) << (16 * window)
    })
}

/// Two singles packed as normalised 16-bit integers.
#[inline(never)]
fn pack_norm(a: f32, b: f32, low: f32, most: f32) -> u32 {
    let one = |a: f32| {
        let value = if a.is_nan() { 0.0 } else { (a.clamp(low, 1.0) * most).round_ties_even() };
        value as i32 as u32 & 0xffff
    };
    one(a) | one(b) << 16
}

/// Face of a cube map a direction points at: 0-5 for +x, -x, +y, -y, +z, -z.
#[inline(never)]
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
    w.set_s64(register, bits);
}

#[inline(always)]
fn fma_f32(w: &mut Wave) {
    match w.round32() {
        0 => w.hot3(single::fma),
        r => w.map3(|a, b, c| single::fma_round(a, b, c, r)),
    }
}

#[inline(never)]
fn mad32(a: f32, b: f32, c: f32) -> f32 {
    let product = single::flush(single::mul(single::flush(a), single::flush(b)));
    single::flush(single::add(product, single::flush(c)))
}

#[inline(never)]
fn mad32_legacy(a: f32, b: f32, c: f32) -> f32 {
    if a == 0.0 || b == 0.0 { single::flush(single::add(0.0, single::flush(c))) } else { mad32(a, b, c) }
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

#[inline(always)]
fn three(ieee: bool, f: fn(f32, f32, bool) -> f32) -> impl Fn(Half, Half, Half) -> Half {
    move |a, b, c| half::select(f(f(half::value(a), half::value(b), ieee), half::value(c), ieee))
}

super::table! { w, step;
    v_mad_f32 => w.map3(mad32),
    v_mad_legacy_f32 => w.map3(mad32_legacy),
    v_mad_i32_i24 => { let k = w.clamp; w.map3(|a: u32, b: u32, c: i32| clamp_i32(k, i24(a) * i24(b) + i64::from(c))); },
    v_mad_u32_u24 => { let k = w.clamp; w.map3(|a: u32, b: u32, c: u32| clamp_u32(k, u24(a) * u24(b) + u64::from(c))); },
    v_cubeid_f32 => w.map3(|x: f32, y: f32, z: f32| cube_face(x, y, z) as f32),
    v_cubesc_f32 => w.map3(|x: f32, y: f32, z: f32| [-z, z, x, x, x, -x][cube_face(x, y, z) as usize]),
    v_cubetc_f32 => w.map3(|x: f32, y: f32, z: f32| [-y, -y, z, -z, -y, -y][cube_face(x, y, z) as usize]),
    v_cubema_f32 => w.map3(|x: f32, y: f32, z: f32| 2.0 * [x, x, y, y, z, z][cube_face(x, y, z) as usize]),
    v_bfe_u32 => w.hot3(bfe_u32),
    v_bfe_i32 => w.map3(bfe_i32),
    v_bfi_b32 => w.hot3(|a: u32, b: u32, c: u32| a & b | !a & c),
    v_fma_f32 => fma_f32(w),
    v_fma_f64 => match w.round64() {
        0 => w.hot3(double::fma),
        r => w.map3(|a, b, c| double::fma_round(a, b, c, r)),
    },
    v_lerp_u8 => w.map3(lerp_u8),
    v_alignbit_b32 => w.hot3(|a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) >> (c & 31)) as u32),
    v_alignbyte_b32 => w.map3(|a: u32, b: u32, c: u32| ((u64::from(a) << 32 | u64::from(b)) >> (8 * (c & 3))) as u32),
    v_min3_f32 => { let i = w.ieee(); w.map3(|a, b, c| single::min(single::min(a, b, i), c, i)); },
    v_minimum3_f32 => w.map3(|a, b, c| float::minimum(float::minimum(a, b), c)),
    v_maximum3_f32 => w.map3(|a, b, c| float::maximum(float::maximum(a, b), c)),
    v_min3_i32 => w.map3(|a: i32, b: i32, c: i32| a.min(b).min(c)),
    v_min3_u32 => w.map3(|a: u32, b: u32, c: u32| a.min(b).min(c)),
    v_max3_f32 => { let i = w.ieee(); w.map3(|a, b, c| single::max(single::max(a, b, i), c, i)); },
    v_max3_i32 => w.map3(|a: i32, b: i32, c: i32| a.max(b).max(c)),
    v_max3_u32 => w.map3(|a: u32, b: u32, c: u32| a.max(b).max(c)),
    v_med3_f32 => { let i = w.ieee(); w.map3(|a, b, c| med3_f32(a, b, c, i)); },
    v_med3_i32 => w.map3(med::<i32>),
    v_med3_u32 => w.map3(med::<u32>),
    v_sad_u8 => w.map3(sad_u8),
    v_sad_hi_u8 => w.map3(|a: u32, b: u32, c: u32| byte_sum(a, b, u32::abs_diff).wrapping_shl(16).wrapping_add(c)),
    v_sad_u16 => w.map3(|a: u32, b: u32, c: u32| {
        (a & 0xffff).abs_diff(b & 0xffff).wrapping_add((a >> 16).abs_diff(b >> 16)).wrapping_add(c)
    }),
    v_sad_u32 => w.map3(|a: u32, b: u32, c: u32| a.abs_diff(b).wrapping_add(c)),
    v_msad_u8 => w.map3(msad_u8),
    v_qsad_pk_u16_u8 => w.map3(|a: u64, b: u32, c: u64| qsad(a, b, c, sad_u8)),
    v_mqsad_pk_u16_u8 => w.map3(|a: u64, b: u32, c: u64| qsad(a, b, c, msad_u8)),
    v_cvt_pk_u8_f32 => w.map3(|a: f32, b: u32, c: u32| {
        let shift = 8 * (b & 3);
        let byte = a.round_ties_even() as u8;
        c & !(0xff << shift) | u32::from(byte) << shift
    }),

    v_div_fixup_f32 => w.map3(single::div_fixup),
    v_div_fixup_f64 => w.map3(double::div_fixup),
    v_div_fixup_f16 | v_div_fixup_legacy_f16 => w.map3(half::div_fixup),
    v_div_scale_f32 => { let bits = w.map3_carry(single::div_scale); carry_out(w, step.sdst, bits); },
    v_div_scale_f64 => { let bits = w.map3_carry(double::div_scale); carry_out(w, step.sdst, bits); },
    v_div_fmas_f32 => { let vcc = w.s64(VCC); w.map3_bit(vcc, single::div_fmas); },
    v_div_fmas_f64 => { let vcc = w.s64(VCC); w.map3_bit(vcc, double::div_fmas); },

    v_mad_u64_u32 => {
        let bits = w.map3_carry(|a: u32, b: u32, c: u64| (u64::from(a) * u64::from(b)).overflowing_add(c));
        carry_out(w, step.sdst, bits);
    },
    v_mad_i64_i32 => {
        let bits = w.map3_carry(|a: i32, b: i32, c: i64| {
            let exact = i128::from(a) * i128::from(b) + i128::from(c);
            (exact as i64, i128::from(exact as i64) != exact)
        });
        carry_out(w, step.sdst, bits);
    },
    v_xad_u32 => w.hot3(|a: u32, b: u32, c: u32| (a ^ b).wrapping_add(c)),
    v_lshl_add_u32 => w.hot3(|a: u32, b: u32, c: u32| (a << (b & 31)).wrapping_add(c)),
    v_lshl_add_u64 => w.map3(|a: u64, b: u32, c: u64| (a << (b & 7)).wrapping_add(c)),
    v_add_lshl_u32 => w.hot3(|a: u32, b: u32, c: u32| a.wrapping_add(b) << (c & 31)),
    v_add3_u32 => w.hot3(|a: u32, b: u32, c: u32| a.wrapping_add(b).wrapping_add(c)),
    v_lshl_or_b32 => w.hot3(|a: u32, b: u32, c: u32| a << (b & 31) | c),
    v_and_or_b32 => w.hot3(|a: u32, b: u32, c: u32| a & b | c),
    v_or3_b32 => w.hot3(|a: u32, b: u32, c: u32| a | b | c),
    v_perm_b32 => w.map3(perm),

    v_mad_f16 | v_mad_legacy_f16 => { let r = w.round64(); w.map3(|a, b, c| half::add(half::mul(a, b, r), c, r)); },
    v_fma_f16 | v_fma_legacy_f16 => { let r = w.round64(); w.map3(|a, b, c| half::fma(a, b, c, r)); },
    v_mad_u16 | v_mad_legacy_u16 => {
        let k = w.clamp;
        w.map3(|a: u16, b: u16, c: u16| {
            let exact = u32::from(a) * u32::from(b) + u32::from(c);
            if k { exact.min(0xffff) as u16 } else { exact as u16 }
        });
    },
    v_mad_i16 | v_mad_legacy_i16 => {
        let k = w.clamp;
        w.map3(|a: i16, b: i16, c: i16| {
            let exact = i64::from(a) * i64::from(b) + i64::from(c);
            if k { exact.clamp(-0x8000, 0x7fff) as i16 } else { exact as i16 }
        });
    },
    v_mad_u32_u16 => { let k = w.clamp; w.map3(|a: u16, b: u16, c: u32| clamp_u32(k, u64::from(a) * u64::from(b) + u64::from(c))); },
    v_mad_i32_i16 => { let k = w.clamp; w.map3(|a: i16, b: i16, c: i32| clamp_i32(k, i64::from(a) * i64::from(b) + i64::from(c))); },
    v_min3_f16 => { let f = three(w.ieee(), single::min); w.map3(f); },
    v_max3_f16 => { let f = three(w.ieee(), single::max); w.map3(f); },
    v_med3_f16 => {
        let i = w.ieee();
        w.map3(|a, b, c| half::select(med3_f32(half::value(a), half::value(b), half::value(c), i)));
    },
    v_min3_i16 => w.map3(|a: i16, b: i16, c: i16| a.min(b).min(c)),
    v_max3_i16 => w.map3(|a: i16, b: i16, c: i16| a.max(b).max(c)),
    v_med3_i16 => w.map3(med::<i16>),
    v_min3_u16 => w.map3(|a: u16, b: u16, c: u16| a.min(b).min(c)),
    v_max3_u16 => w.map3(|a: u16, b: u16, c: u16| a.max(b).max(c)),
    v_med3_u16 => w.map3(med::<u16>),

    v_add_f64 => match w.round64() {
        0 => w.hot2(double::add),
        r => w.map2(|a, b| double::add_round(a, b, r)),
    },
    v_mul_f64 => match w.round64() {
        0 => w.hot2(double::mul),
        r => w.map2(|a, b| double::mul_round(a, b, r)),
    },
    v_min_f64 => { let i = w.ieee(); w.map2(|a, b| double::min(a, b, i)); },
    v_max_f64 => { let i = w.ieee(); w.map2(|a, b| double::max(a, b, i)); },
    v_ldexp_f64 => w.map2(double::ldexp),
    v_ldexp_f32 => w.map2(single::ldexp),
    v_mul_lo_u32 => w.hot2(u32::wrapping_mul),
    v_mul_hi_u32 => w.hot2(|a: u32, b: u32| ((u64::from(a) * u64::from(b)) >> 32) as u32),
    v_mul_hi_i32 => w.map2(|a: i32, b: i32| ((i64::from(a) * i64::from(b)) >> 32) as i32),
    v_bcnt_u32_b32 => w.map2(|a: u32, b: u32| a.count_ones().wrapping_add(b)),
    v_lshlrev_b64 => w.hot2(|a: u32, b: u64| b << (a & 63)),
    v_lshrrev_b64 => w.hot2(|a: u32, b: u64| b >> (a & 63)),
    v_ashrrev_i64 => w.hot2(|a: u32, b: i64| b >> (a & 63)),
    v_bfm_b32 => w.map2(|a: u32, b: u32| ((1u32 << (a & 31)) - 1) << (b & 31)),
    v_add_i32 => { let k = w.clamp; w.map2(|a: i32, b: i32| if k { a.saturating_add(b) } else { a.wrapping_add(b) }); },
    v_sub_i32 => { let k = w.clamp; w.map2(|a: i32, b: i32| if k { a.saturating_sub(b) } else { a.wrapping_sub(b) }); },
    v_add_i16 => { let k = w.clamp; w.map2(|a: i16, b: i16| if k { a.saturating_add(b) } else { a.wrapping_add(b) }); },
    v_sub_i16 => { let k = w.clamp; w.map2(|a: i16, b: i16| if k { a.saturating_sub(b) } else { a.wrapping_sub(b) }); },
    v_pack_b32_f16 => w.map2(|a: u16, b: u16| u32::from(a) | u32::from(b) << 16),
    v_cvt_pknorm_i16_f32 => w.map2(|a, b| pack_norm(a, b, -1.0, 32767.0)),
    v_cvt_pknorm_u16_f32 => w.map2(|a, b| pack_norm(a, b, 0.0, 65535.0)),
    v_cvt_pknorm_i16_f16 => w.map2(|a, b| pack_norm(half::value(a), half::value(b), -1.0, 32767.0)),
    v_cvt_pknorm_u16_f16 => w.map2(|a, b| pack_norm(half::value(a), half::value(b), 0.0, 65535.0)),
    v_cvt_pkrtz_f16_f32 => w.map2(|a: f32, b: f32| {
        u32::from(half::from_f32(a, 3).0) | u32::from(half::from_f32(b, 3).0) << 16
    }),
    v_cvt_pk_u16_u32 => w.map2(|a: u32, b: u32| a.min(0xffff) | b.min(0xffff) << 16),
    v_cvt_pk_i16_i32 => w.map2(|a: i32, b: i32| {
        let one = |a: i32| a.clamp(-0x8000, 0x7fff) as u32 & 0xffff;
        one(a) | one(b) << 16
    }),
}
