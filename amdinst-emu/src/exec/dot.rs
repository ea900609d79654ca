//! Dot products of two halves or bfloat16 values, or four floats of 8 bits, added to a single.
//!
//! The old value, then the product of the low halves, then that of the high halves, each sum rounded to nearest even;
//! `v_dot2_f32_bf16` adds the old value last (CDNA4 ISA manual, pseudocode of the instructions). They ignore MODE and take
//! subnormals, factors' included, for zero (CDNA3 ISA manual, section 6.4; CDNA2's, note on `V_DOT2*`). But of the devices that were
//! measured, those of gfx90a alone take halves so (llvm/llvm-project#205101): what was measured goes before the manual. *Approximate*:
//! where both differ; gfx906 and gfx908, whose manuals give neither order nor subnormals, get the same as later ones; and RDNA 3's,
//! whose devices add in another way than their manual says.

use amdgpu_isa::{Arch, Encoding, Feature, Mods, Op};

use super::float::single;
use super::{Context, half, minifloat, valu};
use crate::check::{Outcome, Trap};
use crate::program::{Handler, Src, Step};
use crate::wave::{Half, LANES, Wave, odd_operand};

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
    if context.program.target.arch.has(Feature::DotFlushesHalves) {
        dot(context, step, |bits| half::value(half::flush(Half(bits))))
    } else {
        dot(context, step, |bits| half::value(Half(bits)))
    }
}

fn bf16_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    dot(context, step, |bits| single::flush(half::bf16(bits)))
}

/// `v_dot2_f16_f16`: each product and sum rounded to nearest even, in the order of the pseudocode (RDNA3 ISA, section 7.2.4 and the
/// instruction).
fn short_half_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    short_dot(context, step, |[a0, a1], [b0, b1], c| {
        let sum = half::add(half::mul(Half(a0), Half(b0), 0), half::mul(Half(a1), Half(b1), 0), 0);
        half::add(sum, Half(c), 0).0
    })
}

/// `v_dot2_bf16_bf16`: singles without subnormals, whose upper half is the result. The manual has it rounded to nearest even (RDNA3 ISA,
/// section 7.2.4); on a gfx1200 and a gfx1151 it was seen to be cut off (github.com/triton-lang/triton, issue 11217: 2^20 products).
fn short_bf16_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    let value = |bits: u16| single::flush(half::bf16(bits));
    short_dot(context, step, move |[a0, a1], [b0, b1], c| {
        let [first, second] =
            [(a0, b0), (a1, b1)].map(|(a, b)| single::flush(single::mul(value(a), value(b))));
        let sum = single::flush(single::add(single::flush(single::add(first, second)), value(c)));
        (sum.to_bits() >> 16) as u16
    })
}

/// Results of 16 bits: OP_SEL says which half of the third source is read, and which half of the result written.
fn short_dot(
    context: &mut Context<'_>,
    step: &Step,
    dot: impl Fn([u16; 2], [u16; 2], u16) -> u16,
) -> Outcome {
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let mods = &extra.inst.mods;
    if mods.abs | mods.neg | mods.omod != 0 || mods.clamp {
        return Err(Trap::unimplemented(step.op, "with modifiers that no manual defines"));
    }
    let w = &mut *context.wave;
    let exec = w.exec;
    valu::resolve(w, step);
    valu::permute(w, extra, 1);
    let [a_row, b_row, c_row, _] = w.src;
    // The halves of constants are alike.
    let halves = |w: &Wave, slot: usize, row: u16, lane: usize| {
        let value = w.lane::<u32>(row, lane);
        match step.src[slot] {
            Src::Const(_) => [value as u16; 2],
            _ => [value as u16, (value >> 16) as u16],
        }
    };
    for lane in 0..w.lanes() {
        if !w.active(lane) {
            continue;
        }
        let [a, b] = [(0, a_row), (1, b_row)].map(|(slot, row)| halves(w, slot, row, lane));
        let c = halves(w, 2, c_row, lane)[usize::from(mods.op_sel >> 2 & 1)];
        let value = u32::from(dot(a, b, c));
        let old = w.lane::<u32>(step.dst, lane);
        let high = mods.op_sel & 8 != 0;
        w.set_lane(step.dst, lane, if high { old & 0xffff | value << 16 } else { old & 0xffff_0000 | value });
    }
    if w.exec != exec {
        w.sync_exec();
    }
    Ok(())
}

