//! Which handler a step gets.

use amdgpu_isa::{Feature, Op, Special, WaveSize};

use super::atomic::Atomic;
use super::compare::{self, Compare, Test};
use super::in_mode::{InMode, MultiplyAddTwice};
use super::level::relation;
use super::mode::Modifiers;
use super::salu::{self, cmp, condition};
use super::valu::{self, Carry, Do, FIRST, Operation, SECOND, Select};
use super::wide::{self, MultiplyAdd};
use super::{Form, at, double, general, halves, lds, memory, packed, pair, scalar_memory, scratch};
use crate::exec::{is_plain_in_lds, passes_the_cache};
use crate::program::{
    Action, Compiled, Hot, HotHandler, HotSource, MemoryAccess, Part, Program, ScalarKind, Space, Step,
    permutes,
};
use crate::rules::NULL_RESULT;
use crate::vectors::Vectors;
use crate::wave::{EXEC, NO_SCALAR, REGISTERS, RowAt, SOURCE_ROWS, Src};

/// Compact steps for all of a program's.
pub(super) fn compile(program: &Program, vectors: Vectors) -> Compiled {
    assert!(vectors.is_available(), "a level that the host lacks");
    let form = Form { vectors, arch: program.target.arch, wave: program.target.wave };
    let mut code: Box<[Hot]> = program
        .steps
        .iter()
        .enumerate()
        .map(|(index, step)| compile_step(step, index as u32, form))
        .collect();
    let pairs = pairs(&program.steps, &mut code, form);
    let permuted = permuted(&program.steps, &mut code, form);
    let mut end = code.len() as u32;
    for (hot, step) in code.iter_mut().zip(&program.steps).rev() {
        if step.flags.control || step.flags.writes_exec {
            end = hot.next;
        }
        hot.end = end;
        if step.flags.reads_clock {
            // It begins a run, so that the instructions before it are known.
            end = hot.next - 1;
        }
    }
    let mut count = 0;
    for (hot, step) in code.iter_mut().zip(&program.steps) {
        count += u32::from(step.flags.vector);
        (hot.vectors, hot.is_vector) = (count, step.flags.vector);
    }
    Compiled { steps: code, _kept: Box::new((pairs, permuted)) }
}

/// The steps of instructions of two operations, which `code` then refers to.
fn pairs(steps: &[Step], code: &mut [Hot], form: Form) -> Box<[[Hot; 2]]> {
    let found =
        steps.iter().enumerate().filter_map(|(index, step)| Some((index, both(step, index as u32, form)?)));
    let (places, pairs): (Vec<usize>, Vec<[Hot; 2]>) = found.unzip();
    // From here on they stay where they are.
    let pairs = pairs.into_boxed_slice();
    for (place, pair) in places.into_iter().zip(&pairs) {
        pair::refer(&mut code[place], pair);
        code[place].run = at::<pair::Both>(form);
    }
    pairs
}

/// Both operations of an instruction, in the order in which they run; `None` if it goes the general way.
fn both(step: &Step, index: u32, form: Form) -> Option<[Hot; 2]> {
    let steps = step.extra.as_ref()?.pair.as_deref()?;
    if !steps.iter().all(|step| pair::is_whole(step.op)) {
        return None;
    }
    let [first, second] = pair::in_order(steps)?;
    Some([own_handler(first, index, form)?, own_handler(second, index, form)?])
}

/// The steps of instructions with DPP, which `code` then refers to.
fn permuted(steps: &[Step], code: &mut [Hot], form: Form) -> Box<[pair::Permuted]> {
    let found = steps
        .iter()
        .enumerate()
        .filter_map(|(index, step)| Some((index, without_permutation(step, index as u32, form)?)));
    let (places, permuted): (Vec<usize>, Vec<pair::Permuted>) = found.unzip();
    // From here on they stay where they are.
    let permuted = permuted.into_boxed_slice();
    for (place, permuted) in places.into_iter().zip(&permuted) {
        pair::refer(&mut code[place], permuted);
        code[place].run = at::<pair::Permute>(form);
    }
    permuted
}

/// An instruction with DPP as one whose first source has been permuted; `None` if it goes the general way.
fn without_permutation(step: &Step, index: u32, form: Form) -> Option<pair::Permuted> {
    let permutation = step.extra.as_ref()?.permutation.as_deref()?.clone();
    let Src::Row(source) = step.src[0] else { return None };
    if step.flags.writes_exec || !is_arithmetic(step) {
        return None;
    }
    let mut hot = blank(step, index);
    hot.run = arithmetic(step, &mut hot, form)?;
    hot.src[0] = HotSource::row(SOURCE_ROWS);
    Some(pair::Permuted { permutation, source, dwords: step.src_dwords[0], step: hot })
}

/// Whether it works on lanes in one step, of which the handlers read every source from where `hot.src` says.
fn is_arithmetic(step: &Step) -> bool {
    step.flags.vector
        && step.extra.as_ref().is_none_or(|extra| extra.memory.is_none() && extra.pair.is_none())
}

/// A step by itself; the fields about its neighbours are still to be filled in.
fn compile_step(step: &Step, index: u32, form: Form) -> Hot {
    own_handler(step, index, form).unwrap_or_else(|| blank(step, index))
}

/// The same, if the step has a handler of its own.
fn own_handler(step: &Step, index: u32, form: Form) -> Option<Hot> {
    let mut hot = blank(step, index);
    hot.run = handler(step, &mut hot, form)?;
    Some(hot)
}

/// A step that goes the general way.
fn blank(step: &Step, index: u32) -> Hot {
    Hot {
        run: general,
        dst: RowAt::new(step.dst),
        src: [HotSource::CONSTANT; 3],
        imm: [0; 3],
        sdst: u32::from(step.sdst),
        next: index + 1,
        target: 0,
        slot: step.slot,
        end: 0,
        vectors: 0,
        is_vector: false,
        is_beyond: false,
    }
}

/// The step's handler, if it has one of its own; completes the operands.
fn handler(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    // A word that is no instruction, and the end of the text: faults, whatever `op` they carry.
    if step.extra.as_ref().is_some_and(|extra| !extra.message.is_empty()) {
        return None;
    }
    if let Some(run) = branch(step, hot, form) {
        return Some(run);
    }
    if let Some(extra) = &step.extra {
        if let Some(access) = &extra.memory {
            return device(step, access, hot, form)
                .or_else(|| private(step, access, hot, form))
                .or_else(|| group(access, step, hot, form));
        }
        if let Some(access) = &extra.scalar {
            let Action::Load { bytes: bytes @ 4.., .. } = access.action else { return None };
            let plain = access.kind == ScalarKind::Global && access.soffset.is_none();
            hot.src[0] = HotSource::scalar(access.base);
            hot.imm[0] = i32::try_from(access.offset).ok()? as u32;
            hot.imm[1] = u32::from(bytes / 4);
            hot.sdst = u32::from(access.data);
            // EXEC's registers are written by the instructions that count it.
            let fits = u32::from(access.data) + u32::from(bytes / 4) <= u32::from(EXEC);
            return (plain && fits && access.offset % 4 == 0).then(|| at::<scalar_memory::Load>(form));
        }
    }
    if step.extra.as_ref().is_some_and(|extra| permutes(&extra.inst.mods)) {
        return None;
    }
    if step.flags.vector { arithmetic(step, hot, form) } else { scalar(step, hot, form) }
}

