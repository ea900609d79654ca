//! Packed arithmetic: VOP3P without the matrix instructions. Each half (or each dword of a pair) of the result has its
//! own choice of source halves and its own negation.

use amdinst_core::isa::Mods;

use super::float::{self, single};
use super::half;
use crate::program::Step;
use crate::wave::{Elem, Half, SOURCE_ROWS, Wave};

/// `v_dot2_i32_i16`.
#[inline(never)]
pub(super) fn dot2_i16(a: u32, b: u32, c: u32) -> u32 {
    let part = |shift: u32| i32::from((a >> shift) as i16).wrapping_mul(i32::from((b >> shift) as i16));
    part(0).wrapping_add(part(16)).wrapping_add(c as i32) as u32
}

/// `v_dot4_i32_i8`.
#[inline(never)]
pub(super) fn dot4_i8(a: u32, b: u32, c: u32) -> u32 {
    let part = |byte: u32| i32::from((a >> (8 * byte)) as i8) * i32::from((b >> (8 * byte)) as i8);
    (0..4).fold(c as i32, |sum, byte| sum.wrapping_add(part(byte))) as u32
}

/// `v_dot8_i32_i4`.
#[inline(never)]
pub(super) fn dot8_i4(a: u32, b: u32, c: u32) -> u32 {
    let nibble = |value: u32, at: u32| (value >> (4 * at) << 28) as i32 >> 28;
    (0..8).fold(c as i32, |sum, at| sum.wrapping_add(nibble(a, at) * nibble(b, at))) as u32
}

#[inline(never)]
fn dot_u(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let mask = (1u32 << bits) - 1;
    let sum = (0..32 / bits).fold(u64::from(c), |sum, at| {
        sum + u64::from(a >> (bits * at) & mask) * u64::from(b >> (bits * at) & mask)
    });
    if clamp { sum.min(u64::from(u32::MAX)) as u32 } else { sum as u32 }
}

#[inline(never)]
fn dot_i(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let part = |value: u32, at: u32| i64::from((value >> (bits * at) << (32 - bits)) as i32 >> (32 - bits));
    let sum = (0..32 / bits).fold(i64::from(c as i32), |sum, at| sum + part(a, at) * part(b, at));
    if clamp { sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32 } else { sum as u32 }
}

/// The half of a source that one half of the result takes, negated if asked.
#[inline(always)]
fn pick(mods: &Mods, high: bool, source: usize, value: u32) -> u16 {
    let (select, negate) = if high { (mods.op_sel_hi, mods.neg_hi) } else { (mods.op_sel, mods.neg) };
    let half = if select >> source & 1 != 0 { value >> 16 } else { value };
    half as u16 ^ if negate >> source & 1 != 0 { 0x8000 } else { 0 }
}

/// As [`pick`], for integers: no negation.
#[inline(always)]
fn pick_int(mods: &Mods, high: bool, source: usize, value: u32) -> u16 {
    let select = if high { mods.op_sel_hi } else { mods.op_sel };
    (if select >> source & 1 != 0 { value >> 16 } else { value }) as u16
}

#[inline(always)]
fn halves(f: impl Fn(bool) -> u16) -> u32 {
    u32::from(f(false)) | u32::from(f(true)) << 16
}

fn mods(step: &Step) -> Mods {
    step.extra.as_ref().map(|extra| extra.inst.mods).unwrap_or_default()
}

#[inline(never)]
fn clamp_half(a: Half, clamp: bool, nan_to_zero: bool) -> u16 {
    if clamp { half::from_f32(single::clamp(half::value(a), nan_to_zero), 0).0 } else { a.0 }
}

#[inline(always)]
fn float2(w: &mut Wave, step: &Step, f: impl Fn(Half, Half) -> Half) {
    let (m, k, n) = (mods(step), mods(step).clamp, w.dx10_clamp());
    w.map2(|a: u32, b: u32| {
        halves(|high| clamp_half(f(Half(pick(&m, high, 0, a)), Half(pick(&m, high, 1, b))), k, n))
    });
}

/// Of three: in pairs, by a function of singles that only selects.
#[inline(always)]
fn float3(w: &mut Wave, step: &Step, f: impl Fn(f32, f32) -> f32) {
    let (m, k, n) = (mods(step), mods(step).clamp, w.dx10_clamp());
    w.map3(|a: u32, b: u32, c: u32| {
        halves(|high| {
            let at = |source, value| half::value(Half(pick(&m, high, source, value)));
            clamp_half(half::select(f(f(at(0, a), at(1, b)), at(2, c))), k, n)
        })
    });
}

#[inline(always)]
fn int2(w: &mut Wave, step: &Step, f: impl Fn(u16, u16) -> u16) {
    let m = mods(step);
    w.map2(|a: u32, b: u32| halves(|high| f(pick_int(&m, high, 0, a), pick_int(&m, high, 1, b))));
}