/// `v_dot4_f32_*`: of four products of FP8 and BF8, each exact, and the third source, which alone takes signs; each sum rounded to
/// nearest even in the order of the pseudocode (RDNA4 ISA, section 7.7 and the instructions).
fn small_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let mods = &extra.inst.mods;
    let [a_format, b_format] = match step.op {
        Op::v_dot4_f32_fp8_fp8 => [minifloat::FP8_OCP, minifloat::FP8_OCP],
        Op::v_dot4_f32_fp8_bf8 => [minifloat::FP8_OCP, minifloat::BF8_OCP],
        Op::v_dot4_f32_bf8_fp8 => [minifloat::BF8_OCP, minifloat::FP8_OCP],
        _ => [minifloat::BF8_OCP, minifloat::BF8_OCP],
    };
    let w = &mut *context.wave;
    let exec = w.exec;
    valu::resolve(w, step);
    valu::permute(w, extra, 1);
    let [a_row, b_row, c_row, _] = w.src;
    for lane in 0..w.lanes() {
        if !w.active(lane) {
            continue;
        }
        let (a, b) = (w.lane::<u32>(a_row, lane), w.lane::<u32>(b_row, lane));
        let c = w.lane::<f32>(c_row, lane);
        let c = if mods.neg_hi & 4 != 0 { c.abs() } else { c };
        let c = if mods.neg & 4 != 0 { -c } else { c };
        let value = [0, 8, 16, 24].into_iter().fold(c, |sum, at| {
            let product = single::mul(a_format.value(a >> at & 0xff), b_format.value(b >> at & 0xff));
            single::add(sum, product)
        });
        w.set_lane(step.dst, lane, value);
    }
    if w.exec != exec {
        w.sync_exec();
    }
    Ok(())
}

/// Signs and halves of one source: of the low and of the high product.
#[derive(Clone, Copy)]
struct Pick {
    shift: [u32; 2],
    sign: [u16; 2],
}

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

fn dot(context: &mut Context<'_>, step: &Step, value: impl Fn(u16) -> f32) -> Outcome {
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let (mods, encoding) = (&extra.inst.mods, extra.inst.encoding);
    let w = &mut *context.wave;
    if w.gpr_index.enable != 0 {
        return Err(Trap::unimplemented(step.op, "with relative addressing of VGPRs"));
    }
    if mods.omod != 0 || valu::permutes(mods) && mods.abs | mods.neg != 0 {
        return Err(Trap::unimplemented(step.op, "with modifiers that no manual defines"));
    }
    let exec = w.exec;
    valu::resolve(w, step);
    valu::permute(w, extra, 1);
    let accumulates = !encoding.is_vop3p();
    let [a_row, b_row, c_row, _] = w.src;
    let c_row = if accumulates { step.dst } else { c_row };
    let [a_pick, b_pick] = [0, 1].map(|source| pick(mods, encoding, source));
    // BF16's third source takes no sign.
    let negate_c = !accumulates && mods.neg >> 2 & 1 != 0 && step.op == Op::v_dot2_f32_f16;
    let addend_last = step.op == Op::v_dot2_f32_bf16 || !accumulates && w.rules.dot_adds_last;
    let nan_to_zero = w.dx10_clamp();
    for lane in (0..LANES).filter(|lane| w.exec >> lane & 1 != 0).collect::<Vec<_>>() {
        let (a, b) = (w.lane::<u32>(a_row, lane), w.lane::<u32>(b_row, lane));
        let c = single::flush(w.lane::<f32>(c_row, lane));
        let part =
            |bits: u32, pick: Pick, high: usize| value((bits >> pick.shift[high]) as u16 ^ pick.sign[high]);
        let product = |high| single::flush(single::mul(part(a, a_pick, high), part(b, b_pick, high)));
        let c = if negate_c { -c } else { c };
        let terms = [c, product(0), product(1)];
        let [first, second, third] = if addend_last { [terms[1], terms[2], terms[0]] } else { terms };
        let sum = single::flush(single::add(first, second));
        let sum = single::flush(single::add(sum, third));
        let sum = if mods.clamp { single::clamp(sum, nan_to_zero) } else { sum };
        w.set_lane(step.dst, lane, sum);
    }
    if w.exec != exec {
        w.sync_exec();
    }
    Ok(())
}
