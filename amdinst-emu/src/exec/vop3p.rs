//! Packed arithmetic: VOP3P without the matrix instructions. Each half (or each dword of a pair) of the
//! result has its own choice of source halves and its own negation.

use amdgpu_isa::{Mods, Op};

use super::float::single;
use super::vop2::mad_f32;
use super::{half, rounding};
use crate::program::Step;
use crate::wave::{Half, RESULT_ROW, SATURATE, Wave, map2, map3};

/// What MODE and the instruction say about floats, for operations that work on parts of registers and so
/// apply it themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) round32: u32,
    /// With [`SATURATE`].
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

    /// A source's half for one half of a packed result.
    #[inline(always)]
    fn picked(&self, mods: &Mods, high: bool, source: usize, value: u32) -> Half {
        self.half_in(Half(pick(mods, high, source, value)))
    }

    /// A source's dword for one dword of a packed result.
    #[inline(always)]
    fn picked_single(&self, mods: &Mods, high: bool, source: usize, value: u64) -> f32 {
        self.single_in(pick_single(mods, high, source, value))
    }

    /// A multiply-add of halves.
    #[inline(always)]
    pub(super) fn fused(&self, [a, b, c]: [Half; 3]) -> u16 {
        self.half_out(half::fma(self.half_in(a), self.half_in(b), self.half_in(c), self.round16))
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

/// A dot product of as many parts of registers as they have, `bits` each, and a third source.
macro_rules! dot {
    ($a:ident, $b:ident, $c:expr, $bits:ident, |$value:ident, $source:tt| $part:expr) => {{
        let mut sum = $c;
        for at in 0..32 / $bits {
            // The part is at the top of a dword.
            let first = {
                let ($value, $source) = ($a >> ($bits * at) << (32 - $bits), 0);
                $part
            };
            let second = {
                let ($value, $source) = ($b >> ($bits * at) << (32 - $bits), 1);
                $part
            };
            sum += first * second;
        }
        sum
    }};
}

#[inline(always)]
fn dot_u(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let sum = dot!(a, b, u64::from(c), bits, |top, _| u64::from(top >> (32 - bits)));
    if clamp { sum.min(u64::from(u32::MAX)) as u32 } else { sum as u32 }
}

/// A dot product of integers, of which NEG says whose are signed.
#[inline(always)]
fn dot_iu(a: u32, b: u32, c: u32, bits: u32, mods: &Mods) -> u32 {
    let sum = dot!(a, b, i64::from(c as i32), bits, |top, source| {
        let (signed, unsigned) = (i64::from(top as i32 >> (32 - bits)), i64::from(top >> (32 - bits)));
        if mods.neg >> source & 1 != 0 { signed } else { unsigned }
    });
    if mods.clamp { sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32 } else { sum as u32 }
}

#[inline(always)]
pub(super) fn dot_i(a: u32, b: u32, c: u32, bits: u32, clamp: bool) -> u32 {
    let sum = dot!(a, b, i64::from(c as i32), bits, |top, _| i64::from(top as i32 >> (32 - bits)));
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

/// Two halves of a result: of an expression with `$high` false and true.
macro_rules! halves {
    (|$high:ident| $half:expr) => {{
        let low: u16 = {
            let $high = false;
            $half
        };
        let high: u16 = {
            let $high = true;
            $half
        };
        u32::from(low) | u32::from(high) << 16
    }};
}

fn mods(step: &Step) -> Mods {
    step.extra.as_ref().map(|extra| extra.inst.mods).unwrap_or_default()
}

macro_rules! float2 {
    ($w:ident, $step:ident, |$a:ident, $b:ident| $body:expr) => {{
        let (m, rules) = (mods($step), Rules::of($w, $step));
        map2!($w, |a: u32, b: u32| halves!(|high| {
            let ($a, $b) = (rules.picked(&m, high, 0, a), rules.picked(&m, high, 1, b));
            rules.half_out($body)
        }));
    }};
}

/// Of three: in pairs, by a function that only selects.
macro_rules! float3 {
    ($w:ident, $step:ident, $f:path) => {{
        let (m, rules) = (mods($step), Rules::of($w, $step));
        map3!($w, |a: u32, b: u32, c: u32| halves!(|high| {
            let first = $f(rules.picked(&m, high, 0, a), rules.picked(&m, high, 1, b));
            rules.half_out($f(first, rules.picked(&m, high, 2, c)))
        }));
    }};
}

macro_rules! int2 {
    ($w:ident, $step:ident, |$a:ident, $b:ident| $body:expr) => {{
        let m = mods($step);
        map2!($w, |a: u32, b: u32| halves!(|high| {
            let ($a, $b) = (pick_int(&m, high, 0, a), pick_int(&m, high, 1, b));
            $body
        }));
    }};
}

macro_rules! int3 {
    ($w:ident, $step:ident, |$a:ident, $b:ident, $c:ident| $body:expr) => {{
        let m = mods($step);
        map3!($w, |a: u32, b: u32, c: u32| halves!(|high| {
            let ($a, $b) = (pick_int(&m, high, 0, a), pick_int(&m, high, 1, b));
            let $c = pick_int(&m, high, 2, c);
            $body
        }));
    }};
}

/// A dot product of two halves, of which OP_SEL chooses those of the first product and OP_SEL_HI those of the
/// second.
macro_rules! dot2 {
    ($w:ident, $step:ident, $dot:path) => {{
        let m = mods($step);
        map3!($w, |a: u32, b: u32, c: u32| {
            let a = halves!(|high| pick_int(&m, high, 0, a));
            let b = halves!(|high| pick_int(&m, high, 1, b));
            $dot(a, b, c, 16, m.clamp)
        });
    }};
}

#[inline(always)]
fn sat_u(clamp: bool, exact: i64) -> u16 {
    if clamp { exact.clamp(0, 0xffff) as u16 } else { exact as u16 }
}

#[inline(always)]
fn sat_i(clamp: bool, exact: i64) -> u16 {
    if clamp { exact.clamp(-0x8000, 0x7fff) as u16 } else { exact as u16 }
}

#[inline(always)]
fn signed(a: u16) -> i64 {
    i64::from(a as i16)
}

#[inline(always)]
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

#[inline(always)]
fn pair(low: f32, high: f32) -> u64 {
    u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
}

/// Packed singles: two results of a lane, of an expression with `$high` false and true.
macro_rules! singles {
    ($rules:ident, |$high:ident| $single:expr) => {{
        let low = {
            let $high = false;
            $single
        };
        let high = {
            let $high = true;
            $single
        };
        pair($rules.single_out(low), $rules.single_out(high))
    }};
}

/// An operation on packed singles: `$plain` where nothing but the IEEE defaults is asked, `$round` with the
/// rounding mode besides.
macro_rules! packed_singles {
    ($w:ident, $step:ident, $map:ident, $plain:ident, $round:ident, $($source:ident: $slot:literal),*) => {{
        let (m, rules) = (mods($step), Rules::of($w, $step));
        if rules.is_plain32() {
            $map!($w, |$($source: u64),*| singles!(rules, |high| {
                single::$plain($(rules.picked_single(&m, high, $slot, $source)),*)
            }));
        } else {
            $map!($w, |$($source: u64),*| singles!(rules, |high| {
                single::$round($(rules.picked_single(&m, high, $slot, $source),)* rules.round32)
            }));
        }
    }};
}

/// A source of the mixed-precision instructions: half if OP_SEL_HI, then OP_SEL says which; `neg_hi` is
/// absolute value.
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

/// Whether the instruction is of those that round twice.
fn is_unfused(op: Op) -> bool {
    matches!(op, Op::v_mad_mix_f32 | Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16)
}

/// The single-precision result of a mixed instruction, not yet clamped. `v_fma_mix` rounds once; `v_mad_mix`
/// twice and without subnormals, as `v_mad_f32` (LLVM uses it only where those are flushed).
#[inline(always)]
fn mixed([a, b, c]: [f32; 3], unfused: bool, rules: &Rules) -> f32 {
    let value = match (unfused, rules.round32) {
        (true, round) => mad_f32(a, b, c, round),
        (false, 0) => single::fma(a, b, c),
        (false, round) => single::fma_round(a, b, c, round),
    };
    rules.single_flush(value)
}

#[inline(always)]
fn mixed_sources(m: &Mods, rules: &Rules, a: u32, b: u32, c: u32) -> [f32; 3] {
    [mix(m, rules, 0, a), mix(m, rules, 1, b), mix(m, rules, 2, c)]
}

#[inline(always)]
fn mix_single(w: &mut Wave, step: &Step) {
    let (m, rules, unfused) = (mods(step), Rules::of(w, step), is_unfused(step.op));
    map3!(w, |a: u32, b: u32, c: u32| {
        rules.single_out(mixed(mixed_sources(&m, &rules, a, b, c), unfused, &rules))
    });
}

/// Write one half of the result and keep the other.
#[inline(always)]
fn mix_half(w: &mut Wave, step: &Step, shift: u32) {
    let (m, rules, unfused) = (mods(step), Rules::of(w, step), is_unfused(step.op));
    let (to, old) = (w.dst, w.src[3]);
    // The halves first, then where they go.
    w.dst = RESULT_ROW;
    map3!(w, |a: u32, b: u32, c: u32| {
        let sources = mixed_sources(&m, &rules, a, b, c);
        let single = mixed(sources, unfused, &rules);
        // A sum too large for a single, of finite sources, has overflowed the half all the more.
        let finite = sources[0].is_finite() && sources[1].is_finite() && sources[2].is_finite();
        let overflows = single.is_infinite() && rules.round16 & SATURATE != 0 && finite;
        let single = if overflows { f32::MAX.copysign(single) } else { single };
        u32::from(rules.half_out(half::from_f32(single, rules.round16)))
    });
    w.dst = to;
    w.src = [RESULT_ROW, old, old, old];
    map2!(w, |half: u32, old: u32| old & !(0xffff << shift) | half << shift);
}

super::table! { w, step;
    v_pk_mad_i16 => { let k = mods(step).clamp; int3!(w, step, |a, b, c| sat_i(k, signed(a) * signed(b) + signed(c))); },
    v_pk_mad_u16 => { let k = mods(step).clamp; int3!(w, step, |a, b, c| sat_u(k, unsigned(a) * unsigned(b) + unsigned(c))); },
    v_pk_mul_lo_u16 => { let k = mods(step).clamp; int2!(w, step, |a, b| sat_u(k, unsigned(a) * unsigned(b))); },
    v_pk_add_i16 => { let k = mods(step).clamp; int2!(w, step, |a, b| sat_i(k, signed(a) + signed(b))); },
    v_pk_sub_i16 => { let k = mods(step).clamp; int2!(w, step, |a, b| sat_i(k, signed(a) - signed(b))); },
    v_pk_add_u16 => { let k = mods(step).clamp; int2!(w, step, |a, b| sat_u(k, unsigned(a) + unsigned(b))); },
    v_pk_sub_u16 => { let k = mods(step).clamp; int2!(w, step, |a, b| sat_u(k, unsigned(a) - unsigned(b))); },
    v_pk_lshlrev_b16 => int2!(w, step, |a, b| b << (a & 15)),
    v_pk_lshrrev_b16 => int2!(w, step, |a, b| b >> (a & 15)),
    v_pk_ashrrev_i16 => int2!(w, step, |a, b| (b as i16 >> (a & 15)) as u16),
    v_pk_max_i16 => int2!(w, step, |a, b| (a as i16).max(b as i16) as u16),
    v_pk_min_i16 => int2!(w, step, |a, b| (a as i16).min(b as i16) as u16),
    v_pk_max_u16 => int2!(w, step, |a, b| a.max(b)),
    v_pk_min_u16 => int2!(w, step, |a, b| a.min(b)),
    v_pk_fma_f16 => {
        let (m, rules) = (mods(step), Rules::of(w, step));
        map3!(w, |a: u32, b: u32, c: u32| halves!(|high| {
            let (a, b) = (rules.picked(&m, high, 0, a), rules.picked(&m, high, 1, b));
            rules.half_out(half::fma(a, b, rules.picked(&m, high, 2, c), rules.round16))
        }));
    },
    v_pk_add_f16 => rounding!(r = w.round16(); float2!(w, step, |a, b| half::add(a, b, r))),
    v_pk_mul_f16 => rounding!(r = w.round16(); float2!(w, step, |a, b| half::mul(a, b, r))),
    v_pk_minimum_f16 => float2!(w, step, |a, b| half::minimum(a, b)),
    v_pk_maximum_f16 => float2!(w, step, |a, b| half::maximum(a, b)),
    v_pk_minimum3_f16 => float3!(w, step, half::minimum),
    v_pk_maximum3_f16 => float3!(w, step, half::maximum),
    v_pk_min_f16 => { let n = w.nans(); float2!(w, step, |a, b| half::min(a, b, n)); },
    v_pk_max_f16 => { let n = w.nans(); float2!(w, step, |a, b| half::max(a, b, n)); },

    v_pk_fma_f32 => packed_singles!(w, step, map3, fma, fma_round, a: 0, b: 1, c: 2),
    v_pk_mul_f32 => packed_singles!(w, step, map2, mul, mul_round, a: 0, b: 1),
    v_pk_add_f32 => packed_singles!(w, step, map2, add, add_round, a: 0, b: 1),
    // The low dword comes from source 0, the high one from source 1; OP_SEL says which dword of each.
    v_pk_mov_b32 => {
        let m = mods(step);
        map2!(w, |a: u64, b: u64| {
            let low = if m.op_sel & 1 != 0 { a >> 32 } else { a & 0xffff_ffff };
            let high = if m.op_sel & 2 != 0 { b >> 32 } else { b };
            low | high << 32
        });
    },

    v_fma_mix_f32 | v_mad_mix_f32 => mix_single(w, step),
    v_fma_mixlo_f16 | v_mad_mixlo_f16 => mix_half(w, step, 0),
    v_fma_mixhi_f16 | v_mad_mixhi_f16 => mix_half(w, step, 16),

    v_dot2_i32_i16 => dot2!(w, step, dot_i),
    v_dot2_u32_u16 => dot2!(w, step, dot_u),
    v_dot4_i32_i8 => { let k = mods(step).clamp; map3!(w, |a, b, c| dot_i(a, b, c, 8, k)); },
    v_dot4_u32_u8 => { let k = mods(step).clamp; map3!(w, |a, b, c| dot_u(a, b, c, 8, k)); },
    v_dot4_i32_iu8 => { let m = mods(step); map3!(w, |a, b, c| dot_iu(a, b, c, 8, &m)); },
    v_dot8_i32_iu4 => { let m = mods(step); map3!(w, |a, b, c| dot_iu(a, b, c, 4, &m)); },
    v_dot8_i32_i4 => { let k = mods(step).clamp; map3!(w, |a, b, c| dot_i(a, b, c, 4, k)); },
    v_dot8_u32_u4 => { let k = mods(step).clamp; map3!(w, |a, b, c| dot_u(a, b, c, 4, k)); },
}
