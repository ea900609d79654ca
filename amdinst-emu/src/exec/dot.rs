//! Dot products of two halves or bfloat16 values, or four floats of 8 bits, added to a single.
//!
//! The old value, then the product of the low halves, then that of the high halves, each sum rounded to
//! nearest even; `v_dot2_f32_bf16` adds the old value last (CDNA4 ISA manual, pseudocode of the
//! instructions). They ignore MODE and take subnormals, factors' included, for zero (CDNA3 ISA manual,
//! section 6.4; CDNA2's, note on `V_DOT2*`). But of the devices that were measured, those of gfx90a alone
//! take halves so (llvm/llvm-project#205101): what was measured goes before the manual. *Approximate*: where
//! both differ; gfx906 and gfx908, whose manuals give neither order nor subnormals, get the same as later
//! ones; and RDNA 3's, whose devices add in another way than their manual says.

use amdgpu_isa::{Arch, Encoding, Feature, Mods, Op};

use super::float::single;
use super::{half, minifloat, valu, versions};
use crate::check::{Outcome, Trap};
use crate::program::{Context, Extra, Handler, Step, Versions, permutes};
use crate::wave::{Half, RESULT_ROW, Src, Wave, map3, merge, odd_operand};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_dot2_f32_f16 | Op::v_dot2c_f32_f16 => half_dot,
        Op::v_dot2_f32_bf16 | Op::v_dot2c_f32_bf16 => bf16_dot,
        Op::v_dot2_f16_f16 => short_half_dot,
        Op::v_dot2_bf16_bf16 => short_bf16_dot,
        Op::v_dot4_f32_fp8_fp8 | Op::v_dot4_f32_fp8_bf8 | Op::v_dot4_f32_bf8_fp8 | Op::v_dot4_f32_bf8_bf8 => {
            small_dot
        }
        _ => return None,
    })
}

/// In what a result may differ from a device's.
pub(super) fn bound(arch: Arch, op: Op) -> Option<&'static str> {
    handler(op)?;
    if crate::rules::Rules::of(arch.generation()).fused_dots {
        // Seen on a gfx1151: github.com/ROCm/rocm-systems, issue 12056.
        return Some(
            "a device lines up all addends and cuts them off before it adds: the last bits may differ; subnormal halves are kept, as \
             measured (llvm/llvm-project#205101)",
        );
    }
    let takes_halves = matches!(op, Op::v_dot2_f32_f16 | Op::v_dot2c_f32_f16);
    match arch.has(Feature::DefinedDotProducts) {
        false if takes_halves => Some(
            "the manual gives neither the order of additions nor subnormals: order and sums as on later processors, subnormal halves \
             are kept, as measured (llvm/llvm-project#205101)",
        ),
        false => {
            Some("the manual gives neither the order of additions nor subnormals: as on later processors")
        }
        true if takes_halves && !arch.has(Feature::DotFlushesHalves) => Some(
            "subnormal halves are kept, as measured (llvm/llvm-project#205101); the manual flushes them. Of subnormal addends and sums \
             nothing was measured: they are flushed, as the manual has it",
        ),
        true => None,
    }
}

fn half_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    static WITHOUT_SUBNORMALS: Versions = versions!(flushed_halves);
    static WITH_SUBNORMALS: Versions = versions!(halves);
    let flushes = context.program.target.arch.has(Feature::DotFlushesHalves);
    dot(context, step, if flushes { &WITHOUT_SUBNORMALS } else { &WITH_SUBNORMALS })
}

fn bf16_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    static LANES: Versions = versions!(bfloats);
    dot(context, step, &LANES)
}

/// `v_dot2_f16_f16`: each product and sum rounded to nearest even, in the order of the pseudocode (RDNA3 ISA,
/// section 7.2.4 and the instruction).
fn short_half_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    static LANES: Versions = versions!(short_halves);
    short_dot(context, step, &LANES)
}

/// `v_dot2_bf16_bf16`: singles without subnormals, whose upper half is the result. The manual has it rounded
/// to nearest even (RDNA3 ISA, section 7.2.4); on a gfx1200 and a gfx1151 it was seen to be cut off
/// (github.com/triton-lang/triton, issue 11217: 2^20 products).
fn short_bf16_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    static LANES: Versions = versions!(short_bfloats);
    short_dot(context, step, &LANES)
}