/// Arithmetic of lanes; DPP apart.
fn arithmetic(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    if let Some(run) = doubles(step, hot, form).or_else(|| halves::handler(step, hot, form)) {
        return Some(run);
    }
    // DPP is a modifier as well.
    let has_modifiers = step.flags.after
        || step.flags.before && !Modifiers::of(step).is_some_and(|modifiers| modifiers.is_empty());
    if has_modifiers { modified(step, hot, form) } else { vector(step, hot, form) }
}

/// Take over a source. `None`: it is of a kind that the handlers do not read.
pub(super) fn source(step: &Step, hot: &mut Hot, slot: usize, dwords: u16) -> Option<()> {
    match step.src[slot] {
        Src::Row(row) => {
            let bank = usize::from(row) / (REGISTERS / 2) * (REGISTERS / 2);
            if usize::from(row + dwords) > bank + REGISTERS / 2 {
                return None;
            }
            hot.src[slot] = HotSource::row(row);
        }
        Src::Scalar(register) if u16::from(register) + dwords <= 128 => {
            hot.src[slot] = HotSource::scalar(register);
        }
        // Handlers extend the sign of constants that they use as 64 bits.
        Src::Const(value) if dwords == 1 || value as i32 as i64 as u64 == value => {
            hot.src[slot] = HotSource::CONSTANT;
            hot.imm[slot] = value as u32;
        }
        _ => return None,
    }
    Some(())
}

/// Whether the result's rows are registers.
pub(super) fn result_fits(step: &Step, dwords: u16) -> bool {
    let bank = usize::from(step.dst) / (REGISTERS / 2) * (REGISTERS / 2);
    usize::from(step.dst + dwords) <= bank + REGISTERS / 2
}

/// A scalar result that is not EXEC.
fn scalar_result(step: &Step, dwords: u8) -> bool {
    step.sdst != NO_SCALAR
        && !step.flags.writes_exec
        && step.sdst.checked_add(dwords).is_some_and(|end| end <= 128)
}

fn branch(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let run = match step.op {
        Op::s_waitcnt
        | Op::s_wait_loadcnt
        | Op::s_wait_storecnt
        | Op::s_wait_dscnt
        | Op::s_wait_kmcnt
        | Op::s_wait_loadcnt_dscnt
        | Op::s_wait_storecnt_dscnt
        | Op::s_nop
        | Op::s_delay_alu
        | Op::s_clause
        | Op::s_waitcnt_depctr
        | Op::s_waitcnt_vscnt => return Some(at::<salu::Nothing>(form)),
        Op::s_branch => at::<salu::Branch<{ condition::ALWAYS }>>(form),
        Op::s_cbranch_scc0 => at::<salu::Branch<{ condition::SCC0 }>>(form),
        Op::s_cbranch_scc1 => at::<salu::Branch<{ condition::SCC1 }>>(form),
        Op::s_cbranch_vccz => at::<salu::Branch<{ condition::VCCZ }>>(form),
        Op::s_cbranch_vccnz => at::<salu::Branch<{ condition::VCCNZ }>>(form),
        Op::s_cbranch_execz => at::<salu::Branch<{ condition::EXECZ }>>(form),
        Op::s_cbranch_execnz => at::<salu::Branch<{ condition::EXECNZ }>>(form),
        _ => return None,
    };
    // A target outside the text is told by the general way, if it is taken.
    hot.target = u32::try_from(step.imm).ok()?;
    Some(run)
}

