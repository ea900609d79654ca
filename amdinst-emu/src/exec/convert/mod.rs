//! Conversions from and to formats of 4 to 16 bits: gfx942's `v_cvt_*_fp8` and `_bf8`, gfx950's
//! `v_cvt_scalef32_*`, `v_cvt_sr_*`, `v_cvt_pk_f16_f32`, `v_cvt_pk_bf16_f32` and `v_cvt_f32_bf16` (CDNA3 ISA
//! manual, section 7.2; CDNA4, section 7.3 and the pseudocode of the instructions).
//!
//! A scale is the exponent of a single: conversions to small formats divide by 2^(exponent - 127), those from
//! small formats multiply; the exponent 255 makes every result NaN. FP16_OVFL keeps overflowing FP8, BF8 and
//! half results at the largest number; FP6 and FP4 results always saturate.
//!
//! *Approximate*: which NaN a conversion gives (the quiet one of the result's format, with the source's
//! sign).

mod elements;
mod plan;
mod rows;

use amdgpu_isa::{Arch, Op, SdwaSel};

use self::elements::{Operand, Sink};
use self::plan::{Part, Plan};
use super::float::single;
use super::half;
use super::minifloat::{self, Format, Number, Rounding};
use crate::check::{Outcome, Trap};
use crate::program::{Context, Extra, Handler, Step, permutes};
use crate::rules::Rules;
use crate::wave::{Half, SOURCE_ROWS, Wave, lanes_of, odd_operand};

/// The function that executes a conversion.
pub(super) fn handler(op: Op) -> Option<Handler> {
    plan::of(op).map(|_| execute as Handler)
}

/// In what a conversion's result may differ from a device's.
pub(super) fn bound(op: Op) -> Option<&'static str> {
    let plan = plan::of(op)?;
    let published = plan.seed.is_none() || plan.from == minifloat::F32 && plan.to.bits() == 8;
    Some(if published {
        "which NaN comes of a NaN is not published"
    } else {
        "which bits of the seed count, and which NaN comes of a NaN, is taken from AMD's host version of the conversion"
    })
}

/// `v_prng_b32`: one step of a linear feedback shift register.
pub(super) fn random(seed: u32) -> u32 {
    seed << 1 ^ if seed >> 31 != 0 { 197 } else { 0 }
}

fn execute(context: &mut Context<'_>, step: &Step) -> Outcome {
    let plan = plan::of(step.op).ok_or_else(|| Trap::unimplemented(step.op, ""))?;
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    supported(plan, step.op, extra)?;
    let arch = context.program.target.arch;
    let w = &mut *context.wave;
    let exec = w.exec;
    if permutes(&extra.inst.mods) {
        super::valu::resolve(w, step);
        super::valu::permute(w, extra, 1);
    }
    let sources = elements::sources(w, plan, extra).ok_or_else(|| odd_operand(step.op))?;
    let conversion = Conversion::new(w, plan, extra, arch);
    if !rows::convert(w, &conversion, &sources, step.dst) {
        for lane in lanes_of(w.exec) {
            conversion.one_lane(w, &sources, lane).write(w, step.dst, lane);
        }
    }
    if w.exec != exec {
        w.sync_exec();
    }
    Ok(())
}

/// Refuse what no manual defines.
fn supported(plan: &Plan, op: Op, extra: &Extra) -> Outcome {
    let mods = &extra.inst.mods;
    let packed = plan.from.bits() == 16 && plan.count > 1;
    if packed && mods.abs | mods.neg != 0 {
        return Err(Trap::unimplemented(op, "with source modifiers on packed halves"));
    }
    if mods.omod != 0 && plan.to != minifloat::F32 {
        return Err(Trap::unimplemented(op, "with an output modifier"));
    }
    if let Some(sdwa) = &mods.sdwa
        && plan.from == minifloat::BF16
        && sdwa.dst_sel != SdwaSel::Dword
    {
        return Err(Trap::unimplemented(op, "with a partial SDWA result"));
    }
    Ok(())
}

/// What is the same for all lanes.
struct Conversion<'a> {
    plan: &'a Plan,
    extra: &'a Extra,
    from: Format,
    to: Format,
    first: u32,
    saturates: bool,
    flushes_sources: bool,
    flushes_results: bool,
    /// What becomes of each code of a small format, if that is all there is to know.
    codes: Option<&'static [u32; 256]>,
    /// The output modifier or clamping applies.
    is_finished: bool,
}