/// Which half of a dword a source's first and second factor are. The halves of constants are alike.
#[inline(always)]
fn shifts(step: &Step, slot: usize) -> [u32; 2] {
    if matches!(step.src[slot], Src::Const(_)) { [0, 0] } else { [0, 16] }
}

/// Halves of registers, of 16 bits, to a row of their own: `$dot` of two pairs of factors and an addend.
macro_rules! short_dots {
    ($name:ident, $dot:path) => {
        #[inline(always)]
        fn $name(w: &mut Wave, step: &Step) {
            let select = step.extra.as_ref().map_or(0, |extra| extra.inst.mods.op_sel);
            let (a_shift, b_shift) = (shifts(step, 0), shifts(step, 1));
            let c_shift = shifts(step, 2)[usize::from(select >> 2 & 1)];
            map3!(w, |a: u32, b: u32, c: u32| {
                let first = [(a >> a_shift[0]) as u16, (b >> b_shift[0]) as u16];
                let second = [(a >> a_shift[1]) as u16, (b >> b_shift[1]) as u16];
                $dot(first, second, (c >> c_shift) as u16)
            });
        }
    };
}
short_dots!(short_halves, short_half);
short_dots!(short_bfloats, short_bfloat);

#[inline(always)]
fn short_half([a0, b0]: [u16; 2], [a1, b1]: [u16; 2], c: u16) -> u16 {
    let sum = half::add(half::mul(Half(a0), Half(b0), 0), half::mul(Half(a1), Half(b1), 0), 0);
    half::add(sum, Half(c), 0).0
}

#[inline(always)]
fn short_bfloat([a0, b0]: [u16; 2], [a1, b1]: [u16; 2], c: u16) -> u16 {
    let first = single::flush(single::mul(bfloat(a0), bfloat(b0)));
    let second = single::flush(single::mul(bfloat(a1), bfloat(b1)));
    let sum = single::flush(single::add(single::flush(single::add(first, second)), bfloat(c)));
    (sum.to_bits() >> 16) as u16
}

/// Results of 16 bits: OP_SEL says which half of the third source is read, and which half of the result
/// written.
fn short_dot(context: &mut Context<'_>, step: &Step, lanes: &Versions) -> Outcome {
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let mods = &extra.inst.mods;
    if mods.abs | mods.neg | mods.omod != 0 || mods.clamp {
        return Err(Trap::unimplemented(step.op, "with modifiers that no manual defines"));
    }
    let w = &mut *context.wave;
    with_sources(w, step, extra, |w| {
        w.dst = RESULT_ROW;
        lanes.run(w, step);
        if mods.op_sel & 8 != 0 {
            merge!(w, RESULT_ROW, step.dst, |old, new| old & 0xffff | new << 16);
        } else {
            merge!(w, RESULT_ROW, step.dst, |old, new| old & 0xffff_0000 | new);
        }
    });
    Ok(())
}

/// Does work on the lanes that an instruction writes, whose sources and result are in `w.src` and `w.dst`.
fn with_sources(w: &mut Wave, step: &Step, extra: &Extra, work: impl FnOnce(&mut Wave)) {
    let exec = w.exec;
    valu::resolve(w, step);
    valu::permute(w, extra, 1);
    w.dst = step.dst;
    work(w);
    if w.exec != exec {
        w.sync_exec();
    }
}

/// `v_dot4_f32_*`: of four products of FP8 and BF8, each exact, and the third source, which alone takes
/// signs; each sum rounded to nearest even in the order of the pseudocode (RDNA4 ISA, section 7.7 and the
/// instructions).
fn small_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    static LANES: Versions = versions!(small_floats);
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    with_sources(context.wave, step, extra, |w| LANES.run(w, step));
    Ok(())
}

#[inline(always)]
fn small_floats(w: &mut Wave, step: &Step) {
    let [a_format, b_format] = match step.op {
        Op::v_dot4_f32_fp8_fp8 => [minifloat::FP8_OCP, minifloat::FP8_OCP],
        Op::v_dot4_f32_fp8_bf8 => [minifloat::FP8_OCP, minifloat::BF8_OCP],
        Op::v_dot4_f32_bf8_fp8 => [minifloat::BF8_OCP, minifloat::FP8_OCP],
        _ => [minifloat::BF8_OCP, minifloat::BF8_OCP],
    };
    let (a_values, b_values) = (a_format.values(), b_format.values());
    let (neg, neg_hi) =
        step.extra.as_ref().map_or((0, 0), |extra| (extra.inst.mods.neg, extra.inst.mods.neg_hi));
    map3!(w, |a: u32, b: u32, c: f32| {
        let c = if neg_hi & 4 != 0 { c.abs() } else { c };
        let mut sum = if neg & 4 != 0 { -c } else { c };
        for at in [0, 8, 16, 24] {
            let product =
                single::mul(a_values[(a >> at & 0xff) as usize], b_values[(b >> at & 0xff) as usize]);
            sum = single::add(sum, product);
        }
        sum
    });
}

