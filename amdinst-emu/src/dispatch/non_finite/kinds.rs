//! The kinds of floats that an operation computes, and computes with.

use amdgpu_isa::{Families, NumberKind, Op};

use super::class::{is_float, of_element};
use crate::program::{Extra, Step};

/// Kinds of an operation's result and sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) result: NumberKind,
    /// In the order of the text. `None` of floats that are not looked at.
    pub(super) sources: [Option<NumberKind>; 4],
}

impl Kinds {
    /// Those of a step, which is one operation; `None` of one that computes no float.
    pub(super) fn of(step: &Step) -> Option<Self> {
        let extra = step.extra.as_ref()?;
        if !step.flags.vector || extra.memory.is_some() || step.op.is_of(Families::COMPARE) {
            return None;
        }
        let Kinds { result, mut sources } = Self::of_numbers(step.op, extra);
        if let Some(product) = step.op.matrix_product() {
            let addend = if product.is_sparse { NumberKind::Bits32 } else { result };
            sources = [of_element(product.a), of_element(product.b), Some(addend), Some(NumberKind::Bits32)];
        }
        is_float(result).then_some(Self { result, sources })
    }

    fn of_numbers(op: Op, extra: &Extra) -> Self {
        let sources = extra.numbers.sources;
        let same = |kind: NumberKind| Kinds { result: kind, sources: [Some(kind); 4] };
        let result = |result: NumberKind| Kinds { result, sources: sources.map(Some) };
        match raw_result(op) {
            None => result(extra.numbers.result),
            Some(RawResult::Of(kind)) => result(kind),
            Some(RawResult::Packed(kind)) => same(kind),
            Some(RawResult::Dot(kind)) => {
                let sources = [Some(kind), Some(kind), Some(NumberKind::F32), None];
                Kinds { result: NumberKind::F32, sources }
            }
            Some(RawResult::Mixed(result)) => {
                // A source is a half where its bit is set.
                let half = |bit: u8| extra.inst.mods.op_sel_hi >> bit & 1 != 0;
                let kind = |bit: u8| Some(if half(bit) { NumberKind::F16 } else { NumberKind::F32 });
                Kinds { result, sources: [kind(0), kind(1), kind(2), None] }
            }
        }
    }
}

/// The floats that an operation writes though its result is one of raw bits to the encoding.
enum RawResult {
    /// Its sources are as the encoding says.
    Of(NumberKind),
    /// Its sources are like it.
    Packed(NumberKind),
    /// A single, which products of this kind are added to.
    Dot(NumberKind),
    /// Its sources are singles or halves.
    Mixed(NumberKind),
}

fn raw_result(op: Op) -> Option<RawResult> {
    use RawResult::{Dot, Mixed, Of, Packed};
    Some(match op {
        Op::v_cvt_pkrtz_f16_f32 | Op::v_cvt_pk_f16_f32 | Op::v_cvt_sr_f16_f32 => Of(NumberKind::F16),
        Op::v_cvt_pk_bf16_f32 | Op::v_cvt_sr_bf16_f32 => Of(NumberKind::Bf16),
        Op::v_pack_b32_f16
        | Op::v_pk_add_f16
        | Op::v_pk_fma_f16
        | Op::v_pk_fmac_f16
        | Op::v_pk_mul_f16
        | Op::v_pk_max_f16
        | Op::v_pk_min_f16
        | Op::v_pk_maximum_f16
        | Op::v_pk_minimum_f16
        | Op::v_pk_maximum3_f16
        | Op::v_pk_minimum3_f16 => Packed(NumberKind::F16),
        Op::v_pk_add_f32 | Op::v_pk_fma_f32 | Op::v_pk_mul_f32 => Packed(NumberKind::F32),
        Op::v_dot2_f32_f16 | Op::v_dot2c_f32_f16 => Dot(NumberKind::F16),
        Op::v_dot2_f32_bf16 | Op::v_dot2c_f32_bf16 => Dot(NumberKind::Bf16),
        Op::v_fma_mix_f32 | Op::v_mad_mix_f32 => Mixed(NumberKind::F32),
        Op::v_fma_mixlo_f16 | Op::v_fma_mixhi_f16 | Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16 => {
            Mixed(NumberKind::F16)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use amdgpu_isa::{Encoding, Inst, Mods, Numbers, Operands};

    use super::*;

    /// The kind that an opcode's name says its result has, of vector arithmetic on floats of 16 bits and
    /// more.
    fn by_name(op: Op) -> Option<NumberKind> {
        let name = op.name().strip_prefix("v_")?;
        let others =
            ["cmp", "readlane", "frexp_exp", "interp", "cvt_scale", "s_", "mfma", "smfmac", "wmma", "swmmac"];
        if others.iter().any(|other| name.starts_with(other)) {
            return None;
        }
        let kind = |part: &str| match part {
            "f16" => Some(NumberKind::F16),
            "bf16" => Some(NumberKind::Bf16),
            "f32" => Some(NumberKind::F32),
            "f64" => Some(NumberKind::F64),
            _ => None,
        };
        let is_type = |part: &&str| {
            let digits = part.trim_start_matches(|c: char| c.is_ascii_lowercase());
            part.len() > digits.len()
                && digits.parse::<u8>().is_ok()
                && !["dot2", "min3", "max3", "med3"].contains(part)
        };
        // Conversions and dot products name the result first.
        let mut types = name.split('_').filter(is_type);
        match name.starts_with("cvt") || name.starts_with("dot") {
            true => kind(types.next()?),
            false => kind(types.next_back()?),
        }
    }

    #[test]
    fn every_operation_on_floats_is_looked_at() {
        let mut looked = 0;
        for op in Op::ALL.iter().copied() {
            let Some(expected) = by_name(op) else { continue };
            let (encoding, operands, mods) = (Encoding::Vop3, Operands::new(), Mods::default());
            let inst = Inst { op, encoding, size: 8, operands, mods };
            let numbers = ["gfx90a", "gfx950", "gfx1030", "gfx1100", "gfx1201"]
                .iter()
                .map(|cpu| inst.numbers(cpu.parse::<amdgpu_isa::Arch>().expect("a processor")))
                .find(|numbers| *numbers != Numbers::RAW);
            let Some(numbers) = numbers else { continue };
            let extra = Extra {
                inst,
                numbers,
                keep_half: false,
                high_halves: 0,
                memory: None,
                scalar: None,
                pair: None,
                permutation: None,
                message: String::new(),
            };
            let kinds = Kinds::of_numbers(op, &extra);
            assert_eq!(kinds.result, expected, "{op}");
            looked += 1;
        }
        assert!(looked > 120, "{looked}");
    }
}