impl<'a> Conversion<'a> {
    fn new(w: &Wave, plan: &'a Plan, extra: &'a Extra, arch: Arch) -> Self {
        let (from, to) = (plan.format(plan.from, arch), plan.format(plan.to, arch));
        let ovfl = w.mode >> 23 & 1 != 0;
        let mods = &extra.inst.mods;
        Self {
            plan,
            extra,
            from,
            to,
            first: first_bit(plan, extra, w.rules),
            saturates: ovfl && (to.bits() <= 8 || to == minifloat::F16),
            flushes_sources: from == minifloat::F32 && w.mode >> 4 & 1 == 0,
            // From singles to halves as `v_cvt_f16_f32`: "Flush denorms on output if specified based on DP
            // denorm mode".
            flushes_results: from == minifloat::F32
                && to == minifloat::F16
                && plan.scale.is_none()
                && w.mode >> 7 & 1 == 0,
            codes: plan.scale.is_none().then(|| from.codes_in(to)).flatten(),
            is_finished: mods.omod != 0 || mods.clamp,
        }
    }

    fn one_lane(&self, w: &Wave, sources: &[Operand; 3], lane: usize) -> Sink {
        let &Self { plan, extra, from, to, first, .. } = self;
        let scale = plan.scale.map(|at| (sources[at].word(w, lane, 0) >> 23 & 0xff) as i32);
        let mut seed = plan.seed.map(|at| sources[at].word(w, lane, 0));
        let mut sink = Sink::new(to, plan.place(extra.inst.mods.op_sel));
        for at in 0..plan.count {
            let (source, index) = plan.element(at);
            let code = sources[source].element(w, lane, first, from, index);
            let result = match self.codes {
                Some(codes) => codes[(code & 0xff) as usize],
                None => {
                    let (stay, invert) = signs(plan, extra, source, from);
                    self.rounded(code & stay ^ invert, scale, seed)
                }
            };
            sink.push(if self.is_finished { finished(w, plan, extra, result) } else { result });
            seed = seed.map(random);
        }
        sink
    }

    /// The result's code for a source's.
    fn rounded(&self, code: u32, scale: Option<i32>, seed: Option<u32>) -> u32 {
        let &Self { plan, from, to, saturates, .. } = self;
        let code = if self.flushes_sources { single::flush(f32::from_bits(code)).to_bits() } else { code };
        let number = match (from.number(code), scale) {
            (_, Some(255)) => Number::Nan { negative: code & from.sign() != 0 },
            (number, Some(scale)) if plan.narrows() => number.scaled(127 - scale),
            (number, Some(scale)) => number.scaled(scale - 127),
            (number, None) => number,
        };
        let rounding = seed.map_or(Rounding::NearestEven, Rounding::Stochastic);
        // A true infinity stays one in half precision.
        let keeps = to == minifloat::F16 && matches!(number, Number::Infinite { .. });
        let result = to.encode(number, rounding, saturates && !keeps);
        if self.flushes_results { half::flush(Half(result as u16)).0.into() } else { result }
    }
}

/// The lowest bit of the source that the instruction selects by OP_SEL or SDWA.
fn first_bit(plan: &Plan, extra: &Extra, rules: &Rules) -> u32 {
    let mods = &extra.inst.mods;
    if let Some(sdwa) = &mods.sdwa {
        return match sdwa.src_sel[0] {
            SdwaSel::Byte1 => 8,
            SdwaSel::Byte2 | SdwaSel::Word1 => 16,
            SdwaSel::Byte3 => 24,
            SdwaSel::Byte0 | SdwaSel::Word0 | SdwaSel::Dword => 0,
        };
    }
    match plan.source {
        Part::Whole => 0,
        Part::Word => 16 * u32::from(mods.op_sel & 1),
        Part::Byte => rules.source_bytes[usize::from(mods.op_sel & 3)].into(),
    }
}

/// Absolute values and negation of sources of 16 and 32 bits; smaller ones take no modifiers: the bits that
/// stay, and those that are inverted then.
fn signs(plan: &Plan, extra: &Extra, source: usize, from: Format) -> (u32, u32) {
    let mods = &extra.inst.mods;
    let takes = |modifier: u8| plan.from.bits() >= 16 && modifier >> source & 1 != 0;
    (if takes(mods.abs) { !from.sign() } else { !0 }, if takes(mods.neg) { from.sign() } else { 0 })
}

/// Output modifier and clamp.
fn finished(w: &Wave, plan: &Plan, extra: &Extra, code: u32) -> u32 {
    let mods = &extra.inst.mods;
    let format = plan.to;
    let nan_to_zero = w.dx10_clamp();
    if format == minifloat::F32 {
        let value = f32::from_bits(code);
        let (_, power) = w.output(mods.omod, w.mode >> 5 & 1 != 0);
        let value = if power == 0 { value } else { single::omod(value, power, w.round32()) };
        return if mods.clamp { single::clamp(value, nan_to_zero) } else { value }.to_bits();
    }
    if !mods.clamp || format.bits() < 16 {
        return code;
    }
    let one = format.encode(minifloat::F32.number(1f32.to_bits()), Rounding::NearestEven, false);
    match format.number(code) {
        Number::Nan { .. } if !nan_to_zero => code,
        Number::Nan { .. } => 0,
        _ if code & format.sign() != 0 => 0,
        _ => code.min(one),
    }
}

/// Where DPP leaves the permuted source.
const PERMUTED: u16 = SOURCE_ROWS;
