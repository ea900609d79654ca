//! Scalar arithmetic: SOP2, SOP1, SOPK, SOPC (Vega ISA manual, "Scalar ALU operations").

use amdgpu_isa::{Feature, Logic, MaskOp, Op, WaveSize};

use super::{hardware_registers, scalar_float, sopp};
use crate::check::{FaultKind, Outcome, RegisterBank, Trap};
use crate::program::{Context, Step};
use crate::rules::Rules;
use crate::wave::{EXEC, M0, Status, VCC, Wave};

/// Result and SCC of a 32-bit operation that sets SCC when the result is not zero.
fn flagged(value: u32) -> (u32, bool) {
    (value, value != 0)
}

fn flagged64(value: u64) -> (u64, bool) {
    (value, value != 0)
}

/// Two sources, one result.
pub(super) fn sop2(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    if is_wide2(step.op) {
        return sop2_wide(w, step);
    }
    let (a, b) = (w.scalar32(step.src[0]), w.scalar32(step.src[1]));
    let (sa, sb) = (a as i32, b as i32);
    let carry = u32::from(w.scc);
    // `SCC = S0 >= S1` since the CDNA3 and the RDNA3.5 ISA, `S0 > S1` before.
    let first_of_equals = context.program.target.arch.has(Feature::FirstOfEqualMaxima);
    let wide = |value: u64| (value as u32, value >> 32 != 0);
    let signed = |(value, overflow): (i32, bool)| (value as u32, overflow);
    let (value, scc) = match step.op {
        Op::s_add_u32 => wide(u64::from(a) + u64::from(b)),
        Op::s_sub_u32 => a.overflowing_sub(b),
        Op::s_add_i32 => signed(sa.overflowing_add(sb)),
        Op::s_sub_i32 => signed(sa.overflowing_sub(sb)),
        Op::s_addc_u32 => wide(u64::from(a) + u64::from(b) + u64::from(carry)),
        Op::s_subb_u32 => {
            (a.wrapping_sub(b).wrapping_sub(carry), u64::from(b) + u64::from(carry) > u64::from(a))
        }
        Op::s_min_i32 => (sa.min(sb) as u32, sa < sb),
        Op::s_min_u32 => (a.min(b), a < b),
        Op::s_max_i32 => (sa.max(sb) as u32, sa > sb || a == b && first_of_equals),
        Op::s_max_u32 => (a.max(b), a > b || a == b && first_of_equals),
        Op::s_cselect_b32 => (if w.scc { a } else { b }, w.scc),
        Op::s_and_b32 => flagged(a & b),
        Op::s_or_b32 => flagged(a | b),
        Op::s_xor_b32 => flagged(a ^ b),
        Op::s_andn2_b32 => flagged(a & !b),
        Op::s_orn2_b32 => flagged(a | !b),
        Op::s_nand_b32 => flagged(!(a & b)),
        Op::s_nor_b32 => flagged(!(a | b)),
        Op::s_xnor_b32 => flagged(!(a ^ b)),
        Op::s_lshl_b32 => flagged(a << (b & 31)),
        Op::s_lshr_b32 => flagged(a >> (b & 31)),
        Op::s_ashr_i32 => flagged((sa >> (b & 31)) as u32),
        Op::s_bfm_b32 => ((((1u64 << (a & 31)) - 1) << (b & 31)) as u32, w.scc),
        Op::s_mul_i32 => (a.wrapping_mul(b), w.scc),
        Op::s_mul_hi_u32 => (((u64::from(a) * u64::from(b)) >> 32) as u32, w.scc),
        Op::s_mul_hi_i32 => (((i64::from(sa) * i64::from(sb)) >> 32) as u32, w.scc),
        Op::s_bfe_u32 => flagged(bits(u64::from(a), b & 31, b >> 16 & 0x7f) as u32),
        Op::s_bfe_i32 => flagged(signed_bits(i64::from(sa), b & 31, b >> 16 & 0x7f, 32) as u32),
        Op::s_absdiff_i32 => flagged(sa.wrapping_sub(sb).wrapping_abs() as u32),
        Op::s_lshl1_add_u32 => wide((u64::from(a) << 1) + u64::from(b)),
        Op::s_lshl2_add_u32 => wide((u64::from(a) << 2) + u64::from(b)),
        Op::s_lshl3_add_u32 => wide((u64::from(a) << 3) + u64::from(b)),
        Op::s_lshl4_add_u32 => wide((u64::from(a) << 4) + u64::from(b)),
        Op::s_pack_ll_b32_b16 => (a & 0xffff | b << 16, w.scc),
        Op::s_pack_lh_b32_b16 => (a & 0xffff | b & 0xffff_0000, w.scc),
        Op::s_pack_hh_b32_b16 => (a >> 16 | b & 0xffff_0000, w.scc),
        Op::s_pack_hl_b32_b16 => (a >> 16 | b << 16, w.scc),
        _ => return other(context, step),
    };
    w.set_s32(step.sdst, value);
    w.scc = scc;
    Ok(())
}

