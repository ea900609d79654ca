//! Packed arithmetic: VOP3P without the matrix instructions. Each half (or each dword of a pair) of the result has its
//! own choice of source halves and its own negation.

use amdgpu_isa::{Mods, Op};

use super::float::single;
use super::half;
use super::vop2::mad_f32;
use crate::program::Step;
use crate::wave::{Half, LANES, Wave};

/// What MODE and the instruction say about floats, for operations that work on parts of registers and so apply it
/// themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) round32: u32,
    /// With [`half::SATURATE`].
    pub(super) round16: u32,
    /// The output modifier's power of two, if the mode lets it apply to results without subnormals.
    omod: i32,
    clamp: bool,
    nan_to_zero: bool,
    keep32: Keep,
    keep16: Keep,
}

/// Whether subnormals are kept.
#[derive(Clone, Copy, Debug)]
struct Keep {
    inputs: bool,
    outputs: bool,
}

impl Rules {
    #[inline(always)]
    pub(super) fn of(w: &Wave, step: &Step) -> Self {
        let keep = |bits: u32| Keep { inputs: bits & 1 != 0, outputs: bits & 2 != 0 };
        let mods = mods(step);
        let (keeps16, omod) = w.output(mods.omod, w.mode >> 7 & 1 != 0);
        Self {
            round32: w.round32(),
            round16: w.round16(),
            omod,
            clamp: mods.clamp,
            nan_to_zero: w.dx10_clamp(),
            keep32: keep(w.mode >> 4),
            keep16: Keep { outputs: keeps16, ..keep(w.mode >> 6) },
        }
    }

    #[inline(always)]
    pub(super) fn half_in(&self, a: Half) -> Half {
        if self.keep16.inputs { a } else { half::flush(a) }
    }

    #[inline(always)]
    pub(super) fn half_out(&self, a: Half) -> u16 {
        let a = match (self.keep16.outputs, self.omod) {
            (true, _) => a,
            (false, 0) => half::flush(a),
            (false, power) => half::omod(half::flush(a), power, self.round16),
        };
        if self.clamp { half::clamp(a, self.nan_to_zero).0 } else { a.0 }
    }

    #[inline(always)]
    fn single_in(&self, a: f32) -> f32 {
        if self.keep32.inputs { a } else { single::flush(a) }
    }

    /// Subnormals only: the mixed instructions clamp after their conversion.
    #[inline(always)]
    fn single_flush(&self, a: f32) -> f32 {
        if self.keep32.outputs { a } else { single::flush(a) }
    }

    #[inline(always)]
    fn single_out(&self, a: f32) -> f32 {
        let a = self.single_flush(a);
        if self.clamp { single::clamp(a, self.nan_to_zero) } else { a }
    }

    /// Whether nothing but the IEEE defaults is asked of singles.
    #[inline(always)]
    fn is_plain32(&self) -> bool {
        self.round32 == 0 && self.keep32.inputs && self.keep32.outputs
    }
}

#[inline(never)]
fn dot_u(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let mask = (1u32 << bits) - 1;
    let sum = (0..32 / bits).fold(u64::from(c), |sum, at| {
        sum + u64::from(a >> (bits * at) & mask) * u64::from(b >> (bits * at) & mask)
    });
    if clamp { sum.min(u64::from(u32::MAX)) as u32 } else { sum as u32 }
}

/// A dot product of integers, of which NEG says whose are signed.
#[inline(never)]
fn dot_iu(a: u32, b: u32, c: u32, bits: u32, mods: &Mods) -> u32 {
    let part = |value: u32, at: u32, source: u32| {
        let top = value >> (bits * at) << (32 - bits);
        if mods.neg >> source & 1 != 0 {
            i64::from(top as i32 >> (32 - bits))
        } else {
            i64::from(top >> (32 - bits))
        }
    };
    let sum = (0..32 / bits).fold(i64::from(c as i32), |sum, at| sum + part(a, at, 0) * part(b, at, 1));
    if mods.clamp { sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32 } else { sum as u32 }
}