/// Signs and halves of one source: of the low and of the high product.
#[derive(Clone, Copy)]
struct Pick {
    shift: [u32; 2],
    sign: [u16; 2],
}

impl Pick {
    #[inline(always)]
    fn part(self, bits: u32, high: usize) -> u16 {
        (bits >> self.shift[high]) as u16 ^ self.sign[high]
    }
}

#[inline(always)]
fn pick(mods: &Mods, encoding: Encoding, source: usize) -> Pick {
    let bit = |field: u8| field >> source & 1;
    let sign = |field: u8| if bit(field) != 0 { 0x8000 } else { 0 };
    if encoding.is_vop3p() {
        let shift = [mods.op_sel, mods.op_sel_hi].map(|select| if bit(select) != 0 { 16 } else { 0 });
        return Pick { shift, sign: [sign(mods.neg), sign(mods.neg_hi)] };
    }
    // VOP3 has ABS where VOP3P has NEG_HI (CDNA4 ISA manual, `V_DOT2C_F32_BF16`).
    Pick { shift: [0, 16], sign: [sign(mods.neg), sign(mods.abs)] }
}

#[inline(always)]
fn flushed_half(bits: u16) -> f32 {
    half::value(half::flush(Half(bits)))
}

#[inline(always)]
fn plain_half(bits: u16) -> f32 {
    half::value(Half(bits))
}

#[inline(always)]
fn bfloat(bits: u16) -> f32 {
    single::flush(half::bf16(bits))
}

/// The dot products of lanes, whose factors have the values that `$value` gives.
macro_rules! dots {
    ($name:ident, $value:path) => {
        #[inline(always)]
        fn $name(w: &mut Wave, step: &Step) {
            let Some(extra) = &step.extra else { return };
            let (mods, encoding) = (&extra.inst.mods, extra.inst.encoding);
            let accumulates = !encoding.is_vop3p();
            let (a_pick, b_pick) = (pick(mods, encoding, 0), pick(mods, encoding, 1));
            // BF16's third source takes no sign.
            let negates = !accumulates && mods.neg >> 2 & 1 != 0 && step.op == Op::v_dot2_f32_f16;
            let addend_last = step.op == Op::v_dot2_f32_bf16 || !accumulates && w.rules.dot_adds_last;
            let (clamp, nan_to_zero) = (mods.clamp, w.dx10_clamp());
            map3!(w, |a: u32, b: u32, c: f32| {
                let low = single::flush(single::mul($value(a_pick.part(a, 0)), $value(b_pick.part(b, 0))));
                let high = single::flush(single::mul($value(a_pick.part(a, 1)), $value(b_pick.part(b, 1))));
                let c = single::flush(c);
                let c = if negates { -c } else { c };
                let (first, second) = if addend_last { (low, high) } else { (c, low) };
                let third = if addend_last { c } else { high };
                let sum = single::flush(single::add(first, second));
                let sum = single::flush(single::add(sum, third));
                if clamp { single::clamp(sum, nan_to_zero) } else { sum }
            });
        }
    };
}
dots!(flushed_halves, flushed_half);
dots!(halves, plain_half);
dots!(bfloats, bfloat);

fn dot(context: &mut Context<'_>, step: &Step, lanes: &Versions) -> Outcome {
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let (mods, encoding) = (&extra.inst.mods, extra.inst.encoding);
    let w = &mut *context.wave;
    if w.gpr_index.enable != 0 {
        return Err(Trap::unimplemented(step.op, "with relative addressing of VGPRs"));
    }
    if mods.omod != 0 || permutes(mods) && mods.abs | mods.neg != 0 {
        return Err(Trap::unimplemented(step.op, "with modifiers that no manual defines"));
    }
    with_sources(w, step, extra, |w| {
        if !encoding.is_vop3p() {
            w.src[2] = step.dst;
        }
        lanes.run(w, step);
    });
    Ok(())
}
