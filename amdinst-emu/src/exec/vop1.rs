//! One source: VOP1, in all its encodings.

use super::float::{self, choose, double, single};
use super::{half, in_vectors, math, rounding};
use crate::wave::{Half, map1, map1_or};
use math::nearest;

/// Position of the highest bit that differs from the sign, counted from the top.
#[inline(always)]
fn sign_bits(a: i32) -> u32 {
    let differing = (a ^ (a >> 31)) as u32;
    if differing == 0 { u32::MAX } else { differing.leading_zeros() }
}

/// To an integer of 16 bits, saturating.
#[inline(always)]
fn half_to_i16(a: Half) -> i16 {
    float::to_i32(half::value(a)).clamp(-0x8000, 0x7fff) as i16
}

/// A number of [low, 1] as the nearest multiple of 1/`most`. The product is exact in double precision.
#[inline(always)]
pub(super) fn normalized(a: f32, low: f32, most: f64) -> i32 {
    let limited = f64::from(choose(a < low, low, choose(a > 1.0, 1.0, a)));
    float::double_to_i32((limited * most).round_ties_even())
}

/// `v_screen_partition_4se_b32`: which of four shader engines a bounding box of tiles touches (Vega ISA
/// manual, the instruction's table; a hexadecimal digit an entry).
#[inline(always)]
fn partition(select: u8) -> u32 {
    const TABLE: &[u8; 256] = b"\
    137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff\
    ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7\
    bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5\
    9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1\
    ";
    char::from(TABLE[usize::from(select)]).to_digit(16).unwrap_or_default()
}

/// A function of halves, to nearest by its approximation.
macro_rules! half_function {
    ($w:ident, $near:ident, $function:ident) => {
        match $w.round16() {
            0 => map1_or!($w, |a: Half| in_vectors::$near(half::value(a).into()).half(), nearest::$function),
            r => map1!($w, |a: Half| math::$function(a, r)),
        }
    };
}