fn is_wide2(op: Op) -> bool {
    matches!(
        op,
        Op::s_cselect_b64
            | Op::s_and_b64
            | Op::s_or_b64
            | Op::s_xor_b64
            | Op::s_andn2_b64
            | Op::s_orn2_b64
            | Op::s_nand_b64
            | Op::s_nor_b64
            | Op::s_xnor_b64
            | Op::s_lshl_b64
            | Op::s_lshr_b64
            | Op::s_ashr_i64
            | Op::s_bfm_b64
            | Op::s_bfe_u64
            | Op::s_bfe_i64
            | Op::s_add_nc_u64
            | Op::s_sub_nc_u64
            | Op::s_mul_u64
    )
}

fn sop2_wide(w: &mut Wave, step: &Step) -> Outcome {
    // Shift counts and bit fields are 32-bit operands, the low halves of what is read here.
    let (a, b) = (w.scalar64(step.src[0]), w.scalar64(step.src[1]));
    let b32 = b as u32;
    let (value, scc) = match step.op {
        Op::s_cselect_b64 => (if w.scc { a } else { b }, w.scc),
        Op::s_and_b64 => flagged64(a & b),
        Op::s_or_b64 => flagged64(a | b),
        Op::s_xor_b64 => flagged64(a ^ b),
        Op::s_andn2_b64 => flagged64(a & !b),
        Op::s_orn2_b64 => flagged64(a | !b),
        Op::s_nand_b64 => flagged64(!(a & b)),
        Op::s_nor_b64 => flagged64(!(a | b)),
        Op::s_xnor_b64 => flagged64(!(a ^ b)),
        Op::s_lshl_b64 => flagged64(a << (b32 & 63)),
        Op::s_lshr_b64 => flagged64(a >> (b32 & 63)),
        Op::s_ashr_i64 => flagged64((a as i64 >> (b32 & 63)) as u64),
        Op::s_add_nc_u64 => (a.wrapping_add(b), w.scc),
        Op::s_sub_nc_u64 => (a.wrapping_sub(b), w.scc),
        Op::s_mul_u64 => (a.wrapping_mul(b), w.scc),
        Op::s_bfm_b64 => ((1u64 << (a & 63)).wrapping_sub(1) << (b32 & 63), w.scc),
        Op::s_bfe_u64 => flagged64(bits(a, b32 & 63, b32 >> 16 & 0x7f)),
        _ => flagged64(signed_bits(a as i64, b32 & 63, b32 >> 16 & 0x7f, 64) as u64),
    };
    w.set_s64(step.sdst, value);
    w.scc = scc;
    Ok(())
}

/// `width` bits from bit `offset`, zero-extended.
fn bits(value: u64, offset: u32, width: u32) -> u64 {
    let value = value >> offset;
    if width == 0 {
        0
    } else if width >= 64 {
        value
    } else {
        value & ((1 << width) - 1)
    }
}

/// `width` bits from bit `offset`, sign-extended. A field that reaches past the top is the value shifted
/// right.
fn signed_bits(value: i64, offset: u32, width: u32, size: u32) -> i64 {
    let value = value >> offset;
    if width == 0 {
        0
    } else if offset + width >= size {
        value
    } else {
        value << (64 - width) >> (64 - width)
    }
}

