//! What a conversion's mnemonic says.

use std::sync::OnceLock;

use amdgpu_isa::{Arch, Op};

use crate::exec::minifloat::{self, Format};

/// Which part of a register OP_SEL selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    Word,
    Byte,
}

/// One conversion. FP8 and BF8 stand for whichever the processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) from: Format,
    pub(super) to: Format,
    /// Elements converted.
    pub(super) count: usize,
    /// Sources that elements come from: all from the first, or in turn from the first two.
    pub(super) in_turn: bool,
    /// Which source is the seed of stochastic rounding.
    pub(super) seed: Option<usize>,
    /// Which source's exponent is the scale.
    pub(super) scale: Option<usize>,
    /// Which part of the source is read.
    pub(super) source: Part,
    /// Which part of the result is written; the rest is kept.
    pub(super) result: Part,
}

impl Plan {
    /// From a wider to a narrower format.
    pub(super) fn narrows(&self) -> bool {
        self.from.bits() > self.to.bits()
    }

    /// The format that one of the plan's stands for.
    pub(super) fn format(&self, format: Format, arch: Arch) -> Format {
        match format {
            minifloat::FP8_OCP => minifloat::fp8(arch),
            minifloat::BF8_OCP => minifloat::bf8(arch),
            other => other,
        }
    }

    /// Source and index of an element.
    pub(super) fn element(&self, at: usize) -> (usize, usize) {
        if self.in_turn { (at % 2, at / 2) } else { (0, at) }
    }

    /// First bit of the result's part, and how many bits are written if not all.
    pub(super) fn place(&self, op_sel: u8) -> (u32, Option<u32>) {
        let high = u32::from(op_sel >> 3 & 1);
        match self.result {
            Part::Whole => (0, None),
            Part::Word => (16 * high, Some(16)),
            Part::Byte => (8 * u32::from(op_sel >> 2 & 3), Some(8)),
        }
    }
}

/// The conversion of a mnemonic; none for instructions that are executed elsewhere.
pub(super) fn of(op: Op) -> Option<&'static Plan> {
    static PLANS: OnceLock<Vec<Option<Plan>>> = OnceLock::new();
    let plans = PLANS.get_or_init(|| Op::ALL.iter().map(|op| parse(op.name())).collect());
    plans.get(op as usize)?.as_ref()
}

fn parse(name: &str) -> Option<Plan> {
    let rest = name.strip_prefix("v_cvt_")?;
    let scaled = rest.strip_prefix("scalef32_");
    let rest = scaled.unwrap_or(rest);
    let stochastic = rest.strip_prefix("sr_");
    let rest = stochastic.unwrap_or(rest);
    let mut words: Vec<&str> = rest.split('_').collect();
    let group = match words.first()? {
        &"pk" => 2,
        &"pk32" | &"2xpk16" => 32,
        _ => 1,
    };
    let interleaved = words[0] == "2xpk16";
    if group > 1 {
        words.remove(0);
    }
    let [to, from] = words[..] else { return None };
    let (to, from) = (format(to)?, format(from)?);
    // Between single, double and half precision, and integers, there are others.
    let known = from.bits() < 16
        || to.bits() < 16
        || from == minifloat::BF16
        || to == minifloat::BF16
        || stochastic.is_some()
        || name == "v_cvt_pk_f16_f32";
    if !known {
        return None;
    }
    // Two singles to be packed stand in two sources, unless stochastic rounding needs the second.
    let in_turn = interleaved || group == 2 && from == minifloat::F32 && stochastic.is_none();
    let data = if in_turn { 2 } else { 1 };
    let seed = stochastic.map(|_| 1);
    let scale = scaled.map(|_| data + usize::from(seed.is_some()));
    let part = |bits: u32| match bits {
        8 => Part::Byte,
        16 => Part::Word,
        _ => Part::Whole,
    };
    let source = if from.bits() < 16 { part(group * from.bits()) } else { Part::Whole };
    let written = group * to.bits();
    let result = if written < 32 { part(written) } else { Part::Whole };
    Some(Plan { from, to, count: group as usize, in_turn, seed, scale, source, result })
}

fn format(name: &str) -> Option<Format> {
    Some(match name {
        "f32" => minifloat::F32,
        "f16" => minifloat::F16,
        "bf16" => minifloat::BF16,
        "fp8" => minifloat::FP8_OCP,
        "bf8" => minifloat::BF8_OCP,
        "fp6" => minifloat::FP6,
        "bf6" => minifloat::BF6,
        "fp4" => minifloat::FP4,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use minifloat as m;

    #[test]
    fn mnemonics_give_plans() {
        let plan = |name: &str| parse(name).unwrap_or_else(|| panic!("{name} has no plan"));
        let sources = |name: &str| (plan(name).in_turn, plan(name).seed, plan(name).scale);
        assert_eq!(sources("v_cvt_scalef32_pk_fp8_f32"), (true, None, Some(2)));
        assert_eq!(sources("v_cvt_scalef32_sr_pk_fp4_f32"), (false, Some(1), Some(2)));
        assert_eq!(sources("v_cvt_scalef32_pk_fp4_bf16"), (false, None, Some(1)));
        assert_eq!(sources("v_cvt_scalef32_2xpk16_bf6_f32"), (true, None, Some(2)));
        assert_eq!(sources("v_cvt_scalef32_sr_pk32_fp6_f16"), (false, Some(1), Some(2)));
        assert_eq!(sources("v_cvt_sr_bf16_f32"), (false, Some(1), None));
        let parts = |name: &str| (plan(name).source, plan(name).result, plan(name).count);
        assert_eq!(parts("v_cvt_scalef32_pk_f32_fp4"), (Part::Byte, Part::Whole, 2));
        assert_eq!(parts("v_cvt_scalef32_pk_f16_bf8"), (Part::Word, Part::Whole, 2));
        assert_eq!(parts("v_cvt_scalef32_f16_fp8"), (Part::Byte, Part::Word, 1));
        assert_eq!(parts("v_cvt_scalef32_pk_fp4_f16"), (Part::Whole, Part::Byte, 2));
        assert_eq!(parts("v_cvt_pk_bf8_f32"), (Part::Whole, Part::Word, 2));
        assert_eq!(parts("v_cvt_sr_fp8_f32"), (Part::Whole, Part::Byte, 1));
        assert_eq!(parts("v_cvt_scalef32_pk32_f32_fp6"), (Part::Whole, Part::Whole, 32));
        assert_eq!(plan("v_cvt_f32_bf16").from, m::BF16);
        for other in
            ["v_cvt_f32_f16", "v_cvt_f16_f32", "v_cvt_f32_i32", "v_cvt_pkrtz_f16_f32", "v_cvt_pk_u16_u32"]
        {
            assert_eq!(parse(other), None, "{other}");
        }
    }
}