fn scalar(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    if let Some(run) = scalar_constant(step, hot, form) {
        return Some(run);
    }
    macro_rules! narrow {
        ($operation:ident, $count:expr) => {{
            for slot in 0..$count {
                source(step, hot, slot, 1)?;
            }
            if step.flags.writes_exec {
                (step.sdst == EXEC).then(|| at::<salu::Do32<salu::$operation, true>>(form))
            } else {
                scalar_result(step, 1).then(|| at::<salu::Do32<salu::$operation, false>>(form))
            }
        }};
    }
    macro_rules! wide {
        ($operation:ident, $count:expr) => {{
            source(step, hot, 0, 2)?;
            if $count > 1 {
                source(step, hot, 1, u16::from(step.src_dwords[1].max(1)))?;
            }
            if step.flags.writes_exec {
                (step.sdst == EXEC).then(|| at::<salu::Do64<salu::$operation, true>>(form))
            } else {
                scalar_result(step, 2).then(|| at::<salu::Do64<salu::$operation, false>>(form))
            }
        }};
    }
    macro_rules! save {
        ($operation:ident) => {{
            source(step, hot, 0, 2)?;
            let ok = step.sdst < EXEC - 1 && form.wave == WaveSize::Wave64;
            ok.then(|| at::<salu::SaveExec<salu::$operation>>(form))
        }};
    }
    macro_rules! save32 {
        ($operation:ident) => {{
            source(step, hot, 0, 1)?;
            let ok = step.sdst < EXEC && form.wave == WaveSize::Wave32;
            ok.then(|| at::<salu::SaveExec32<salu::$operation>>(form))
        }};
    }
    macro_rules! compare {
        ($cmp:ident) => {{
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            Some(at::<salu::Compare<{ cmp::$cmp }>>(form))
        }};
    }
    macro_rules! compare64 {
        ($equal:expr) => {{
            source(step, hot, 0, 2)?;
            source(step, hot, 1, 2)?;
            Some(at::<salu::Compare64<$equal>>(form))
        }};
    }
    let first_of_equals = form.arch.has(Feature::FirstOfEqualMaxima);
    match step.op {
        Op::s_mov_b32 => narrow!(Move, 1),
        Op::s_not_b32 => narrow!(Not, 1),
        Op::s_brev_b32 => narrow!(Reverse, 1),
        Op::s_bcnt1_i32_b32 => narrow!(CountOnes, 1),
        Op::s_add_u32 => narrow!(AddUnsigned, 2),
        Op::s_sub_u32 => narrow!(SubUnsigned, 2),
        Op::s_add_i32 => narrow!(AddSigned, 2),
        Op::s_sub_i32 => narrow!(SubSigned, 2),
        Op::s_addc_u32 => narrow!(AddCarry, 2),
        Op::s_subb_u32 => narrow!(SubBorrow, 2),
        Op::s_min_i32 => narrow!(MinSigned, 2),
        Op::s_min_u32 => narrow!(MinUnsigned, 2),
        Op::s_max_i32 if first_of_equals => narrow!(MaxSignedOrEqual, 2),
        Op::s_max_i32 => narrow!(MaxSigned, 2),
        Op::s_max_u32 if first_of_equals => narrow!(MaxUnsignedOrEqual, 2),
        Op::s_max_u32 => narrow!(MaxUnsigned, 2),
        Op::s_cselect_b32 => narrow!(Choose, 2),
        Op::s_and_b32 => narrow!(And, 2),
        Op::s_or_b32 => narrow!(Or, 2),
        Op::s_xor_b32 => narrow!(Xor, 2),
        Op::s_andn2_b32 => narrow!(AndNot, 2),
        Op::s_lshl_b32 => narrow!(ShiftLeft, 2),
        Op::s_lshr_b32 => narrow!(ShiftRight, 2),
        Op::s_ashr_i32 => narrow!(ShiftRightSigned, 2),
        Op::s_mul_i32 => narrow!(Multiply, 2),
        Op::s_mul_hi_u32 => narrow!(MultiplyHigh, 2),
        Op::s_lshl1_add_u32 => narrow!(Shift1Add, 2),
        Op::s_lshl2_add_u32 => narrow!(Shift2Add, 2),
        Op::s_lshl3_add_u32 => narrow!(Shift3Add, 2),
        Op::s_lshl4_add_u32 => narrow!(Shift4Add, 2),
        Op::s_mov_b64 => wide!(Move64, 1),
        Op::s_not_b64 => wide!(Not64, 1),
        Op::s_cselect_b64 => wide!(Choose64, 2),
        Op::s_and_b64 => wide!(And64, 2),
        Op::s_or_b64 => wide!(Or64, 2),
        Op::s_xor_b64 => wide!(Xor64, 2),
        Op::s_andn2_b64 => wide!(AndNot64, 2),
        Op::s_orn2_b64 => wide!(OrNot64, 2),
        Op::s_nand_b64 => wide!(Nand64, 2),
        Op::s_nor_b64 => wide!(Nor64, 2),
        Op::s_xnor_b64 => wide!(Xnor64, 2),
        Op::s_lshl_b64 => wide!(ShiftLeft64, 2),
        Op::s_lshr_b64 => wide!(ShiftRight64, 2),
        Op::s_ashr_i64 => wide!(ShiftRightSigned64, 2),
        Op::s_and_saveexec_b64 => save!(And64),
        Op::s_or_saveexec_b64 => save!(Or64),
        Op::s_xor_saveexec_b64 => save!(Xor64),
        Op::s_andn2_saveexec_b64 => save!(AndNot64),
        Op::s_and_saveexec_b32 => save32!(And),
        Op::s_or_saveexec_b32 => save32!(Or),
        Op::s_xor_saveexec_b32 => save32!(Xor),
        Op::s_andn2_saveexec_b32 => save32!(AndNot),
        Op::s_cmp_eq_i32 | Op::s_cmp_eq_u32 => compare!(EQ),
        Op::s_cmp_lg_i32 | Op::s_cmp_lg_u32 => compare!(LG),
        Op::s_cmp_gt_i32 => compare!(GT_SIGNED),
        Op::s_cmp_ge_i32 => compare!(GE_SIGNED),
        Op::s_cmp_lt_i32 => compare!(LT_SIGNED),
        Op::s_cmp_le_i32 => compare!(LE_SIGNED),
        Op::s_cmp_gt_u32 => compare!(GT_UNSIGNED),
        Op::s_cmp_ge_u32 => compare!(GE_UNSIGNED),
        Op::s_cmp_lt_u32 => compare!(LT_UNSIGNED),
        Op::s_cmp_le_u32 => compare!(LE_UNSIGNED),
        Op::s_bitcmp0_b32 => compare!(BIT_CLEAR),
        Op::s_bitcmp1_b32 => compare!(BIT_SET),
        Op::s_cmp_eq_u64 => compare64!(true),
        Op::s_cmp_lg_u64 => compare64!(false),
        _ => None,
    }
}

/// SOPK: the constant is the step's immediate, the other operand the destination.
fn scalar_constant(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let signed = i32::from(step.imm as i16) as u32;
    let unsigned = u32::from(step.imm as u16);
    let mut sources = |imm: u32| {
        let register = match step.src[0] {
            Src::None => Some(step.sdst),
            Src::Scalar(register) => Some(register),
            _ => None,
        };
        [hot.src[0], hot.src[1]] =
            [register.map_or(HotSource::row(0), HotSource::scalar), HotSource::CONSTANT];
        hot.imm[1] = imm;
        register.filter(|register| *register < 128)
    };
    macro_rules! compare {
        ($cmp:ident, $imm:expr) => {{
            sources($imm)?;
            Some(at::<salu::Compare<{ cmp::$cmp }>>(form))
        }};
    }
    match step.op {
        Op::s_movk_i32 if scalar_result(step, 1) => {
            hot.src[0] = HotSource::CONSTANT;
            hot.imm[0] = signed;
            Some(at::<salu::Do32<salu::Move, false>>(form))
        }
        Op::s_addk_i32 if scalar_result(step, 1) => {
            sources(signed)?;
            Some(at::<salu::Do32<salu::AddSigned, false>>(form))
        }
        Op::s_mulk_i32 if scalar_result(step, 1) => {
            sources(signed)?;
            Some(at::<salu::Do32<salu::Multiply, false>>(form))
        }
        Op::s_cmpk_eq_i32 => compare!(EQ, signed),
        Op::s_cmpk_lg_i32 => compare!(LG, signed),
        Op::s_cmpk_gt_i32 => compare!(GT_SIGNED, signed),
        Op::s_cmpk_ge_i32 => compare!(GE_SIGNED, signed),
        Op::s_cmpk_lt_i32 => compare!(LT_SIGNED, signed),
        Op::s_cmpk_le_i32 => compare!(LE_SIGNED, signed),
        Op::s_cmpk_eq_u32 => compare!(EQ, unsigned),
        Op::s_cmpk_lg_u32 => compare!(LG, unsigned),
        Op::s_cmpk_gt_u32 => compare!(GT_UNSIGNED, unsigned),
        Op::s_cmpk_ge_u32 => compare!(GE_UNSIGNED, unsigned),
        Op::s_cmpk_lt_u32 => compare!(LT_UNSIGNED, unsigned),
        Op::s_cmpk_le_u32 => compare!(LE_UNSIGNED, unsigned),
        _ => None,
    }
}