/// One source, one result.
pub(super) fn sop1(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let op = step.op;
    let a = w.scalar32(step.src[0]);
    let value = match op {
        Op::s_mov_b32 => a,
        Op::s_cmov_b32 => {
            if w.scc {
                a
            } else {
                w.s[usize::from(step.sdst & 127)]
            }
        }
        Op::s_not_b32 => set_scc(w, !a),
        Op::s_wqm_b32 => set_scc(w, whole_quads(u64::from(a)) as u32),
        Op::s_brev_b32 => a.reverse_bits(),
        Op::s_bcnt0_i32_b32 => set_scc(w, a.count_zeros()),
        Op::s_bcnt1_i32_b32 => set_scc(w, a.count_ones()),
        Op::s_bcnt0_i32_b64 => {
            let count = w.scalar64(step.src[0]).count_zeros();
            set_scc(w, count)
        }
        Op::s_bcnt1_i32_b64 => {
            let count = w.scalar64(step.src[0]).count_ones();
            set_scc(w, count)
        }
        Op::s_ff0_i32_b32 => first_one(u64::from(!a)),
        Op::s_ff1_i32_b32 => first_one(u64::from(a)),
        Op::s_ff0_i32_b64 => first_one(!w.scalar64(step.src[0])),
        Op::s_ff1_i32_b64 => first_one(w.scalar64(step.src[0])),
        Op::s_flbit_i32_b32 => {
            if a == 0 {
                u32::MAX
            } else {
                a.leading_zeros()
            }
        }
        Op::s_flbit_i32_b64 => {
            let a = w.scalar64(step.src[0]);
            if a == 0 { u32::MAX } else { a.leading_zeros() }
        }
        Op::s_flbit_i32 => sign_bits(i64::from(a as i32) << 32, 32),
        Op::s_flbit_i32_i64 => sign_bits(w.scalar64(step.src[0]) as i64, 64),
        Op::s_sext_i32_i8 => a as i8 as u32,
        Op::s_sext_i32_i16 => a as i16 as u32,
        Op::s_bitset0_b32 => w.s[usize::from(step.sdst & 127)] & !(1 << (a & 31)),
        Op::s_bitset1_b32 => w.s[usize::from(step.sdst & 127)] | 1 << (a & 31),
        Op::s_abs_i32 => set_scc(w, (a as i32).wrapping_abs() as u32),
        Op::s_quadmask_b32 => set_scc(w, quad_mask(u64::from(a)) as u32),
        Op::s_movrels_b32 => {
            let register = relative(w, source_register(step)?, 1)?;
            w.s[usize::from(register)]
        }
        Op::s_movreld_b32 => {
            let register = relative(w, step.sdst, 1)?;
            w.set_s32(register, a);
            return Ok(());
        }
        Op::s_movrelsd_2_b32 => {
            let m0 = w.s[usize::from(M0)];
            let from = relative_by(w, source_register(step)?, m0 & 0x3ff, 1)?;
            let to = relative_by(w, step.sdst, m0 >> 16 & 0x3ff, 1)?;
            w.set_s32(to, w.s[usize::from(from)]);
            return Ok(());
        }
        Op::s_sendmsg_rtn_b32 | Op::s_sendmsg_rtn_b64 => return ask(w, step),
        Op::s_barrier_signal | Op::s_barrier_signal_isfirst => return sopp::signal_barrier(context, step),
        Op::s_get_barrier_state => return sopp::barrier_state(context, step),
        // As `s_sleep`.
        Op::s_sleep_var => {
            w.status = Status::Yielded;
            return Ok(());
        }
        _ => match op.mask_op(WaveSize::Wave32) {
            Some(MaskOp::Saveexec(logic)) => {
                let old = w.s[usize::from(EXEC)];
                write_exec_lo(w, combined(logic, a, old));
                old
            }
            Some(MaskOp::Wrexec(logic)) => {
                let new = combined(logic, a, w.s[usize::from(EXEC)]);
                write_exec_lo(w, new)
            }
            _ => return sop1_wide(context, step),
        },
    };
    w.set_s32(step.sdst, value);
    Ok(())
}