#[inline(always)]
fn int3(w: &mut Wave, step: &Step, f: impl Fn(u16, u16, u16) -> u16) {
    let m = mods(step);
    w.map3(|a: u32, b: u32, c: u32| {
        halves(|high| f(pick_int(&m, high, 0, a), pick_int(&m, high, 1, b), pick_int(&m, high, 2, c)))
    });
}

#[inline(always)]
fn sat_u(clamp: bool, exact: i64) -> u16 {
    if clamp { exact.clamp(0, 0xffff) as u16 } else { exact as u16 }
}

#[inline(always)]
fn sat_i(clamp: bool, exact: i64) -> u16 {
    if clamp { exact.clamp(-0x8000, 0x7fff) as u16 } else { exact as u16 }
}

fn signed(a: u16) -> i64 {
    i64::from(a as i16)
}

fn unsigned(a: u16) -> i64 {
    i64::from(a)
}

/// The dword of a pair that one dword of the result takes, negated if asked.
#[inline(always)]
fn pick_single(m: &Mods, high: bool, source: usize, value: u64) -> f32 {
    let (select, negate) = if high { (m.op_sel_hi, m.neg_hi) } else { (m.op_sel, m.neg) };
    let dword = if select >> source & 1 != 0 { value >> 32 } else { value } as u32;
    f32::from_bits(dword ^ if negate >> source & 1 != 0 { 1 << 31 } else { 0 })
}