fn vector(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    macro_rules! one {
        ($operation:ident) => {{
            source(step, hot, 0, 1)?;
            one::<valu::$operation>(step, hot, form)
        }};
    }
    macro_rules! two {
        ($operation:ident) => {{
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            two::<valu::$operation>(step, hot, form)
        }};
    }
    macro_rules! three {
        ($operation:ident) => {{
            for slot in 0..3 {
                source(step, hot, slot, 1)?;
            }
            three::<valu::$operation>(step, hot, form)
        }};
    }
    macro_rules! carry {
        ($kind:ident, $in:expr) => {{
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            if $in {
                mask_source(step, hot)?;
            }
            let ok = result_fits(step, 1) && scalar_result(step, form.wave.mask_sgprs());
            ok.then(|| at::<Carry<{ valu::$kind }, $in>>(form))
        }};
    }
    macro_rules! shift {
        ($kind:ident) => {{
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 2)?;
            let ok = hot.src[1].is_row() && result_fits(step, 2);
            ok.then(|| match hot.src[0].is_row() {
                true => at::<wide::ShiftEach<{ wide::$kind }>>(form),
                false => at::<wide::Shift<{ wide::$kind }>>(form),
            })
        }};
    }
    if let Some(run) = comparison(step, hot, form, None).or_else(|| packed(step, hot, form)) {
        return Some(run);
    }
    match step.op {
        Op::v_mov_b32 | Op::v_accvgpr_read_b32 | Op::v_accvgpr_write_b32 | Op::v_accvgpr_mov_b32 => {
            one!(Move)
        }
        Op::v_not_b32 => one!(Not),
        Op::v_cvt_f32_i32 => one!(FromSigned),
        Op::v_cvt_f32_u32 => one!(FromUnsigned),
        Op::v_add_u32 => two!(Add),
        Op::v_sub_u32 => two!(Sub),
        Op::v_subrev_u32 => two!(SubReverse),
        Op::v_mul_lo_u32 => two!(Multiply),
        Op::v_mul_hi_u32 => two!(MultiplyHigh),
        Op::v_mul_u32_u24 => two!(Multiply24),
        Op::v_mul_i32_i24 => two!(MultiplySigned24),
        Op::v_and_b32 => two!(And),
        Op::v_or_b32 => two!(Or),
        Op::v_xor_b32 => two!(Xor),
        Op::v_xnor_b32 => two!(Xnor),
        Op::v_lshlrev_b32 => two!(ShiftLeft),
        Op::v_lshrrev_b32 => two!(ShiftRight),
        Op::v_ashrrev_i32 => two!(ShiftRightSigned),
        Op::v_min_i32 => two!(MinSigned),
        Op::v_max_i32 => two!(MaxSigned),
        Op::v_min_u32 => two!(MinUnsigned),
        Op::v_max_u32 => two!(MaxUnsigned),
        Op::v_add_f32 => two!(AddF32),
        Op::v_sub_f32 => two!(SubF32),
        Op::v_subrev_f32 => two!(SubReverseF32),
        Op::v_mul_f32 => two!(MultiplyF32),
        Op::v_min_f32 => two!(MinF32),
        Op::v_max_f32 => two!(MaxF32),
        Op::v_fma_f32 | Op::v_fmamk_f32 | Op::v_fmaak_f32 => three!(FmaF32),
        Op::v_fmac_f32 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            hot.src[2] = HotSource::row(step.dst);
            three::<valu::FmaF32>(step, hot, form)
        }
        Op::v_min3_f32 => three!(Min3F32),
        Op::v_max3_f32 => three!(Max3F32),
        Op::v_med3_f32 => three!(Med3F32),
        Op::v_minmax_f32 => three!(MinMaxF32),
        Op::v_maxmin_f32 => three!(MaxMinF32),
        Op::v_mad_f32 | Op::v_madmk_f32 | Op::v_madak_f32 | Op::v_mac_f32 => {
            multiply_add(step, hot)?;
            result_fits(step, 1).then(|| at::<MultiplyAddTwice<false>>(form))
        }
        Op::v_mad_u32_u24 => three!(Multiply24Add),
        Op::v_mad_i32_i24 => three!(MultiplySigned24Add),
        Op::v_bfe_u32 => three!(FieldUnsigned),
        Op::v_bfi_b32 => three!(FieldInsert),
        Op::v_alignbit_b32 => three!(AlignBits),
        Op::v_xad_u32 => three!(XorAdd),
        Op::v_lshl_add_u32 => three!(ShiftLeftAdd),
        Op::v_add_lshl_u32 => three!(AddShiftLeft),
        Op::v_add3_u32 => three!(Add3),
        Op::v_lshl_or_b32 => three!(ShiftLeftOr),
        Op::v_and_or_b32 => three!(AndOr),
        Op::v_or3_b32 => three!(Or3),
        Op::v_xor3_b32 => three!(Xor3),
        Op::v_min3_i32 => three!(Min3Signed),
        Op::v_max3_i32 => three!(Max3Signed),
        Op::v_med3_i32 => three!(Med3Signed),
        Op::v_min3_u32 => three!(Min3Unsigned),
        Op::v_max3_u32 => three!(Max3Unsigned),
        Op::v_med3_u32 => three!(Med3Unsigned),
        Op::v_maxmin_i32 => three!(MaxMinSigned),
        Op::v_minmax_i32 => three!(MinMaxSigned),
        Op::v_maxmin_u32 => three!(MaxMinUnsigned),
        Op::v_minmax_u32 => three!(MinMaxUnsigned),
        Op::v_cndmask_b32 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            mask_source(step, hot)?;
            select(step, hot, form)
        }
        Op::v_add_co_u32 => carry!(ADD, false),
        Op::v_sub_co_u32 => carry!(SUB, false),
        Op::v_subrev_co_u32 => carry!(SUB_REVERSE, false),
        Op::v_addc_co_u32 => carry!(ADD, true),
        Op::v_subb_co_u32 => carry!(SUB, true),
        Op::v_subbrev_co_u32 => carry!(SUB_REVERSE, true),
        Op::v_lshlrev_b64 => shift!(LEFT),
        Op::v_lshrrev_b64 => shift!(RIGHT),
        Op::v_ashrrev_i64 => shift!(RIGHT_SIGNED),
        Op::v_mad_u64_u32 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            source(step, hot, 2, 2)?;
            let third = hot.src[2].is_row() || hot.src[2] == HotSource::CONSTANT && hot.imm[2] as i32 >= 0;
            let ok = third && result_fits(step, 2) && scalar_result(step, form.wave.mask_sgprs());
            ok.then(|| at::<MultiplyAdd>(form))
        }
        Op::v_readfirstlane_b32 => {
            source(step, hot, 0, 1)?;
            (hot.src[0].is_row() && scalar_result(step, 1)).then(|| at::<valu::ReadFirst>(form))
        }
        Op::v_readlane_b32 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            let ok = hot.src[0].is_row() && !hot.src[1].is_row() && scalar_result(step, 1);
            ok.then(|| at::<valu::ReadLane>(form))
        }
        Op::v_writelane_b32 => {
            source(step, hot, 0, 1)?;
            source(step, hot, 1, 1)?;
            let ok = !hot.src[0].is_row() && !hot.src[1].is_row() && result_fits(step, 1);
            ok.then(|| at::<valu::WriteLane>(form))
        }
        _ => None,
    }
}