/// SOP1 with a 64-bit result, and control flow.
fn sop1_wide(context: &mut Context<'_>, step: &Step) -> Outcome {
    let next_pc = context.next_pc(step);
    let w = &mut *context.wave;
    let a = w.scalar64(step.src[0]);
    let exec = w.s64(EXEC);
    let value = match step.op {
        Op::s_mov_b64 => a,
        Op::s_cmov_b64 => {
            if w.scc {
                a
            } else {
                w.s64(step.sdst)
            }
        }
        Op::s_not_b64 => set_scc64(w, !a),
        Op::s_wqm_b64 => set_scc64(w, whole_quads(a)),
        Op::s_brev_b64 => a.reverse_bits(),
        Op::s_bitset0_b64 => w.s64(step.sdst) & !(1 << (a & 63)),
        Op::s_bitset1_b64 => w.s64(step.sdst) | 1 << (a & 63),
        Op::s_quadmask_b64 => set_scc64(w, quad_mask(a)),
        Op::s_bitreplicate_b64_b32 => (0..32).fold(0, |value, bit| value | ((a >> bit & 1) * 3) << (2 * bit)),
        Op::s_and_saveexec_b64 => save_exec(w, exec, a & exec),
        Op::s_or_saveexec_b64 => save_exec(w, exec, a | exec),
        Op::s_xor_saveexec_b64 => save_exec(w, exec, a ^ exec),
        Op::s_andn2_saveexec_b64 => save_exec(w, exec, a & !exec),
        Op::s_orn2_saveexec_b64 => save_exec(w, exec, a | !exec),
        Op::s_nand_saveexec_b64 => save_exec(w, exec, !(a & exec)),
        Op::s_nor_saveexec_b64 => save_exec(w, exec, !(a | exec)),
        Op::s_xnor_saveexec_b64 => save_exec(w, exec, !(a ^ exec)),
        Op::s_andn1_saveexec_b64 => save_exec(w, exec, !a & exec),
        Op::s_orn1_saveexec_b64 => save_exec(w, exec, !a | exec),
        Op::s_andn1_wrexec_b64 => {
            save_exec(w, exec, !a & exec);
            w.s64(EXEC)
        }
        Op::s_andn2_wrexec_b64 => {
            save_exec(w, exec, a & !exec);
            w.s64(EXEC)
        }
        Op::s_getpc_b64 => next_pc,
        Op::s_setpc_b64 => {
            context.jump(a)?;
            let w = &mut *context.wave;
            w.calls.jump(w.next);
            return Ok(());
        }
        Op::s_swappc_b64 => {
            w.set_s64(step.sdst, next_pc);
            return context.call(a);
        }
        Op::s_movrels_b64 => {
            let register = relative(w, source_register(step)?, 2)?;
            w.s64(register)
        }
        Op::s_movreld_b64 => {
            let register = relative(w, step.sdst, 2)?;
            w.set_s64(register, a);
            return Ok(());
        }
        Op::s_set_gpr_idx_idx => {
            let m0 = &mut w.s[usize::from(M0)];
            *m0 = *m0 & !0xff | a as u32 & 0xff;
            return Ok(());
        }
        _ => return other(context, step),
    };
    w.set_s64(step.sdst, value);
    Ok(())
}

/// Arithmetic on floats, or nothing that is executed.
fn other(context: &mut Context<'_>, step: &Step) -> Outcome {
    scalar_float::execute(context, step).unwrap_or_else(|| Err(super::not_executed(step.op)))
}

/// Two masks of 32 lanes, combined.
fn combined(logic: Logic, a: u32, b: u32) -> u32 {
    match logic {
        Logic::And => a & b,
        Logic::AndNot => a & !b,
        Logic::NotAnd => !a & b,
        Logic::Or => a | b,
        Logic::OrNot => a | !b,
        Logic::NotOr => !a | b,
        Logic::Xor => a ^ b,
        Logic::Xnor => !(a ^ b),
        Logic::Nand => !(a & b),
        Logic::Nor => !(a | b),
    }
}

/// Write EXEC_LO alone; SCC says whether it is not zero.
fn write_exec_lo(w: &mut Wave, new: u32) -> u32 {
    w.set_s32(EXEC, new);
    w.scc = new != 0;
    new
}

/// Messages that give something back (RDNA3 ISA, section 5.3).
mod message {
    pub(super) const GET_TMA: i64 = 130;
    pub(super) const GET_REALTIME: i64 = 131;
    pub(super) const GET_TBA: i64 = 133;
}