#[inline(never)]
pub(super) fn dot_i(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
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

/// Picks a half of a source as [`pick`] does, for integers: no negation.
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

#[inline(always)]
fn float2(w: &mut Wave, step: &Step, f: impl Fn(Half, Half) -> Half) {
    let (m, rules) = (mods(step), Rules::of(w, step));
    w.map2(|a: u32, b: u32| {
        halves(|high| {
            let at = |source, value| rules.half_in(Half(pick(&m, high, source, value)));
            rules.half_out(f(at(0, a), at(1, b)))
        })
    });
}

/// Of three: in pairs, by a function that only selects.
#[inline(always)]
fn float3(w: &mut Wave, step: &Step, f: impl Fn(Half, Half) -> Half) {
    let (m, rules) = (mods(step), Rules::of(w, step));
    w.map3(|a: u32, b: u32, c: u32| {
        halves(|high| {
            let at = |source, value| rules.half_in(Half(pick(&m, high, source, value)));
            rules.half_out(f(f(at(0, a), at(1, b)), at(2, c)))
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

/// A dot product of two halves, of which OP_SEL chooses those of the first product and OP_SEL_HI those of the second.
#[inline(always)]
fn dot2(w: &mut Wave, step: &Step, dot: impl Fn(u32, u32, u32, u32, bool) -> u32) {
    let m = mods(step);
    w.map3(|a: u32, b: u32, c: u32| {
        let [a, b] = [(0, a), (1, b)].map(|(source, value)| halves(|high| pick_int(&m, high, source, value)));
        dot(a, b, c, 16, m.clamp)
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
fn pair_of(rules: &Rules, f: impl Fn(bool) -> f32) -> u64 {
    pair(rules.single_out(f(false)), rules.single_out(f(true)))
}

/// A source of the mixed-precision instructions: half if OP_SEL_HI, then OP_SEL says which; `neg_hi` is absolute value.
#[inline(always)]
fn mix(m: &Mods, rules: &Rules, source: usize, value: u32) -> f32 {
    let is_half = m.op_sel_hi >> source & 1 != 0;
    let value = if is_half && m.op_sel >> source & 1 != 0 { value >> 16 } else { value };
    let sign: u32 = if is_half { 1 << 15 } else { 1 << 31 };
    let value = if m.neg_hi >> source & 1 != 0 { value & !sign } else { value };
    let value = if m.neg >> source & 1 != 0 { value ^ sign } else { value };
    if is_half {
        half::value(rules.half_in(Half(value as u16)))
    } else {
        rules.single_in(f32::from_bits(value))
    }
}

/// The single-precision result of a mixed instruction, not yet clamped. `v_fma_mix` rounds once; `v_mad_mix` twice and
/// without subnormals, as `v_mad_f32` (LLVM uses it only where those are flushed).
#[inline(always)]
fn mixed(step: &Step, rules: Rules) -> impl Fn(u32, u32, u32) -> f32 + use<> {
    let m = mods(step);
    let unfused = matches!(step.op, Op::v_mad_mix_f32 | Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16);
    move |a, b, c| {
        let [a, b, c] = [mix(&m, &rules, 0, a), mix(&m, &rules, 1, b), mix(&m, &rules, 2, c)];
        let value = match (unfused, rules.round32) {
            (true, round) => mad_f32(a, b, c, round),
            (false, 0) => single::fma(a, b, c),
            (false, round) if a.is_finite() && b.is_finite() && c.is_finite() => {
                super::in_double::sum(f64::from(a) * f64::from(b), c.into(), round)
            }
            (false, _) => single::fma(a, b, c),
        };
        rules.single_flush(value)
    }
}

#[inline(always)]
fn mix_single(w: &mut Wave, step: &Step) {
    let rules = Rules::of(w, step);
    let f = mixed(step, rules);
    w.map3(|a, b, c| rules.single_out(f(a, b, c)));
}

/// Write one half of the result and keep the other.
#[inline(always)]
fn mix_half(w: &mut Wave, step: &Step, shift: u32) {
    let rules = Rules::of(w, step);
    let f = mixed(step, rules);
    let m = mods(step);
    let finite = |sources: [u32; 3]| (0..3).all(|at| mix(&m, &rules, at, sources[at]).is_finite());
    let [a, b, c, old] = w.src;
    for lane in 0..LANES {
        if !w.active(lane) {
            continue;
        }
        let sources = [a, b, c].map(|row| w.lane::<u32>(row, lane));
        let single = f(sources[0], sources[1], sources[2]);
        // A sum too large for a single, of finite sources, has overflowed the half all the more.
        let single = if single.is_infinite() && rules.round16 & half::SATURATE != 0 && finite(sources) {
            f32::MAX.copysign(single)
        } else {
            single
        };
        let value = u32::from(rules.half_out(half::from_f32(single, rules.round16)));
        let keep = w.lane::<u32>(old, lane) & !(0xffff << shift);
        w.set_lane(w.dst, lane, keep | value << shift);
    }
}

super::table! { w, step;
    v_pk_mad_i16 => { let k = mods(step).clamp; int3(w, step, |a, b, c| sat_i(k, signed(a) * signed(b) + signed(c))); },
    v_pk_mad_u16 => { let k = mods(step).clamp; int3(w, step, |a, b, c| sat_u(k, unsigned(a) * unsigned(b) + unsigned(c))); },
    v_pk_mul_lo_u16 => { let k = mods(step).clamp; int2(w, step, |a, b| sat_u(k, unsigned(a) * unsigned(b))); },
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
        let (m, rules) = (mods(step), Rules::of(w, step));
        w.map3(|a: u32, b: u32, c: u32| halves(|high| {
            let at = |source, value| rules.half_in(Half(pick(&m, high, source, value)));
            rules.half_out(half::fma(at(0, a), at(1, b), at(2, c), rules.round16))
        }));
    },
    v_pk_add_f16 => { let r = w.round16(); float2(w, step, |a, b| half::add(a, b, r)); },
    v_pk_mul_f16 => { let r = w.round16(); float2(w, step, |a, b| half::mul(a, b, r)); },
    v_pk_minimum_f16 => float2(w, step, half::minimum),
    v_pk_maximum_f16 => float2(w, step, half::maximum),
    v_pk_minimum3_f16 => float3(w, step, half::minimum),
    v_pk_maximum3_f16 => float3(w, step, half::maximum),
    v_pk_min_f16 => { let n = w.nans(); float2(w, step, |a, b| half::min(a, b, n)); },
    v_pk_max_f16 => { let n = w.nans(); float2(w, step, |a, b| half::max(a, b, n)); },

    v_pk_fma_f32 => {
        let (m, rules) = (mods(step), Rules::of(w, step));
        let at = |high, source, value| rules.single_in(pick_single(&m, high, source, value));
        if rules.is_plain32() {
            w.map3(|a: u64, b: u64, c: u64| pair_of(&rules, |high| single::fma(at(high, 0, a), at(high, 1, b), at(high, 2, c))));
        } else {
            w.map3(|a: u64, b: u64, c: u64| pair_of(&rules, |high| {
                single::fma_round(at(high, 0, a), at(high, 1, b), at(high, 2, c), rules.round32)
            }));
        }
    },
    v_pk_mul_f32 => {
        let (m, rules) = (mods(step), Rules::of(w, step));
        let at = |high, source, value| rules.single_in(pick_single(&m, high, source, value));
        if rules.is_plain32() {
            w.map2(|a: u64, b: u64| pair_of(&rules, |high| single::mul(at(high, 0, a), at(high, 1, b))));
        } else {
            w.map2(|a: u64, b: u64| pair_of(&rules, |high| single::mul_round(at(high, 0, a), at(high, 1, b), rules.round32)));
        }
    },
    v_pk_add_f32 => {
        let (m, rules) = (mods(step), Rules::of(w, step));
        let at = |high, source, value| rules.single_in(pick_single(&m, high, source, value));
        if rules.is_plain32() {
            w.map2(|a: u64, b: u64| pair_of(&rules, |high| single::add(at(high, 0, a), at(high, 1, b))));
        } else {
            w.map2(|a: u64, b: u64| pair_of(&rules, |high| single::add_round(at(high, 0, a), at(high, 1, b), rules.round32)));
        }
    },
    // The low dword comes from source 0, the high one from source 1; OP_SEL says which dword of each.
    v_pk_mov_b32 => {
        let m = mods(step);
        w.map2(|a: u64, b: u64| {
            let one = |source: u32, value: u64| if m.op_sel >> source & 1 != 0 { value >> 32 } else { value & 0xffff_ffff };
            one(0, a) | one(1, b) << 32
        });
    },

    v_fma_mix_f32 | v_mad_mix_f32 => mix_single(w, step),
    v_fma_mixlo_f16 | v_mad_mixlo_f16 => mix_half(w, step, 0),
    v_fma_mixhi_f16 | v_mad_mixhi_f16 => mix_half(w, step, 16),

    v_dot2_i32_i16 => dot2(w, step, dot_i),
    v_dot2_u32_u16 => dot2(w, step, dot_u),
    v_dot4_i32_i8 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_i(a, b, c, 8, k)); },
    v_dot4_u32_u8 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_u(a, b, c, 8, k)); },
    v_dot4_i32_iu8 => { let m = mods(step); w.map3(|a, b, c| dot_iu(a, b, c, 8, &m)); },
    v_dot8_i32_iu4 => { let m = mods(step); w.map3(|a, b, c| dot_iu(a, b, c, 4, &m)); },
    v_dot8_i32_i4 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_i(a, b, c, 4, k)); },
    v_dot8_u32_u4 => { let k = mods(step).clamp; w.map3(|a, b, c| dot_u(a, b, c, 4, k)); },
}