/// The sources of `v_mad_f32` and `v_mac_f32`, whose third one is the result's register.
fn multiply_add(step: &Step, hot: &mut Hot) -> Option<()> {
    source(step, hot, 0, 1)?;
    source(step, hot, 1, 1)?;
    if step.op == Op::v_mac_f32 {
        hot.src[2] = HotSource::row(step.dst);
        return Some(());
    }
    source(step, hot, 2, 1)
}

/// Arithmetic and comparisons of singles with modifiers.
fn modified(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    macro_rules! of_three {
        ($operation:ident) => {{
            source(step, hot, 2, 1)?;
            at::<InMode<valu::$operation, 3, true>>(form)
        }};
    }
    let modifiers = Modifiers::of(step)?;
    source(step, hot, 0, 1)?;
    source(step, hot, 1, 1)?;
    let run = match step.op {
        Op::v_add_f32 => at::<InMode<valu::AddF32, 2, true>>(form),
        Op::v_sub_f32 => at::<InMode<valu::SubF32, 2, true>>(form),
        Op::v_subrev_f32 => at::<InMode<valu::SubReverseF32, 2, true>>(form),
        Op::v_mul_f32 => at::<InMode<valu::MultiplyF32, 2, true>>(form),
        Op::v_min_f32 => at::<InMode<valu::MinF32, 2, true>>(form),
        Op::v_max_f32 => at::<InMode<valu::MaxF32, 2, true>>(form),
        Op::v_fma_f32 => of_three!(FmaF32),
        Op::v_min3_f32 => of_three!(Min3F32),
        Op::v_max3_f32 => of_three!(Max3F32),
        Op::v_med3_f32 => of_three!(Med3F32),
        Op::v_minmax_f32 => of_three!(MinMaxF32),
        Op::v_maxmin_f32 => of_three!(MaxMinF32),
        Op::v_fmac_f32 => {
            hot.src[2] = HotSource::row(step.dst);
            at::<InMode<valu::FmaF32, 3, true>>(form)
        }
        Op::v_mad_f32 | Op::v_mac_f32 => {
            multiply_add(step, hot)?;
            at::<MultiplyAddTwice<true>>(form)
        }
        // The kinds of what it compares say what signs are.
        _ if step.flags.float && !step.flags.after => return comparison(step, hot, form, Some(modifiers)),
        _ => return None,
    };
    modifiers.put(hot);
    result_fits(step, 1).then_some(run)
}

/// Arithmetic of doubles, and comparisons of 64 bits; with signs changed, but without other modifiers.
fn doubles(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    macro_rules! comparisons {
        ($($plain:ident $to_exec:ident $test:ty),* $(,)?) => {
            match step.op {
                $(Op::$plain => Some((false, at::<double::Compare<$test>>(form))),
                Op::$to_exec => Some((true, at::<double::Compare<$test>>(form))),)*
                _ => None,
            }
        };
    }
    let comparison = comparisons! {
        v_cmp_eq_u64 v_cmpx_eq_u64 double::Equal,
        v_cmp_eq_i64 v_cmpx_eq_i64 double::Equal,
        v_cmp_ne_u64 v_cmpx_ne_u64 double::NotEqual,
        v_cmp_ne_i64 v_cmpx_ne_i64 double::NotEqual,
        v_cmp_lt_i64 v_cmpx_lt_i64 double::LessSigned,
        v_cmp_le_i64 v_cmpx_le_i64 double::LessEqualSigned,
        v_cmp_gt_i64 v_cmpx_gt_i64 double::GreaterSigned,
        v_cmp_ge_i64 v_cmpx_ge_i64 double::GreaterEqualSigned,
        v_cmp_lt_u64 v_cmpx_lt_u64 double::LessUnsigned,
        v_cmp_le_u64 v_cmpx_le_u64 double::LessEqualUnsigned,
        v_cmp_gt_u64 v_cmpx_gt_u64 double::GreaterUnsigned,
        v_cmp_ge_u64 v_cmpx_ge_u64 double::GreaterEqualUnsigned,
        v_cmp_lt_f64 v_cmpx_lt_f64 double::Float<{ relation::LT }>,
        v_cmp_eq_f64 v_cmpx_eq_f64 double::Float<{ relation::EQ }>,
        v_cmp_le_f64 v_cmpx_le_f64 double::Float<{ relation::LE }>,
        v_cmp_gt_f64 v_cmpx_gt_f64 double::Float<{ relation::GT }>,
        v_cmp_lg_f64 v_cmpx_lg_f64 double::Float<{ relation::LG }>,
        v_cmp_ge_f64 v_cmpx_ge_f64 double::Float<{ relation::GE }>,
        v_cmp_o_f64 v_cmpx_o_f64 double::Float<{ relation::ORDERED }>,
        v_cmp_u_f64 v_cmpx_u_f64 double::Float<{ relation::UNORDERED }>,
        v_cmp_nge_f64 v_cmpx_nge_f64 double::Float<{ relation::NGE }>,
        v_cmp_nlg_f64 v_cmpx_nlg_f64 double::Float<{ relation::NLG }>,
        v_cmp_ngt_f64 v_cmpx_ngt_f64 double::Float<{ relation::NGT }>,
        v_cmp_nle_f64 v_cmpx_nle_f64 double::Float<{ relation::NLE }>,
        v_cmp_neq_f64 v_cmpx_neq_f64 double::Float<{ relation::NEQ }>,
        v_cmp_nlt_f64 v_cmpx_nlt_f64 double::Float<{ relation::NLT }>,
    };
    let (sources, run) = match step.op {
        Op::v_add_f64 => (2, at::<double::Do<double::Add, 2>>(form)),
        Op::v_mul_f64 => (2, at::<double::Do<double::Multiply, 2>>(form)),
        Op::v_min_f64 => (2, at::<double::Do<double::Min, 2>>(form)),
        Op::v_max_f64 => (2, at::<double::Do<double::Max, 2>>(form)),
        Op::v_fma_f64 => (3, at::<double::Do<double::Fma, 3>>(form)),
        Op::v_fmac_f64 => (2, at::<double::Do<double::Fma, 3>>(form)),
        _ => (2, comparison?.1),
    };
    let modifiers = Modifiers::of(step).filter(|modifiers| modifiers.are_signs())?;
    for slot in 0..sources {
        match step.src[slot] {
            Src::Const(value) if value as u32 == 0 => {
                (hot.src[slot], hot.imm[slot]) = (HotSource::CONSTANT, (value >> 32) as u32);
            }
            Src::Const(value) if value as i32 as i64 as u64 == value => {
                (hot.src[slot], hot.imm[slot]) = (double::LOW, value as u32);
            }
            Src::Const(_) => return None,
            _ => source(step, hot, slot, 2)?,
        }
    }
    if step.op == Op::v_fmac_f64 {
        hot.src[2] = HotSource::row(step.dst);
    }
    modifiers.put(hot);
    match comparison {
        Some((to_exec, run)) => mask_result(step, hot, form, to_exec, run),
        None => (!step.flags.after && result_fits(step, 2)).then_some(run),
    }
}