super::table! { w, step;
    v_nop | v_clrexcp | v_pipeflush => {},
    v_mov_b32 | v_accvgpr_read_b32 | v_accvgpr_write_b32 | v_accvgpr_mov_b32 => map1!(w, |a: u32| a),
    v_mov_b64 => map1!(w, |a: u64| a),
    v_mov_b16 => map1!(w, |a: u16| a),
    v_not_b16 => map1!(w, |a: u16| !a),
    v_cvt_i32_i16 => map1!(w, |a: i16| i32::from(a)),
    v_cvt_u32_u16 => map1!(w, |a: u16| u32::from(a)),
    v_prng_b32 => map1!(w, super::convert::random),
    v_not_b32 => map1!(w, |a: u32| !a),
    v_bfrev_b32 => map1!(w, u32::reverse_bits),
    v_ffbh_u32 => map1!(w, |a: u32| if a == 0 { u32::MAX } else { a.leading_zeros() }),
    v_ffbl_b32 => map1!(w, |a: u32| if a == 0 { u32::MAX } else { a.trailing_zeros() }),
    v_ffbh_i32 => map1!(w, sign_bits),

    v_cvt_f32_i32 => rounding!(r = w.round32(); map1!(w, |a: i32| if r == 0 { a as f32 } else { float::narrow(f64::from(a), r) })),
    v_cvt_f32_u32 => rounding!(r = w.round32(); map1!(w, |a: u32| if r == 0 { a as f32 } else { float::narrow(f64::from(a), r) })),
    v_cvt_u32_f32 => map1!(w, float::to_u32),
    v_cvt_i32_f32 => map1!(w, float::to_i32),
    v_cvt_f64_i32 => map1!(w, |a: i32| f64::from(a)),
    v_cvt_f64_u32 => map1!(w, |a: u32| f64::from(a)),
    v_cvt_i32_f64 => map1!(w, float::double_to_i32),
    v_cvt_u32_f64 => map1!(w, float::double_to_u32),
    v_cvt_f32_f64 => rounding!(r = w.round64(); map1!(w, |a: f64| float::narrow(a, r))),
    v_cvt_f64_f32 => map1!(w, float::widen),
    v_cvt_f16_f32 => rounding!(r = w.round16(); map1!(w, |a: f32| half::from_f32(a, r))),
    v_cvt_f32_f16 => map1!(w, |a: Half| single::fix1(half::value(a), half::value(a))),
    v_cvt_f16_u16 => rounding!(r = w.round16(); map1!(w, |a: u16| half::from_f32(f32::from(a), r))),
    v_cvt_f16_i16 => rounding!(r = w.round16(); map1!(w, |a: i16| half::from_f32(f32::from(a), r))),
    v_cvt_u16_f16 => map1!(w, |a: Half| float::to_i32(half::value(a)).clamp(0, 0xffff) as u16),
    v_cvt_i16_f16 => map1!(w, half_to_i16),
    v_cvt_rpi_i32_f32 => map1!(w, |a: f32| float::double_to_i32((f64::from(a) + 0.5).floor())),
    v_cvt_flr_i32_f32 => map1!(w, |a: f32| float::to_i32(a.floor())),
    v_cvt_off_f32_i4 => map1!(w, |a: u32| ((a << 28) as i32 >> 28) as f32 / 16.0),
    v_cvt_f32_ubyte0 => map1!(w, |a: u32| (a & 0xff) as f32),
    v_cvt_f32_ubyte1 => map1!(w, |a: u32| (a >> 8 & 0xff) as f32),
    v_cvt_f32_ubyte2 => map1!(w, |a: u32| (a >> 16 & 0xff) as f32),
    v_cvt_f32_ubyte3 => map1!(w, |a: u32| (a >> 24) as f32),
    v_cvt_norm_i16_f16 => map1!(w, |a: Half| normalized(half::value(a), -1.0, 32767.0) as i16),
    v_cvt_norm_u16_f16 => map1!(w, |a: Half| normalized(half::value(a), 0.0, 65535.0) as u16),
    v_sat_pk_u8_i16 => map1!(w, |a: u32| {
        let byte = |half: u32| u32::from((half as i16).clamp(0, 255) as u16);
        byte(a) | byte(a >> 16) << 8
    }),

    v_fract_f32 => rounding!(r = w.round32(); map1!(w, |a| single::fract(a, r))),
    v_trunc_f32 => map1!(w, |a: f32| single::fix1(a, a.trunc())),
    v_ceil_f32 => map1!(w, |a: f32| single::fix1(a, a.ceil())),
    v_rndne_f32 => map1!(w, |a: f32| single::fix1(a, a.round_ties_even())),
    v_floor_f32 => map1!(w, |a: f32| single::fix1(a, a.floor())),
    v_fract_f64 => rounding!(r = w.round64(); map1!(w, |a| double::fract(a, r))),
    v_trunc_f64 => map1!(w, |a: f64| double::fix1(a, a.trunc())),
    v_ceil_f64 => map1!(w, |a: f64| double::fix1(a, a.ceil())),
    v_rndne_f64 => map1!(w, |a: f64| double::fix1(a, a.round_ties_even())),
    v_floor_f64 => map1!(w, |a: f64| double::fix1(a, a.floor())),
    v_fract_f16 => rounding!(r = w.round16(); map1!(w, |a| half::fract(a, r))),
    v_trunc_f16 => map1!(w, |a: Half| half::unary_in_single(a, half::value(a).trunc())),
    v_ceil_f16 => map1!(w, |a: Half| half::unary_in_single(a, half::value(a).ceil())),
    v_rndne_f16 => map1!(w, |a: Half| half::unary_in_single(a, half::value(a).round_ties_even())),
    v_floor_f16 => map1!(w, |a: Half| half::unary_in_single(a, half::value(a).floor())),

    v_exp_f32 | v_exp_legacy_f32 => map1_or!(w, |a: f32| in_vectors::exp2(math::operand(a)).flushed(), math::exp32),
    v_log_f32 | v_log_legacy_f32 => map1_or!(w, |a: f32| in_vectors::log2(math::operand(a)).flushed(), math::log32),
    v_rcp_f32 | v_rcp_iflag_f32 => map1!(w, math::rcp32),
    v_rsq_f32 => map1!(w, math::rsq32),
    v_sqrt_f32 => map1!(w, math::sqrt32),
    v_sin_f32 => map1_or!(w, |a: f32| in_vectors::sine(a.into()).single(), math::sin32),
    v_cos_f32 => map1_or!(w, |a: f32| in_vectors::cosine(a.into()).single(), math::cos32),
    v_rcp_f64 => map1!(w, math::rcp64),
    v_rsq_f64 => map1!(w, math::rsq64),
    v_sqrt_f64 => map1!(w, math::sqrt64),
    v_exp_f16 => half_function!(w, exp2, half_exp),
    v_log_f16 => half_function!(w, log2, half_log),
    v_rcp_f16 => match w.round16() {
        0 => map1!(w, |a: Half| half::unary_in_single(a, 1.0 / half::value(a))),
        r => map1!(w, |a: Half| half::unary(a, r, |a| 1.0 / a)),
    },
    v_rsq_f16 => rounding!(r = w.round16(); map1!(w, |a: Half| half::unary(a, r, |a| 1.0 / a.sqrt()))),
    v_sqrt_f16 => match w.round16() {
        0 => map1!(w, |a: Half| half::unary_in_single(a, half::value(a).sqrt())),
        r => map1!(w, |a: Half| half::unary(a, r, f64::sqrt)),
    },
    v_sin_f16 => half_function!(w, sine, half_sin),
    v_cos_f16 => half_function!(w, cosine, half_cos),

    v_frexp_exp_i32_f64 => map1!(w, double::frexp_exponent),
    v_frexp_mant_f64 => map1!(w, double::frexp_mantissa),
    v_frexp_exp_i32_f32 => map1!(w, single::frexp_exponent),
    v_frexp_mant_f32 => map1!(w, single::frexp_mantissa),
    v_frexp_exp_i16_f16 => map1!(w, |a: Half| single::frexp_exponent(half::value(a)) as i16),
    v_screen_partition_4se_b32 => map1!(w, |a: u32| partition(a as u8)),
    v_frexp_mant_f16 => map1!(w, half::frexp_mantissa),
}