/// `s_sendmsg_rtn_*`: the clock, and the trap handler, of which there is none.
fn ask(w: &mut Wave, step: &Step) -> Outcome {
    let answer = match step.imm & 0xff {
        message::GET_REALTIME => w.read_clock(),
        message::GET_TMA | message::GET_TBA => 0,
        _ => return Err(Trap::unimplemented(step.op, "with a message that is not answered")),
    };
    if step.op == Op::s_sendmsg_rtn_b64 {
        w.set_s64(step.sdst, answer);
    } else {
        w.set_s32(step.sdst, answer as u32);
    }
    Ok(())
}

/// Whether an instruction with this immediate reads a clock.
pub(crate) fn is_clock(op: Op, imm: i64, rules: &Rules) -> bool {
    match op {
        Op::s_memtime | Op::s_memrealtime => true,
        Op::s_sendmsg_rtn_b32 | Op::s_sendmsg_rtn_b64 => imm & 0xff == message::GET_REALTIME,
        Op::s_getreg_b32 => hardware_registers::is_cycles(rules, imm as u16),
        _ => false,
    }
}

fn set_scc(w: &mut Wave, value: u32) -> u32 {
    w.scc = value != 0;
    value
}

fn set_scc64(w: &mut Wave, value: u64) -> u64 {
    w.scc = value != 0;
    value
}

/// Write EXEC; returns what it was, the value of the destination.
fn save_exec(w: &mut Wave, old: u64, new: u64) -> u64 {
    w.set_s64(EXEC, new);
    w.scc = new != 0;
    old
}

fn first_one(value: u64) -> u32 {
    if value == 0 { u32::MAX } else { value.trailing_zeros() }
}

/// How many bits at the top equal the sign bit; all ones if every bit does.
fn sign_bits(value: i64, size: u32) -> u32 {
    let differing = (value ^ (value >> 63)) as u64;
    if differing == 0 || differing.leading_zeros() >= size { u32::MAX } else { differing.leading_zeros() }
}

fn whole_quads(mask: u64) -> u64 {
    let any = mask | mask >> 1 | mask >> 2 | mask >> 3;
    (any & 0x1111_1111_1111_1111) * 15
}

fn quad_mask(mask: u64) -> u64 {
    (0..16).fold(0, |quads, quad| quads | u64::from(mask >> (4 * quad) & 15 != 0) << quad)
}

fn source_register(step: &Step) -> Outcome<u8> {
    match step.src[0] {
        crate::wave::Src::Scalar(register) => Ok(register),
        _ => Err(crate::wave::odd_operand(step.op)),
    }
}

/// A scalar register addressed relative to M0.
fn relative(w: &Wave, register: u8, count: u32) -> Outcome<u8> {
    relative_by(w, register, w.s[usize::from(M0)], count)
}

/// A scalar register addressed relative to an index.
fn relative_by(w: &Wave, register: u8, index: u32, count: u32) -> Outcome<u8> {
    let index = u32::from(register).wrapping_add(index);
    let last = index.wrapping_add(count - 1);
    // From a register behind the SGPRs on, those up to VCC.
    let there = if register < w.rules.sgprs { u32::from(w.allotted.sgprs) } else { u32::from(VCC) + 2 };
    if last >= there || last < index {
        let bank = RegisterBank::Sgpr;
        let kind = FaultKind::RegisterIndex { bank, index: i64::from(last as i32), available: there };
        return Err(Trap::new(kind));
    }
    Ok(index as u8)
}