/// Operations on pairs of singles.
fn packed(step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let (sources, moves, run) = match step.op {
        Op::v_pk_fma_f32 => (3, false, at::<packed::Packed<valu::FmaF32, 3>>(form)),
        Op::v_pk_mul_f32 => (2, false, at::<packed::Packed<valu::MultiplyF32, 2>>(form)),
        Op::v_pk_add_f32 => (2, false, at::<packed::Packed<valu::AddF32, 2>>(form)),
        Op::v_pk_mov_b32 => (2, true, at::<packed::Move>(form)),
        _ => return None,
    };
    let mods = &step.extra.as_ref()?.inst.mods;
    if mods.clamp || !result_fits(step, 2) {
        return None;
    }
    for slot in 0..sources {
        source(step, hot, slot, 2)?;
        if hot.src[slot].is_constant() {
            return None;
        }
        let bit = |field: u8, bit: u32, at: u32| if field >> slot & 1 != 0 { bit << at } else { 0 };
        hot.imm[slot] = bit(mods.op_sel, packed::HIGH, 0);
        if !moves {
            hot.imm[slot] |= bit(mods.neg, packed::NEGATIVE, 0)
                | bit(mods.op_sel_hi, packed::HIGH, 2)
                | bit(mods.neg_hi, packed::NEGATIVE, 2);
        }
    }
    Some(run)
}

/// A mask in scalar registers, as the third source.
pub(super) fn mask_source(step: &Step, hot: &mut Hot) -> Option<()> {
    match step.src[2] {
        Src::Scalar(register) if register < 127 => hot.src[2] = HotSource::scalar(register),
        _ => return None,
    }
    Some(())
}

fn one<O: Operation>(step: &Step, hot: &Hot, form: Form) -> Option<HotHandler> {
    let run = if hot.src[0].is_row() { at::<Do<O, 1, 0>>(form) } else { at::<Do<O, 1, FIRST>>(form) };
    result_fits(step, 1).then_some(run)
}

/// Which of the first `count` sources are the same for all lanes.
fn same(hot: &Hot, count: usize) -> u8 {
    (0..count).filter(|slot| !hot.src[*slot].is_row()).map(|slot| 1 << slot).sum()
}

fn two<O: Operation>(step: &Step, hot: &Hot, form: Form) -> Option<HotHandler> {
    let run = match same(hot, 2) {
        0 => at::<Do<O, 2, 0>>(form),
        FIRST => at::<Do<O, 2, FIRST>>(form),
        SECOND => at::<Do<O, 2, SECOND>>(form),
        _ => return None,
    };
    result_fits(step, 1).then_some(run)
}

fn three<O: Operation>(step: &Step, hot: &Hot, form: Form) -> Option<HotHandler> {
    let run = match same(hot, 3) {
        0 => at::<Do<O, 3, 0>>(form),
        1 => at::<Do<O, 3, 1>>(form),
        2 => at::<Do<O, 3, 2>>(form),
        3 => at::<Do<O, 3, 3>>(form),
        4 => at::<Do<O, 3, 4>>(form),
        5 => at::<Do<O, 3, 5>>(form),
        6 => at::<Do<O, 3, 6>>(form),
        _ => return None,
    };
    result_fits(step, 1).then_some(run)
}

fn select(step: &Step, hot: &Hot, form: Form) -> Option<HotHandler> {
    let run = match same(hot, 2) {
        0 => at::<Select<0>>(form),
        FIRST => at::<Select<FIRST>>(form),
        SECOND => at::<Select<SECOND>>(form),
        _ => at::<Select<{ FIRST | SECOND }>>(form),
    };
    result_fits(step, 1).then_some(run)
}

fn compare<T: Test, const TO_EXEC: bool>(hot: &Hot, form: Form, modified: bool) -> Option<HotHandler> {
    if modified {
        // Integers have no modifiers.
        return if const { T::FLOAT } { Some(at::<compare::InMode<T, true>>(form)) } else { None };
    }
    Some(match same(hot, 2) {
        0 => at::<Compare<T, 0, TO_EXEC>>(form),
        FIRST => at::<Compare<T, FIRST, TO_EXEC>>(form),
        SECOND => at::<Compare<T, SECOND, TO_EXEC>>(form),
        _ => return None,
    })
}

fn comparison(step: &Step, hot: &mut Hot, form: Form, modifiers: Option<Modifiers>) -> Option<HotHandler> {
    let modified = modifiers.is_some();
    macro_rules! compare {
        ($($plain:ident $to_exec:ident $test:ty),* $(,)?) => {
            match step.op {
                $(Op::$plain => (false, compare::<$test, false>(hot, form, modified)?),
                Op::$to_exec => (true, compare::<$test, true>(hot, form, modified)?),)*
                _ => return None,
            }
        };
    }
    // What else has sources that these can't read has no handler either.
    source(step, hot, 0, 1)?;
    source(step, hot, 1, 1)?;
    let (to_exec, run) = compare! {
        v_cmp_eq_u32 v_cmpx_eq_u32 compare::Equal,
        v_cmp_eq_i32 v_cmpx_eq_i32 compare::Equal,
        v_cmp_ne_u32 v_cmpx_ne_u32 compare::NotEqual,
        v_cmp_ne_i32 v_cmpx_ne_i32 compare::NotEqual,
        v_cmp_lt_i32 v_cmpx_lt_i32 compare::LessSigned,
        v_cmp_le_i32 v_cmpx_le_i32 compare::LessEqualSigned,
        v_cmp_gt_i32 v_cmpx_gt_i32 compare::GreaterSigned,
        v_cmp_ge_i32 v_cmpx_ge_i32 compare::GreaterEqualSigned,
        v_cmp_lt_u32 v_cmpx_lt_u32 compare::LessUnsigned,
        v_cmp_le_u32 v_cmpx_le_u32 compare::LessEqualUnsigned,
        v_cmp_gt_u32 v_cmpx_gt_u32 compare::GreaterUnsigned,
        v_cmp_ge_u32 v_cmpx_ge_u32 compare::GreaterEqualUnsigned,
        v_cmp_lt_f32 v_cmpx_lt_f32 compare::Float<{ relation::LT }>,
        v_cmp_eq_f32 v_cmpx_eq_f32 compare::Float<{ relation::EQ }>,
        v_cmp_le_f32 v_cmpx_le_f32 compare::Float<{ relation::LE }>,
        v_cmp_gt_f32 v_cmpx_gt_f32 compare::Float<{ relation::GT }>,
        v_cmp_lg_f32 v_cmpx_lg_f32 compare::Float<{ relation::LG }>,
        v_cmp_ge_f32 v_cmpx_ge_f32 compare::Float<{ relation::GE }>,
        v_cmp_o_f32 v_cmpx_o_f32 compare::Float<{ relation::ORDERED }>,
        v_cmp_u_f32 v_cmpx_u_f32 compare::Float<{ relation::UNORDERED }>,
        v_cmp_nge_f32 v_cmpx_nge_f32 compare::Float<{ relation::NGE }>,
        v_cmp_nlg_f32 v_cmpx_nlg_f32 compare::Float<{ relation::NLG }>,
        v_cmp_ngt_f32 v_cmpx_ngt_f32 compare::Float<{ relation::NGT }>,
        v_cmp_nle_f32 v_cmpx_nle_f32 compare::Float<{ relation::NLE }>,
        v_cmp_neq_f32 v_cmpx_neq_f32 compare::Float<{ relation::NEQ }>,
        v_cmp_nlt_f32 v_cmpx_nlt_f32 compare::Float<{ relation::NLT }>,
    };
    if let Some(modifiers) = modifiers {
        modifiers.put(hot);
    }
    mask_result(step, hot, form, to_exec, run)
}

