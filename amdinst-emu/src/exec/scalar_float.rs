//! Floats in the scalar ALU: gfx1150 and later. Rounding and subnormals are as MODE has them; there are no
//! modifiers.

use amdgpu_isa::{Compared, Comparison, Op};

use super::float::{self, single};
use super::half;
use crate::check::Outcome;
use crate::program::{Context, Step};
use crate::wave::{Half, Wave};

/// Executes such an instruction of SOP1, SOP2 or SOPC; `None` if it is none.
pub(super) fn execute(context: &mut Context<'_>, step: &Step) -> Option<Outcome> {
    let w = &mut *context.wave;
    if let Some(holds) = compared(w, step) {
        w.scc = holds;
        return Some(Ok(()));
    }
    let value = single_result(w, step).or_else(|| half_result(w, step))?;
    w.set_s32(step.sdst, value);
    Some(Ok(()))
}

/// What MODE says of subnormals of a format: whether sources keep them, and results.
fn keeps(mode: u32, first: u32) -> (bool, bool) {
    (mode >> first & 1 != 0, mode >> (first + 1) & 1 != 0)
}

/// A single, without subnormals if they are not kept.
fn single_kept(value: f32, keeps: bool) -> f32 {
    if keeps { value } else { single::flush(value) }
}

/// A half, without subnormals if they are not kept.
fn half_kept(value: Half, keeps: bool) -> Half {
    if keeps { value } else { half::flush(value) }
}

/// A source as a single.
fn single_source(w: &Wave, step: &Step, slot: usize) -> f32 {
    single_kept(f32::from_bits(w.scalar32(step.src[slot])), keeps(w.mode, 4).0)
}

/// A source as a half.
fn half_source(w: &Wave, step: &Step, slot: usize) -> Half {
    half_kept(Half(w.scalar32(step.src[slot]) as u16), keeps(w.mode, 6).0)
}

/// The result of an operation on singles, or of a conversion.
fn single_result(w: &Wave, step: &Step) -> Option<u32> {
    let (round, nans) = (w.round32(), w.nans());
    let a = single_source(w, step, 0);
    let bits = w.scalar32(step.src[0]);
    let [b, c] = [1, 2].map(|slot| single_source(w, step, slot));
    let fma = |a: f32, b: f32, c: f32| match round {
        0 => single::fma(a, b, c),
        round => single::fma_round(a, b, c, round),
    };
    let from_integer = |value: f64| if round == 0 { value as f32 } else { float::narrow(value, round) };
    let value = match step.op {
        Op::s_add_f32 if round == 0 => single::add(a, b),
        Op::s_add_f32 => single::add_round(a, b, round),
        Op::s_sub_f32 if round == 0 => single::add(a, if b.is_nan() { b } else { -b }),
        Op::s_sub_f32 => single::sub_round(a, b, round),
        Op::s_mul_f32 if round == 0 => single::mul(a, b),
        Op::s_mul_f32 => single::mul_round(a, b, round),
        Op::s_min_f32 => single::min(a, b, nans),
        Op::s_max_f32 => single::max(a, b, nans),
        Op::s_minimum_f32 => single::minimum(a, b),
        Op::s_maximum_f32 => single::maximum(a, b),
        Op::s_fmac_f32 => {
            let old = f32::from_bits(w.s[usize::from(step.sdst & 127)]);
            fma(a, b, single_kept(old, keeps(w.mode, 4).0))
        }
        // The literal stands where the text has it.
        Op::s_fmaak_f32 | Op::s_fmamk_f32 => fma(a, b, c),
        Op::s_ceil_f32 => single::fix1(a, a.ceil()),
        Op::s_floor_f32 => single::fix1(a, a.floor()),
        Op::s_trunc_f32 => single::fix1(a, a.trunc()),
        Op::s_rndne_f32 => single::fix1(a, a.round_ties_even()),
        Op::s_cvt_f32_i32 => from_integer(f64::from(bits as i32)),
        Op::s_cvt_f32_u32 => from_integer(f64::from(bits)),
        Op::s_cvt_f32_f16 => wide(half_source(w, step, 0)),
        Op::s_cvt_hi_f32_f16 => wide(half_kept(Half((bits >> 16) as u16), keeps(w.mode, 6).0)),
        Op::s_cvt_i32_f32 => return Some(a as i32 as u32),
        Op::s_cvt_u32_f32 => return Some(a as u32),
        Op::s_cvt_pk_rtz_f16_f32 => {
            let one = |a: f32| u32::from(half_kept(half::from_f32(a, 3), keeps(w.mode, 6).1).0);
            return Some(one(a) | one(b) << 16);
        }
        _ => return None,
    };
    Some(single_kept(value, keeps(w.mode, 4).1).to_bits())
}

/// A half's value, a NaN quieted.
fn wide(value: Half) -> f32 {
    single::fix1(half::value(value), half::value(value))
}

/// The result of an operation on halves.
fn half_result(w: &Wave, step: &Step) -> Option<u32> {
    let (round, nans) = (w.round16(), w.nans());
    let [a, b] = [0, 1].map(|slot| half_source(w, step, slot));
    let value = match step.op {
        Op::s_add_f16 => half::add(a, b, round),
        Op::s_sub_f16 => half::sub(a, b, round),
        Op::s_mul_f16 => half::mul(a, b, round),
        Op::s_min_f16 => half::min(a, b, nans),
        Op::s_max_f16 => half::max(a, b, nans),
        Op::s_minimum_f16 => half::minimum(a, b),
        Op::s_maximum_f16 => half::maximum(a, b),
        Op::s_fmac_f16 => {
            let old = Half(w.s[usize::from(step.sdst & 127)] as u16);
            half::fma(a, b, half_kept(old, keeps(w.mode, 6).0), round)
        }
        Op::s_ceil_f16 => half::unary(a, 0, f64::ceil),
        Op::s_floor_f16 => half::unary(a, 0, f64::floor),
        Op::s_trunc_f16 => half::unary(a, 0, f64::trunc),
        Op::s_rndne_f16 => half::unary(a, 0, f64::round_ties_even),
        Op::s_cvt_f16_f32 => half::from_f32(single_source(w, step, 0), round),
        _ => return None,
    };
    Some(half_kept(value, keeps(w.mode, 6).1).0.into())
}

/// Whether a comparison holds; `None` if the instruction is none.
fn compared(w: &Wave, step: &Step) -> Option<bool> {
    let Comparison { relation, operands } = step.op.comparison()?;
    let [a, b] = match operands {
        Compared::F32 => [0, 1].map(|slot| single_source(w, step, slot)),
        Compared::F16 => [0, 1].map(|slot| half::value(half_source(w, step, slot))),
        _ => return None,
    };
    Some(relation.holds(a.partial_cmp(&b)))
}
