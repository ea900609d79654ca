//! Dot products of two halves or bfloat16 values, added to a single.
//!
//! The old value, then the product of the low halves, then that of the high halves, each sum rounded to nearest even;
//! `v_dot2_f32_bf16` adds the old value last (CDNA4 ISA manual, pseudocode of the instructions). They ignore MODE and take
//! subnormals, factors' included, for zero (CDNA3 ISA manual, section 6.4; CDNA2's, note on `V_DOT2*`). *Approximate*:
//! gfx906 and gfx908, whose manuals give neither order nor subnormals, get the same.

use amdgpu_isa::{Arch, Encoding, Feature, Mods, Op};

use super::float::single;
use super::{Context, half, valu};
use crate::check::{Outcome, Trap};
use crate::program::{Handler, Step};
use crate::wave::{Half, LANES, odd_operand};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::v_dot2_f32_f16 | Op::v_dot2c_f32_f16 => half_dot,
        Op::v_dot2_f32_bf16 | Op::v_dot2c_f32_bf16 => bf16_dot,
        _ => return None,
    })
}

/// In what a result may differ from a device's.
pub(super) fn bound(arch: Arch, op: Op) -> Option<&'static str> {
    let older = !arch.has(Feature::DefinedDotProducts) && handler(op).is_some();
    older.then_some("the manual gives neither the order of additions nor subnormals: as on later processors")
}

fn half_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    dot(context, step, |bits| half::value(half::flush(Half(bits))))
}

fn bf16_dot(context: &mut Context<'_>, step: &Step) -> Outcome {
    dot(context, step, |bits| single::flush(half::bf16(bits)))
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
    if encoding == Encoding::Vop3p {
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
    if mods.omod != 0 || mods.dpp.is_some() && mods.abs | mods.neg != 0 {
        return Err(Trap::unimplemented(step.op, "with modifiers that no manual defines"));
    }
    let exec = w.exec;
    valu::resolve(w, step);
    if let Some(dpp) = &mods.dpp {
        valu::permute(w, dpp, 1);
    }
    let accumulates = encoding != Encoding::Vop3p;
    let [a_row, b_row, c_row, _] = w.src;
    let c_row = if accumulates { step.dst } else { c_row };
    let [a_pick, b_pick] = [0, 1].map(|source| pick(mods, encoding, source));
    // BF16's third source takes no sign.
    let negate_c = !accumulates && mods.neg >> 2 & 1 != 0 && step.op == Op::v_dot2_f32_f16;
    let addend_last = step.op == Op::v_dot2_f32_bf16;
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