/// The handler of a comparison, if it writes its mask where handlers do.
pub(super) fn mask_result(
    step: &Step,
    hot: &mut Hot,
    form: Form,
    to_exec: bool,
    run: HotHandler,
) -> Option<HotHandler> {
    if to_exec {
        hot.imm[2] = compare::MASK_TO_EXEC;
    }
    // Where EXEC alone is written, there is no other result.
    if to_exec && step.sdst == NO_SCALAR {
        hot.sdst = NULL_RESULT.into();
        return Some(run);
    }
    let fits = step.sdst.saturating_add(form.wave.mask_sgprs()) <= EXEC;
    // Else the result itself is EXEC.
    (fits && to_exec == step.flags.writes_exec).then_some(run)
}

/// Loads and stores in device memory.
fn device(step: &Step, access: &MemoryAccess, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let plain = !access.tfe && !access.lds_dma && !access.adds_lane && access.typed.is_none();
    if !plain || !matches!(access.space, Space::Global | Space::Flat) {
        return None;
    }
    let row = access.vaddr?;
    hot.src[0] = HotSource::row(row);
    let rows = match access.scalar {
        Src::None => 2,
        Src::Scalar(register) if access.space == Space::Global && register < 127 => {
            hot.src[1] = HotSource::scalar(register);
            1
        }
        _ => return None,
    };
    hot.src[2].mark = if access.space == Space::Flat { memory::FLAT } else { 0 }
        | if passes_the_cache(step) { memory::PASSES_THE_CACHE } else { 0 };
    hot.imm[0] = i32::try_from(access.offset).ok()? as u32;
    let fits = |first: u16, count: u16| usize::from(first % 256 + count) <= REGISTERS / 2;
    if let Some((store, narrow)) = memory::Narrow::of(access.action) {
        let data = if store { access.data[0] } else { access.dst };
        hot.dst = RowAt::new(data);
        hot.imm[2] = narrow.to_bits();
        let run = if store { at::<memory::Less<true>>(form) } else { at::<memory::Less<false>>(form) };
        return fits(row, rows).then_some(run);
    }
    if let Action::Atomic { bytes: bytes @ (4 | 8), returns, .. } = access.action {
        let dwords = u16::from(bytes / 4);
        // Compare-and-swap has its other operand behind the first.
        let other = access.data[0] + dwords;
        if !fits(row, rows) || !fits(access.data[0], 2 * dwords) || returns && !fits(access.dst, dwords) {
            return None;
        }
        hot.dst = RowAt::new(access.dst);
        [hot.src[1].row, hot.src[2].row] = [other, access.data[0]].map(RowAt::new);
        return Some(match (bytes, returns) {
            (4, false) => at::<Atomic<false, false>>(form),
            (4, true) => at::<Atomic<false, true>>(form),
            (_, false) => at::<Atomic<true, false>>(form),
            (_, true) => at::<Atomic<true, true>>(form),
        });
    }
    let (store, bytes, data) = dwords(access)?;
    hot.dst = RowAt::new(data);
    if !fits(row, rows) || !fits(data, u16::from(bytes / 4)) {
        return None;
    }
    Some(match (store, bytes) {
        (false, 4) => at::<memory::Access<false, 1>>(form),
        (false, 8) => at::<memory::Access<false, 2>>(form),
        (false, 12) => at::<memory::Access<false, 3>>(form),
        (false, 16) => at::<memory::Access<false, 4>>(form),
        (true, 4) => at::<memory::Access<true, 1>>(form),
        (true, 8) => at::<memory::Access<true, 2>>(form),
        (true, 12) => at::<memory::Access<true, 3>>(form),
        (true, 16) => at::<memory::Access<true, 4>>(form),
        _ => return None,
    })
}