fn pair(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

#[inline(always)]
fn pair_of(m: &Mods, nan_to_zero: bool, f: impl Fn(bool) -> f32) -> u64 {
    let one = |high| {
        let value = f(high);
        if m.clamp { single::clamp(value, nan_to_zero) } else { value }
    };
    pair(one(false), one(true))
}

/// MODE's rules for pairs of singles.
#[derive(Clone, Copy)]
struct Singles {
    round: u32,
    flush_sources: bool,
    flush_result: bool,
}

impl Singles {
    #[inline(always)]
    fn of(w: &Wave) -> Self {
        Self { round: w.round32(), flush_sources: w.mode >> 4 & 1 == 0, flush_result: w.mode >> 5 & 1 == 0 }
    }

    #[inline(always)]
    fn source(self, value: f32) -> f32 {
        if self.flush_sources { single::flush(value) } else { value }
    }

    #[inline(always)]
    fn result(self, value: f32) -> f32 {
        if self.flush_result { single::flush(value) } else { value }
    }
}

#[inline(always)]
fn packed_singles(
    w: &mut Wave,
    step: &Step,
    nearest: impl Fn(f32, f32) -> f32,
    rounded: impl Fn(f32, f32, u32) -> f32,
) {
    let (m, n, o) = (mods(step), w.dx10_clamp(), Singles::of(w));
    w.map2(|a: u64, b: u64| {
        pair_of(&m, n, |high| {
            let (a, b) = (o.source(pick_single(&m, high, 0, a)), o.source(pick_single(&m, high, 1, b)));
            o.result(if o.round == 0 { nearest(a, b) } else { rounded(a, b, o.round) })
        })
    });
}

/// A source of the mixed-precision instructions: half if OP_SEL_HI, then OP_SEL says which; `neg_hi` is absolute value.
#[inline(always)]
fn mix(m: &Mods, source: usize, value: u32) -> f32 {
    let value = if m.op_sel_hi >> source & 1 == 0 {
        f32::from_bits(value)
    } else {
        let shift = if m.op_sel >> source & 1 != 0 { 16 } else { 0 };
        half::value(Half((value >> shift) as u16))
    };
    let value = if m.neg_hi >> source & 1 != 0 { value.abs() } else { value };
    if m.neg >> source & 1 != 0 { -value } else { value }
}

#[inline(always)]
fn mix_fma(w: &Wave, step: &Step) -> impl Fn(u32, u32, u32) -> f32 + use<> {
    let (m, n) = (mods(step), w.dx10_clamp());
    move |a, b, c| {
        let value = single::fma(mix(&m, 0, a), mix(&m, 1, b), mix(&m, 2, c));
        if m.clamp { single::clamp(value, n) } else { value }
    }
}

/// Write one half of the result and keep the other.
#[inline(always)]
fn mix_half(w: &mut Wave, step: &Step, shift: u32) {
    let f = mix_fma(w, step);
    let r = w.round64();
    // The old result is needed beside three sources: take it from the copy behind the rows of source 3.
    let old = SOURCE_ROWS + 6;
    w.remake(w.src[3], old, |value: u32| value);
    let result = old + 1;
    let (sources, dst) = (w.src, w.dst);
    for lane in 0..crate::wave::LANES {
        let [a, b, c] = [0, 1, 2].map(|slot| u32::get(&w.rows, usize::from(sources[slot]), lane));
        let value = u32::from(half::from_f32(f(a, b, c), r).0);
        let keep = w.rows[usize::from(old)][lane] & !(0xffff << shift);
        w.rows[usize::from(result)][lane] = keep | value << shift;
    }
    w.src[0] = result;
    w.dst = dst;
    w.map1(|a: u32| a);
}

super::table! { w, step;
    v_pk_mad_i16 => { let k = w.clamp; int3(w, step, |a, b, c| sat_i(k, signed(a) * signed(b) + signed(c))); },
    v_pk_mad_u16 => { let k = w.clamp; int3(w, step, |a, b, c| sat_u(k, unsigned(a) * unsigned(b) + unsigned(c))); },
    v_pk_mul_lo_u16 => int2(w, step, u16::wrapping_mul),
    v_pk_add_i16 => { let k = mods(step).clamp; int2(w, step, |a, b| sat_i(k, signed(a) + signed(b))); },
    v_pk_sub_i16 => { let k = mods(step).clamp; int2(w, step, |a, b| sat_i(k, signed(a) - signed(b))); },
    v_pk_add_u16 => { let k = mods(step).clamp; int2(w, step, |a, b| sat_u(k, unsigned(a) + unsigned(b))); },
    v_pk_sub_u16 => { let k = mods(step).clamp; int2(w, step, |a, b| sat_u(k, unsigned(a) - unsigned(b))); },
    v_pk_lshlrev_b16 => int2(w, step, |a, b| b << (a & 15)),
    v_pk_lshrrev_b16 => int2(w, step, |a, b| b >> (a & 15)),
    v_pk_ashrrev_i16 => int2(w, step, |a, b| (b as i16 >> (a & 15)) as u16),
    v_pk_max_i16 => int2(w, step, |a, b| (a as i16).max(b as i16) as u16),
    v_pk_min_i16 => int2(w, step, |a, b| (a as i16).min(b as i16) as u16),
    v_pk_max_u16 => int2(w, step, u16::max),
    v_pk_min_u16 => int2(w, step, u16::min),
    v_pk_fma_f16 => {
        let (m, k, n, r) = (mods(step), mods(step).clamp, w.dx10_clamp(), w.round64());
        w.map3(|a: u32, b: u32, c: u32| halves(|high| {
            let at = |source, value| Half(pick(&m, high, source, value));
            clamp_half(half::fma(at(0, a), at(1, b), at(2, c), r), k, n)
        }));
    },
    v_pk_add_f16 => { let r = w.round64(); float2(w, step, |a, b| half::add(a, b, r)); },
    v_pk_mul_f16 => { let r = w.round64(); float2(w, step, |a, b| half::mul(a, b, r)); },
    v_pk_minimum3_f16 => float3(w, step, float::minimum),
    v_pk_maximum3_f16 => float3(w, step, float::maximum),
    v_pk_min_f16 => { let i = w.ieee(); float2(w, step, |a, b| half::select(single::min(half::value(a), half::value(b), i))); },
    v_pk_max_f16 => { let i = w.ieee(); float2(w, step, |a, b| half::select(single::max(half::value(a), half::value(b), i))); },

    v_pk_fma_f32 => {
        let (m, n, o) = (mods(step), w.dx10_clamp(), Singles::of(w));
        w.map3(|a: u64, b: u64, c: u64| pair_of(&m, n, |high| {
            let at = |source, value| o.source(pick_single(&m, high, source, value));
            o.result(if o.round == 0 {
                single::fma(at(0, a), at(1, b), at(2, c))
            } else {
                single::fma_round(at(0, a), at(1, b), at(2, c), o.round)
            })
        }));
    },
    v_pk_mul_f32 => packed_singles(w, step, single::mul, single::mul_round),
    v_pk_add_f32 => packed_singles(w, step, single::add, single::add_round),
    // The low dword comes from source 0, the high one from source 1; OP_SEL says which dword of each.
    v_pk_mov_b32 => {
        let m = mods(step);
        w.map2(|a: u64, b: u64| {
            let one = |source: u32, value: u64| if m.op_sel >> source & 1 != 0 { value >> 32 } else { value & 0xffff_ffff };
            one(0, a) | one(1, b) << 32
        });
    },

    v_fma_mix_f32 | v_mad_mix_f32 => { let f = mix_fma(w, step); w.map3(f); },
    v_fma_mixlo_f16 | v_mad_mixlo_f16 => mix_half(w, step, 0),
    v_fma_mixhi_f16 | v_mad_mixhi_f16 => mix_half(w, step, 16),

    v_dot2_i32_i16 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_i(a, b, c, 16, k)); },
    v_dot2_u32_u16 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_u(a, b, c, 16, k)); },
    v_dot4_i32_i8 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_i(a, b, c, 8, k)); },
    v_dot4_u32_u8 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_u(a, b, c, 8, k)); },
    v_dot8_i32_i4 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_i(a, b, c, 4, k)); },
    v_dot8_u32_u4 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_u(a, b, c, 4, k)); },
}
