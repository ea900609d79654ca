//! What differences between two processors usually come from, where the instructions show it.

use amdgpu_isa::{Encoding, Inst, MaskOp, NumberKind, Op, WaveSize};

use super::meaning::is_subnormal;
use super::rerun::Rerun;
use super::source::Made;

/// What two instructions at which executions part have the difference from, if that is one of the usual
/// causes.
pub(super) fn suspect(
    (here, one): (&Rerun<'_>, Option<&Made>),
    (there, other): (&Rerun<'_>, Option<&Made>),
) -> Option<String> {
    let sizes = [here.wave().lanes(), there.wave().lanes()];
    let insts = [one, other].map(|made| made.and_then(|made| made.step.inst.as_deref()));
    if sizes[0] != sizes[1]
        && let Some(what) = insts.into_iter().rev().flatten().find_map(of_wave)
    {
        return Some(format!(
            "{what}, and waves have {} lanes on one and {} on the other",
            sizes[0], sizes[1]
        ));
    }
    let (one, other) = (one?, other?);
    let [Some(first), Some(second)] = insts else { return None };
    let values = [one.value, other.value];
    let is_zero = |value: u32| value << 1 == 0;
    let are_singles = first.numbers(here.target()).result == NumberKind::F32
        && second.numbers(there.target()).result == NumberKind::F32;
    let has_subnormal = values.iter().any(|value| is_subnormal(NumberKind::F32, *value))
        || reads_subnormal(here, one)
        || reads_subnormal(there, other);
    let read_alike = read(one) == read(other);
    if are_singles && has_subnormal && (read_alike || values.iter().any(|value| is_zero(*value))) {
        return Some("one of them flushes subnormal numbers to zero, the other keeps them".to_owned());
    }
    if is_fused(first) != is_fused(second) {
        return Some(
            "one of them multiplies and adds with one rounding, the other rounds the product, too: ask for \
             `mul_add`, or for none"
                .to_owned(),
        );
    }
    (first.op != second.op && read_alike)
        .then(|| "they are different instructions for one operation".to_owned())
}

/// What an instruction reads, in no order of operands.
fn read(made: &Made) -> Vec<u32> {
    let mut values: Vec<u32> = made.step.reads.iter().map(|(_, value)| *value).collect();
    values.sort_unstable();
    values
}

/// Whether an instruction takes a subnormal number, of the kinds of its sources.
fn reads_subnormal(rerun: &Rerun<'_>, made: &Made) -> bool {
    let Some(inst) = &made.step.inst else { return false };
    let kinds = inst.numbers(rerun.target()).sources;
    made.step.reads.iter().any(|(_, value)| kinds.iter().any(|kind| is_subnormal(*kind, *value)))
}

/// What of an instruction depends on the size of waves.
fn of_wave(inst: &Inst) -> Option<&'static str> {
    if matches!(inst.op, Op::v_mbcnt_lo_u32_b32 | Op::v_mbcnt_hi_u32_b32) {
        return Some("it is the lane's number in its wave");
    }
    if inst.op.comparison().is_some() && inst.encoding != Encoding::Sopc {
        return Some("it is a mask with a bit for each lane of the wave");
    }
    let counts = |wave| inst.op.mask_op(wave) == Some(MaskOp::CountLanes);
    if [WaveSize::Wave32, WaveSize::Wave64].into_iter().any(counts) {
        return Some("it is the number of lanes in a mask of the wave");
    }
    let of_lanes = [
        Op::v_readlane_b32,
        Op::v_readfirstlane_b32,
        Op::ds_bpermute_b32,
        Op::ds_permute_b32,
        Op::ds_swizzle_b32,
    ];
    let moves = of_lanes.contains(&inst.op) || inst.mods.dpp.is_some() || inst.mods.dpp8.is_some();
    moves.then_some("it is the value of another lane of the wave")
}

/// Instructions that multiply and add.
const MULTIPLY_ADD: [Op; 20] = [
    Op::v_fma_f16,
    Op::v_fma_f32,
    Op::v_fma_f64,
    Op::v_fma_mix_f32,
    Op::v_fmaak_f16,
    Op::v_fmaak_f32,
    Op::v_fmac_f16,
    Op::v_fmac_f32,
    Op::v_fmac_f64,
    Op::v_fmamk_f16,
    Op::v_fmamk_f32,
    Op::v_mac_f16,
    Op::v_mac_f32,
    Op::v_mad_f16,
    Op::v_mad_f32,
    Op::v_madak_f32,
    Op::v_madmk_f32,
    Op::v_mad_mix_f32,
    Op::v_pk_fma_f16,
    Op::v_pk_fma_f32,
];

/// Whether an instruction multiplies and adds.
fn is_fused(inst: &Inst) -> bool {
    std::iter::once(inst.op).chain(inst.mods.dual).any(|op| MULTIPLY_ADD.contains(&op))
}