/// Loads and stores in scratch, through a buffer resource or FLAT_SCRATCH.
fn private(step: &Step, access: &MemoryAccess, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    use scratch::{Access, BUFFER, FLAT};
    let plain = !access.tfe && !access.lds_dma && access.typed.is_none() && !access.idxen;
    let buffer = access.space == Space::Buffer;
    if !plain || !buffer && access.space != Space::Scratch {
        return None;
    }
    match access.vaddr {
        Some(row) if !buffer || access.offen => hot.src[0] = HotSource::row(row),
        _ => hot.src[0] = HotSource::CONSTANT,
    }
    (hot.src[1], hot.imm[1]) = match access.scalar {
        Src::Scalar(register) if register < 128 => (HotSource::scalar(register), 0),
        Src::Const(value) => (HotSource::CONSTANT, value as u32),
        Src::None | Src::Special(Special::Null) => (HotSource::CONSTANT, 0),
        _ => return None,
    };
    hot.imm[0] = i32::try_from(access.offset).ok()? as u32;
    hot.sdst = u32::from(access.resource);
    hot.src[2].mark = if passes_the_cache(step) { memory::PASSES_THE_CACHE } else { 0 };
    if buffer && access.resource > 100 {
        return None;
    }
    let (store, bytes, data) = match memory::Narrow::of(access.action) {
        Some((store, narrow)) => {
            hot.imm[2] = narrow.to_bits();
            (store, 0, if store { access.data[0] } else { access.dst })
        }
        None => dwords(access)?,
    };
    if usize::from(data % 256 + u16::from(bytes / 4).max(1)) > REGISTERS / 2 {
        return None;
    }
    hot.dst = RowAt::new(data);
    Some(match (buffer, store, bytes / 4) {
        (true, false, 0) => at::<Access<false, 0, BUFFER>>(form),
        (true, false, 1) => at::<Access<false, 1, BUFFER>>(form),
        (true, false, 2) => at::<Access<false, 2, BUFFER>>(form),
        (true, false, 3) => at::<Access<false, 3, BUFFER>>(form),
        (true, false, _) => at::<Access<false, 4, BUFFER>>(form),
        (true, true, 0) => at::<Access<true, 0, BUFFER>>(form),
        (true, true, 1) => at::<Access<true, 1, BUFFER>>(form),
        (true, true, 2) => at::<Access<true, 2, BUFFER>>(form),
        (true, true, 3) => at::<Access<true, 3, BUFFER>>(form),
        (true, true, _) => at::<Access<true, 4, BUFFER>>(form),
        (false, false, 0) => at::<Access<false, 0, FLAT>>(form),
        (false, false, 1) => at::<Access<false, 1, FLAT>>(form),
        (false, false, 2) => at::<Access<false, 2, FLAT>>(form),
        (false, false, 3) => at::<Access<false, 3, FLAT>>(form),
        (false, false, _) => at::<Access<false, 4, FLAT>>(form),
        (false, true, 0) => at::<Access<true, 0, FLAT>>(form),
        (false, true, 1) => at::<Access<true, 1, FLAT>>(form),
        (false, true, 2) => at::<Access<true, 2, FLAT>>(form),
        (false, true, 3) => at::<Access<true, 3, FLAT>>(form),
        (false, true, _) => at::<Access<true, 4, FLAT>>(form),
    })
}

/// Whether it stores, its bytes, its first data register.
fn dwords(access: &MemoryAccess) -> Option<(bool, u8, u16)> {
    match access.action {
        Action::Load { bytes, part: Part::Whole, .. } if bytes >= 4 => Some((false, bytes, access.dst)),
        Action::Store { bytes, part: Part::Whole } if bytes >= 4 => Some((true, bytes, access.data[0])),
        _ => None,
    }
}

/// Reads and writes of less than a dword in LDS.
fn less_in_group(access: &MemoryAccess, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let (write, narrow) = memory::Narrow::of(access.action)?;
    let data = if write { access.data[0] } else { access.dst };
    hot.src[0] = HotSource::row(access.vaddr?);
    hot.dst = RowAt::new(data);
    hot.imm[0] = u32::try_from(access.offset).ok()?;
    hot.imm[2] = narrow.to_bits();
    Some(if write { at::<lds::Less<true>>(form) } else { at::<lds::Less<false>>(form) })
}

/// Atomics in LDS.
fn atomic_in_group(access: &MemoryAccess, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let Action::Atomic { bytes: bytes @ (4 | 8), returns, .. } = access.action else { return None };
    let dwords = u16::from(bytes / 4);
    let fits = |first: u16| usize::from(first % 256 + dwords) <= REGISTERS / 2;
    if !access.data.into_iter().all(fits) || returns && !fits(access.dst) {
        return None;
    }
    hot.src = [access.vaddr?, access.data[0], access.data[1]].map(HotSource::row);
    hot.dst = RowAt::new(access.dst);
    hot.imm[0] = u32::try_from(access.offset).ok()?;
    Some(match (bytes, returns) {
        (4, false) => at::<lds::Atomic<false, false>>(form),
        (4, true) => at::<lds::Atomic<false, true>>(form),
        (_, false) => at::<lds::Atomic<true, false>>(form),
        (_, true) => at::<lds::Atomic<true, true>>(form),
    })
}

/// Reads and writes of whole dwords in LDS.
fn group(access: &MemoryAccess, step: &Step, hot: &mut Hot, form: Form) -> Option<HotHandler> {
    let plain = matches!(
        step.op,
        Op::ds_read_b32
            | Op::ds_read_b64
            | Op::ds_read_b96
            | Op::ds_read_b128
            | Op::ds_write_b32
            | Op::ds_write_b64
            | Op::ds_write_b96
            | Op::ds_write_b128
            | Op::ds_read2_b32
            | Op::ds_read2_b64
            | Op::ds_read2st64_b32
            | Op::ds_read2st64_b64
            | Op::ds_write2_b32
            | Op::ds_write2_b64
            | Op::ds_write2st64_b32
            | Op::ds_write2st64_b64
    );
    let in_lds = access.space == Space::Lds && step.extra.as_ref().is_some_and(|extra| !extra.inst.mods.gds);
    if !in_lds || access.adds_lane {
        return None;
    }
    if access.second.is_none()
        && is_plain_in_lds(step.op)
        && let Some(run) = atomic_in_group(access, hot, form).or_else(|| less_in_group(access, hot, form))
    {
        return Some(run);
    }
    if !plain {
        return None;
    }
    let row = access.vaddr?;
    let (write, bytes, data) = dwords(access)?;
    // Equal offsets mean one write, of the first data (Vega ISA manual, "Double Address Instructions").
    let two = access.second.is_some_and(|second| !write || second != access.offset);
    let count = 1 + u16::from(two);
    let fits = |first: u16, count: u16| usize::from(first % 256 + count) <= REGISTERS / 2;
    let registers = u16::from(bytes / 4) * if write { 1 } else { count };
    if !fits(row, 1) || !fits(data, registers) || write && count == 2 && !fits(access.data[1], registers) {
        return None;
    }
    hot.src[0] = HotSource::row(row);
    hot.src[1] = HotSource::row(access.data[1]);
    hot.dst = RowAt::new(data);
    hot.imm[0] = u32::try_from(access.offset).ok()?;
    hot.imm[1] = access.second.map_or(Some(0), |offset| u32::try_from(offset).ok())?;
    Some(match (write, bytes, count) {
        (false, 4, 1) => at::<lds::Access<false, 1, 1>>(form),
        (false, 8, 1) => at::<lds::Access<false, 2, 1>>(form),
        (false, 12, 1) => at::<lds::Access<false, 3, 1>>(form),
        (false, 16, 1) => at::<lds::Access<false, 4, 1>>(form),
        (false, 4, 2) => at::<lds::Access<false, 1, 2>>(form),
        (false, 8, 2) => at::<lds::Access<false, 2, 2>>(form),
        (true, 4, 1) => at::<lds::Access<true, 1, 1>>(form),
        (true, 8, 1) => at::<lds::Access<true, 2, 1>>(form),
        (true, 12, 1) => at::<lds::Access<true, 3, 1>>(form),
        (true, 16, 1) => at::<lds::Access<true, 4, 1>>(form),
        (true, 4, 2) => at::<lds::Access<true, 1, 2>>(form),
        (true, 8, 2) => at::<lds::Access<true, 2, 2>>(form),
        _ => return None,
    })
}
