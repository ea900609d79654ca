//! Lane-wise arithmetic: sources are brought into rows, a table's loop does the operation, the result is
//! finished.
//!
//! Modifiers never reach the loops: negation, absolute values, SDWA and DPP selections make a changed copy of
//! the source beforehand; output modifiers, clamping and partial writes work on the result afterwards.

use amdgpu_isa::{Access, Mods, NumberKind, Op, Sdwa, SdwaSel, SdwaUnused};

use super::float::{double, single};
use super::{half, rounding};
use crate::check::{Outcome, Trap};
use crate::program::{Context, Extra, Step};
use crate::wave::{Half, M0, RESULT_ROW, SOURCE_ROWS, Src, Wave, merge, remake};

/// Run an operation of one of the tables.
pub(super) fn valu(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    if !is_slow(w, step) {
        resolve(w, step);
        w.dst = step.dst;
        w.src[3] = step.dst;
        step.lanes.run(w, step);
        return Ok(());
    }
    #[cfg(target_arch = "x86_64")]
    if w.avx2 {
        // SAFETY: `Wave::new` sets it only where the host has these features.
        return unsafe { modified_avx2(w, step) };
    }
    modified(w, step)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn modified_avx2(w: &mut Wave, step: &Step) -> Outcome {
    modified(w, step)
}

/// An operation whose operands or result need more than rows.
#[inline(always)]
fn modified(w: &mut Wave, step: &Step) -> Outcome {
    let Some(extra) = &step.extra else { return Err(Trap::unimplemented(step.op, "")) };
    let exec = w.exec;
    prepare(w, step)?;
    let mut dst = step.dst;
    if w.gpr_index.enable != 0 && w.s[usize::from(M0)] & 1 << 15 != 0 {
        dst = w.checked_row(dst, w.s[usize::from(M0)] & 0xff, step.dst_dwords)?;
    }
    w.src[3] = dst;
    select_accumulator(w, extra, dst);
    flush_accumulator(w, step, extra);
    let after = step.flags.after || flushes(w, step);
    w.dst = if after { RESULT_ROW } else { dst };
    step.lanes.run(w, step);
    if after {
        finish(w, step, extra, dst);
    }
    if w.exec != exec {
        w.sync_exec();
    }
    w.clamp = false;
    Ok(())
}

/// Whether the operands or the result need more than rows.
#[inline(always)]
pub(super) fn is_slow(w: &Wave, step: &Step) -> bool {
    step.flags.before || step.flags.after || w.gpr_index.enable != 0 || flushes(w, step)
}

/// Whether MODE flushes subnormals of a step's operands. What it says of rounding, operations ask for
/// themselves.
#[inline(always)]
fn flushes(w: &Wave, step: &Step) -> bool {
    step.flags.singles && !w.keeps_subnormals32() || step.flags.halves_or_doubles && !w.keeps_subnormals64()
}

/// Rows of the sources, without modifiers.
#[inline(always)]
pub(super) fn resolve(w: &mut Wave, step: &Step) {
    for slot in 0..3 {
        match step.src[slot] {
            Src::Row(row) => w.src[slot] = row,
            Src::None => break,
            other => w.src[slot] = w.spread(slot, other, step.src_dwords[slot]),
        }
    }
}

/// Rows of the sources, modified as the instruction asks. DPP may take lanes out of `exec`; the caller
/// restores it.
#[inline(always)]
pub(super) fn prepare(w: &mut Wave, step: &Step) -> Outcome {
    resolve(w, step);
    let Some(extra) = &step.extra else { return Ok(()) };
    let mods = &extra.inst.mods;
    w.clamp = mods.clamp;
    for slot in 0..3 {
        if step.src[slot] == Src::None {
            break;
        }
        if w.gpr_index.enable != 0
            && let Src::Row(row) = step.src[slot]
            && w.s[usize::from(M0)] >> (12 + slot) & 1 != 0
        {
            w.src[slot] = w.checked_row(row, w.s[usize::from(M0)] & 0xff, step.src_dwords[slot])?;
        }
        if slot == 0 {
            permute(w, extra, step.src_dwords[0]);
        }
        let from = w.src[slot];
        let to = SOURCE_ROWS + 2 * slot as u16;
        if let Some(sdwa) = mods.sdwa.as_ref().filter(|_| slot < 2) {
            let (sel, sext) = (sdwa.src_sel[slot], sdwa.sext[slot]);
            remake!(w, from, to, |value: u32| select(value, sel, sext));
            w.src[slot] = to;
        } else if extra.high_halves >> slot & 1 != 0 && is_half(extra, slot) {
            remake!(w, from, to, |value: u32| value >> 16);
            w.src[slot] = to;
        }
        if !works_on_parts(extra) {
            float_modifiers(w, mods, slot, extra.numbers.sources[slot]);
            if step.flags.float && !keeps_inputs(step.op) {
                flush_source(w, slot, extra.numbers.sources[slot]);
            }
        }
    }
    Ok(())
}

/// Packed and mixed instructions: what MODE asks of floats, they apply themselves to the parts of their
/// registers.
fn works_on_parts(extra: &Extra) -> bool {
    extra.inst.encoding.is_vop3p() || extra.inst.op == Op::v_pk_fmac_f16
}

/// "Input denormals are not flushed" (Vega ISA manual, V_DIV_FMAS_F32).
fn keeps_inputs(op: Op) -> bool {
    matches!(op, Op::v_div_fmas_f32 | Op::v_div_fmas_f64)
}

/// Whether the old result is a source.
fn accumulates(extra: &Extra) -> bool {
    extra.inst.operands.first().is_some_and(|operand| operand.access == Access::ReadWrite)
}

/// The old result as a source, where it is the high half of its register.
fn select_accumulator(w: &mut Wave, extra: &Extra, dst: u16) {
    if extra.keep_half && extra.inst.mods.op_sel & 8 != 0 && accumulates(extra) {
        let to = SOURCE_ROWS + 6;
        remake!(w, dst, to, |value: u32| value >> 16);
        w.src[3] = to;
    }
}

/// The old result as a source: flushed like one.
fn flush_accumulator(w: &mut Wave, step: &Step, extra: &Extra) {
    let kind = extra.numbers.result;
    if accumulates(extra)
        && step.flags.float
        && kind.is_float()
        && !works_on_parts(extra)
        && extra.inst.mods.sdwa.is_none()
    {
        flush_source(w, 3, kind);
    }
}

/// Whether OP_SEL picks a half of a source's register.
fn is_half(extra: &Extra, slot: usize) -> bool {
    matches!(extra.numbers.sources[slot], NumberKind::F16 | NumberKind::Bits16)
        && !extra.inst.encoding.is_vop3p()
}

/// |x| and -x, as bit operations on the source's format.
#[inline(always)]
fn float_modifiers(w: &mut Wave, mods: &Mods, slot: usize, kind: NumberKind) {
    let (abs, neg) = (mods.abs >> slot & 1 != 0, mods.neg >> slot & 1 != 0);
    if !abs && !neg {
        return;
    }
    let from = w.src[slot];
    let to = SOURCE_ROWS + 2 * slot as u16;
    let sign: u32 = if matches!(kind, NumberKind::F16 | NumberKind::Bits16) { 1 << 15 } else { 1 << 31 };
    let (stay, invert) = (if abs { !sign } else { !0 }, if neg { sign } else { 0 });
    if matches!(kind, NumberKind::F64 | NumberKind::Bits64) {
        remake!(w, from, to, |low: u32| low);
        remake!(w, from + 1, to + 1, |high: u32| high & stay ^ invert);
    } else {
        remake!(w, from, to, |value: u32| value & stay ^ invert);
    }
    w.src[slot] = to;
}

/// MODE's input denormal control: bit 0 of each pair allows them.
#[inline(always)]
fn flush_source(w: &mut Wave, slot: usize, kind: NumberKind) {
    let keep = if kind == NumberKind::F32 { w.mode >> 4 & 1 } else { w.mode >> 6 & 1 };
    if keep != 0 || !kind.is_float() {
        return;
    }
    let from = w.src[slot];
    let to = SOURCE_ROWS + 2 * slot as u16;
    match kind {
        NumberKind::F32 => remake!(w, from, to, |a| single::flush(a)),
        NumberKind::F64 => remake!(w, from, to, |a| double::flush(a)),
        _ => remake!(w, from, to, |a| half::flush(a)),
    }
    w.src[slot] = to;
}

/// The part of a register that SDWA selects.
#[inline(always)]
pub(super) fn select(value: u32, sel: SdwaSel, sext: bool) -> u32 {
    let (shift, width) = place(sel);
    let top = value << (32 - shift - width);
    if sext { (top as i32 >> (32 - width)) as u32 } else { top >> (32 - width) }
}

/// First bit and width of a part.
#[inline(always)]
fn place(sel: SdwaSel) -> (u32, u32) {
    match sel {
        SdwaSel::Byte0 => (0, 8),
        SdwaSel::Byte1 => (8, 8),
        SdwaSel::Byte2 => (16, 8),
        SdwaSel::Byte3 => (24, 8),
        SdwaSel::Word0 => (0, 16),
        SdwaSel::Word1 => (16, 16),
        SdwaSel::Dword => (0, 32),
    }
}

/// Bring DPP's permutation of source 0 into its own rows, if there is one, and take the lanes that are not to
/// be written out of EXEC's working copy.
pub(super) fn permute(w: &mut Wave, extra: &Extra, dwords: u8) {
    let Some(permutation) = &extra.permutation else { return };
    w.exec &= permutation.apply(w, w.src[0], dwords);
    w.src[0] = SOURCE_ROWS;
    w.refresh_masks();
}

/// Flushing, output modifier, clamp, in the rows of the result.
///
/// Where the output modifier applies, -0 becomes +0 (Vega ISA manual, "Output modifiers").
#[inline(always)]
fn finish_float(w: &mut Wave, mods: &Mods, kind: NumberKind) {
    let row = RESULT_ROW;
    let keep = if kind == NumberKind::F32 { w.mode >> 5 & 1 != 0 } else { w.mode >> 7 & 1 != 0 };
    let (keep, power) = w.output(mods.omod, keep);
    // A pass for each, so that each is a loop without branches.
    macro_rules! finished {
        ($format:ident, $number:ty, $round:expr) => {{
            if !keep {
                remake!(w, row, row, |a: $number| $format::flush(a));
            }
            if power != 0 {
                rounding!(round = $round; remake!(w, row, row, |a: $number| $format::omod(a, power, round)));
            }
            if mods.clamp {
                let nan_to_zero = w.dx10_clamp();
                remake!(w, row, row, |a: $number| $format::clamp(a, nan_to_zero));
            }
        }};
    }
    match kind {
        NumberKind::F32 => finished!(single, f32, w.round32()),
        NumberKind::F64 => finished!(double, f64, w.round64()),
        NumberKind::F16 => finished!(half, Half, w.round16()),
        _ => {}
    }
}

/// The write of a result that needed work: to the register, whole or in part.
#[inline(always)]
fn finish(w: &mut Wave, step: &Step, extra: &Extra, dst: u16) {
    let mods = &extra.inst.mods;
    let row = RESULT_ROW;
    if step.flags.float && !works_on_parts(extra) {
        finish_float(w, mods, extra.numbers.result);
    }
    // From here on the write itself: what was made for the lanes of EXEC goes to the register.
    let high_half = mods.op_sel & 8 != 0;
    for dword in 0..u16::from(step.dst_dwords.max(1)) {
        let (from, to) = (row + dword, dst + dword);
        match &mods.sdwa {
            Some(sdwa) => merge!(w, from, to, |old, new| merge_sdwa(sdwa, old, new)),
            None if extra.keep_half && high_half => merge!(w, from, to, |old, new| old & 0xffff | new << 16),
            None if extra.keep_half => merge!(w, from, to, |old, new| old & 0xffff_0000 | new & 0xffff),
            None => merge!(w, from, to, |_, new| new),
        }
    }
}

/// Put a result into the part of the register that SDWA selects.
#[inline(always)]
pub(super) fn merge_sdwa(sdwa: &Sdwa, old: u32, new: u32) -> u32 {
    let (shift, width) = place(sdwa.dst_sel);
    if width == 32 {
        return new;
    }
    let mask = ((1 << width) - 1) << shift;
    let part = new << shift & mask;
    match sdwa.dst_unused {
        SdwaUnused::Pad => part,
        SdwaUnused::Sext => ((part << (32 - width - shift)) as i32 >> (32 - width - shift)) as u32,
        SdwaUnused::Preserve => old & !mask | part,
    }
}
