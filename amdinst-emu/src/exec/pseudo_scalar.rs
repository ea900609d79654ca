//! Transcendental functions of one scalar in the vector ALU: `v_s_*` (RDNA4 ISA, section 7.10). EXEC does not
//! matter to them.

use amdgpu_isa::Op;

use super::float::single;
use super::{half, math};
use crate::check::Outcome;
use crate::program::{Context, Handler, Step};
use crate::wave::{Half, Wave, odd_operand};

/// The function that executes such an instruction.
pub(super) fn handler(op: Op) -> Option<Handler> {
    (of_single(op).is_some() || of_half(op).is_some()).then_some(execute as Handler)
}

/// A function of singles.
fn of_single(op: Op) -> Option<fn(f32) -> f32> {
    Some(match op {
        Op::v_s_exp_f32 => math::exp32,
        Op::v_s_log_f32 => math::log32,
        Op::v_s_rcp_f32 => math::rcp32,
        Op::v_s_rsq_f32 => math::rsq32,
        Op::v_s_sqrt_f32 => math::sqrt32,
        _ => return None,
    })
}

/// A function of halves, in double precision.
fn of_half(op: Op) -> Option<fn(f64) -> f64> {
    Some(match op {
        Op::v_s_exp_f16 => half::exp2,
        Op::v_s_log_f16 => f64::log2,
        Op::v_s_rcp_f16 => |a| 1.0 / a,
        Op::v_s_rsq_f16 => |a| 1.0 / a.sqrt(),
        Op::v_s_sqrt_f16 => f64::sqrt,
        _ => return None,
    })
}

/// The operation, with the instruction's modifiers and MODE's as those of the vector ALU have them.
fn execute(context: &mut Context<'_>, step: &Step) -> Outcome {
    let Some(extra) = &step.extra else { return Err(odd_operand(step.op)) };
    let mods = &extra.inst.mods;
    let w = &mut *context.wave;
    let bits = w.scalar32(step.src[0]);
    let signed = |bits: u32, sign: u32| {
        let bits = if mods.abs & 1 != 0 { bits & !sign } else { bits };
        if mods.neg & 1 != 0 { bits ^ sign } else { bits }
    };
    let result = match (of_single(step.op), of_half(step.op)) {
        (Some(f), _) => {
            let a = f32::from_bits(signed(bits, 1 << 31));
            let (keeps, power) = keeps(w, mods.omod, 4);
            let value = f(if keeps.inputs { a } else { single::flush(a) });
            let value = if keeps.outputs { value } else { single::flush(value) };
            let value = if power == 0 { value } else { single::omod(value, power, w.round32()) };
            if mods.clamp { single::clamp(value, w.dx10_clamp()) } else { value }.to_bits()
        }
        (None, Some(f)) => {
            let a = Half(signed(bits, 1 << 15) as u16);
            let (keeps, power) = keeps(w, mods.omod, 6);
            let value = half::unary(if keeps.inputs { a } else { half::flush(a) }, w.round16(), f);
            let value = if keeps.outputs { value } else { half::flush(value) };
            let value = if power == 0 { value } else { half::omod(value, power, w.round16()) };
            u32::from(if mods.clamp { half::clamp(value, w.dx10_clamp()) } else { value }.0)
        }
        (None, None) => return Err(odd_operand(step.op)),
    };
    w.set_s32(step.sdst, result);
    Ok(())
}

/// Whether subnormals are kept.
struct Keeps {
    inputs: bool,
    outputs: bool,
}

/// What MODE says of subnormals from its bit `first` on, with the output modifier's power of two.
fn keeps(w: &Wave, omod: u8, first: u32) -> (Keeps, i32) {
    let (outputs, power) = w.output(omod, w.mode >> (first + 1) & 1 != 0);
    (Keeps { inputs: w.mode >> first & 1 != 0, outputs }, power)
}
