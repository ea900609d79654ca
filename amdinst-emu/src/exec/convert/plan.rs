//! How a conversion is carried out: which parts of which operands it reads and writes.

use std::sync::OnceLock;

use amdgpu_isa::{Arch, Conversion, Op, SmallFloat};

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

/// The conversion of an opcode; none if it is executed elsewhere.
pub(super) fn of(op: Op) -> Option<&'static Plan> {
    static PLANS: OnceLock<Vec<Option<Plan>>> = OnceLock::new();
    let plans = PLANS.get_or_init(|| Op::ALL.iter().map(|op| op.conversion().map(plan)).collect());
    plans.get(op as usize)?.as_ref()
}

fn plan(conversion: &Conversion) -> Plan {
    let (to, from) = (format(conversion.to), format(conversion.from));
    let count = conversion.group.count();
    let in_turn = conversion.is_interleaved();
    let data = if in_turn { 2 } else { 1 };
    let seed = conversion.is_stochastic.then_some(1);
    let scale = conversion.is_scaled.then_some(data + usize::from(conversion.is_stochastic));
    let part = |bits: u32| match bits {
        8 => Part::Byte,
        16 => Part::Word,
        _ => Part::Whole,
    };
    let source = if from.bits() < 16 { part(count * from.bits()) } else { Part::Whole };
    let written = count * to.bits();
    let result = if written < 32 { part(written) } else { Part::Whole };
    Plan { from, to, count: count as usize, in_turn, seed, scale, source, result }
}

/// The format; FP8 and BF8 stand for the processor's.
const fn format(format: SmallFloat) -> Format {
    match format {
        SmallFloat::F32 => minifloat::F32,
        SmallFloat::F16 => minifloat::F16,
        SmallFloat::Bf16 => minifloat::BF16,
        SmallFloat::Fp8 => minifloat::FP8_OCP,
        SmallFloat::Bf8 => minifloat::BF8_OCP,
        SmallFloat::Fp6 => minifloat::FP6,
        SmallFloat::Bf6 => minifloat::BF6,
        SmallFloat::Fp4 => minifloat::FP4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use minifloat as m;

    #[test]
    fn opcodes_have_the_plans_that_their_mnemonics_say() {
        let plan = |op: Op| of(op).unwrap_or_else(|| panic!("{op} has no plan"));
        let sources = |op: Op| (plan(op).in_turn, plan(op).seed, plan(op).scale);
        assert_eq!(sources(Op::v_cvt_scalef32_pk_fp8_f32), (true, None, Some(2)));
        assert_eq!(sources(Op::v_cvt_scalef32_sr_pk_fp4_f32), (false, Some(1), Some(2)));
        assert_eq!(sources(Op::v_cvt_scalef32_pk_fp4_bf16), (false, None, Some(1)));
        assert_eq!(sources(Op::v_cvt_scalef32_2xpk16_bf6_f32), (true, None, Some(2)));
        assert_eq!(sources(Op::v_cvt_scalef32_sr_pk32_fp6_f16), (false, Some(1), Some(2)));
        assert_eq!(sources(Op::v_cvt_sr_bf16_f32), (false, Some(1), None));
        let parts = |op: Op| (plan(op).source, plan(op).result, plan(op).count);
        assert_eq!(parts(Op::v_cvt_scalef32_pk_f32_fp4), (Part::Byte, Part::Whole, 2));
        assert_eq!(parts(Op::v_cvt_scalef32_pk_f16_bf8), (Part::Word, Part::Whole, 2));
        assert_eq!(parts(Op::v_cvt_scalef32_f16_fp8), (Part::Byte, Part::Word, 1));
        assert_eq!(parts(Op::v_cvt_scalef32_pk_fp4_f16), (Part::Whole, Part::Byte, 2));
        assert_eq!(parts(Op::v_cvt_pk_bf8_f32), (Part::Whole, Part::Word, 2));
        assert_eq!(parts(Op::v_cvt_sr_fp8_f32), (Part::Whole, Part::Byte, 1));
        assert_eq!(parts(Op::v_cvt_scalef32_pk32_f32_fp6), (Part::Whole, Part::Whole, 32));
        assert_eq!(plan(Op::v_cvt_f32_bf16).from, m::BF16);
        for other in [
            Op::v_cvt_f32_f16,
            Op::v_cvt_f16_f32,
            Op::v_cvt_f32_i32,
            Op::v_cvt_pkrtz_f16_f32,
            Op::v_cvt_pk_u16_u32,
        ] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