/// Comparisons, to SCC.
pub(super) fn sopc(context: &mut Context<'_>, step: &Step) -> Outcome {
    let w = &mut *context.wave;
    let (a, b) = (w.scalar32(step.src[0]), w.scalar32(step.src[1]));
    let (sa, sb) = (a as i32, b as i32);
    w.scc = match step.op {
        Op::s_cmp_eq_i32 | Op::s_cmp_eq_u32 => a == b,
        Op::s_cmp_lg_i32 | Op::s_cmp_lg_u32 => a != b,
        Op::s_cmp_gt_i32 => sa > sb,
        Op::s_cmp_ge_i32 => sa >= sb,
        Op::s_cmp_lt_i32 => sa < sb,
        Op::s_cmp_le_i32 => sa <= sb,
        Op::s_cmp_gt_u32 => a > b,
        Op::s_cmp_ge_u32 => a >= b,
        Op::s_cmp_lt_u32 => a < b,
        Op::s_cmp_le_u32 => a <= b,
        Op::s_bitcmp0_b32 => a >> (b & 31) & 1 == 0,
        Op::s_bitcmp1_b32 => a >> (b & 31) & 1 != 0,
        Op::s_bitcmp0_b64 => w.scalar64(step.src[0]) >> (b & 63) & 1 == 0,
        Op::s_bitcmp1_b64 => w.scalar64(step.src[0]) >> (b & 63) & 1 != 0,
        Op::s_cmp_eq_u64 => w.scalar64(step.src[0]) == w.scalar64(step.src[1]),
        Op::s_cmp_lg_u64 => w.scalar64(step.src[0]) != w.scalar64(step.src[1]),
        Op::s_set_gpr_idx_on => {
            w.set_gpr_index(true);
            let m0 = &mut w.s[usize::from(M0)];
            *m0 = *m0 & !0xf0ff | a & 0xff | (step.imm as u32 & 15) << 12;
            return Ok(());
        }
        Op::s_setvskip => {
            let (skip, bit) = (a >> (b & 31) & 1 != 0, w.rules.vskip);
            w.set_mode(w.mode & !bit | if skip { bit } else { 0 });
            return Ok(());
        }
        _ => return other(context, step),
    };
    Ok(())
}

/// A 16-bit constant.
pub(super) fn sopk(context: &mut Context<'_>, step: &Step) -> Outcome {
    let next_pc = context.next_pc(step);
    let w = &mut *context.wave;
    let signed = i32::from(step.imm as i16);
    let unsigned = u32::from(step.imm as u16);
    let old = match step.src[0] {
        crate::wave::Src::None => w.s[usize::from(step.sdst & 127)],
        source => w.scalar32(source),
    };
    let old_signed = old as i32;
    let compared = match step.op {
        Op::s_cmpk_eq_i32 => Some(old_signed == signed),
        Op::s_cmpk_lg_i32 => Some(old_signed != signed),
        Op::s_cmpk_gt_i32 => Some(old_signed > signed),
        Op::s_cmpk_ge_i32 => Some(old_signed >= signed),
        Op::s_cmpk_lt_i32 => Some(old_signed < signed),
        Op::s_cmpk_le_i32 => Some(old_signed <= signed),
        Op::s_cmpk_eq_u32 => Some(old == unsigned),
        Op::s_cmpk_lg_u32 => Some(old != unsigned),
        Op::s_cmpk_gt_u32 => Some(old > unsigned),
        Op::s_cmpk_ge_u32 => Some(old >= unsigned),
        Op::s_cmpk_lt_u32 => Some(old < unsigned),
        Op::s_cmpk_le_u32 => Some(old <= unsigned),
        _ => None,
    };
    if let Some(scc) = compared {
        w.scc = scc;
        return Ok(());
    }
    match step.op {
        Op::s_movk_i32 => w.set_s32(step.sdst, signed as u32),
        Op::s_cmovk_i32 => {
            if w.scc {
                w.set_s32(step.sdst, signed as u32);
            }
        }
        Op::s_addk_i32 => {
            let (sum, overflow) = old_signed.overflowing_add(signed);
            w.set_s32(step.sdst, sum as u32);
            w.scc = overflow;
        }
        Op::s_mulk_i32 => w.set_s32(step.sdst, old_signed.wrapping_mul(signed) as u32),
        Op::s_getreg_b32 => {
            let value = hardware_registers::get(context, step)?;
            context.wave.set_s32(step.sdst, value);
        }
        Op::s_setreg_b32 | Op::s_setreg_imm32_b32 => {
            let value = w.scalar32(step.src[0]);
            hardware_registers::put(w, step, value)?;
        }
        Op::s_call_b64 => {
            w.set_s64(step.sdst, next_pc);
            sopp::branch(context, step)?;
            context.note_call();
        }
        // Nothing is ever outstanding.
        Op::s_waitcnt_vscnt | Op::s_waitcnt_vmcnt | Op::s_waitcnt_expcnt | Op::s_waitcnt_lgkmcnt => {}
        Op::s_version => {}
        _ => return Err(super::not_executed(step.op)),
    }
    Ok(())
}
