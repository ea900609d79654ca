//! What an operation says of an instruction and its operands, found out once for each: programs have many instructions and few operations.

use std::sync::OnceLock;

use amdgpu_isa::{Element, Families, MatrixUnit, Op};

use super::Kind;
use crate::rules::Rules;

/// What the mnemonic of an operation says.
#[derive(Debug)]
pub(super) struct Spelling {
    op: Op,
    kinds: [Kind; 5],
    /// It writes EXEC, which its operands do not name.
    pub(super) writes_exec: bool,
    /// It compares lanes.
    pub(super) compares: bool,
    /// It takes the bits of floats: MODE does not apply to it.
    pub(super) takes_bits: bool,
    /// It keeps the half of its result that it does not write.
    pub(super) keeps_other_half: bool,
    /// Its operands of 64 bits are signed.
    pub(super) is_signed: bool,
    /// Its wide operands are several values, each of which gets an inline constant.
    pub(super) in_parts: bool,
}

impl Spelling {
    /// That of `op`.
    pub(super) fn of(op: Op) -> &'static Self {
        static ALL: [OnceLock<Spelling>; Op::ALL.len()] = [const { OnceLock::new() }; Op::ALL.len()];
        ALL[op as usize].get_or_init(|| Self::read(op))
    }

    fn read(op: Op) -> Self {
        Self {
            op,
            kinds: kinds(op),
            writes_exec: op.is_of(Families::SAVES_EXEC)
                || op.is_of(Families::COPIES_NEW_EXEC)
                || op.is_of(Families::COMPARE_EXEC),
            compares: compares(op),
            takes_bits: tells_classes(op)
                || matches!(op, Op::v_cndmask_b16 | Op::v_cndmask_b32 | Op::v_pack_b32_f16),
            keeps_other_half: keeps_other_half(op),
            is_signed: op.name().ends_with("_i64"),
            in_parts: op.name().starts_with("v_pk_")
                || op.matrix_product().is_some_and(|product| product.a != Element::F64),
        }
    }

    /// Kinds of the result and of the sources.
    pub(super) const fn kinds(&self, rules: &Rules) -> [Kind; 5] {
        match self.op {
            // Where halves of registers are operands, these have some.
            Op::v_sat_pk_u8_i16 if rules.keeps_halves => {
                [Kind::Int16, Kind::Int, Kind::Int, Kind::Int, Kind::Int]
            }
            Op::v_alignbit_b32 | Op::v_alignbyte_b32 if rules.keeps_halves => {
                [Kind::Int, Kind::Int, Kind::Int, Kind::Int16, Kind::Int]
            }
            Op::v_cmp_class_f16 | Op::v_cmpx_class_f16 if rules.keeps_halves => {
                [Kind::Int64, Kind::F16, Kind::Int16, Kind::Int, Kind::Int]
            }
            _ => self.kinds,
        }
    }
}

/// 16-bit instructions that came with GFX9 keep the other half of their result register; the older ones clear it
/// (Vega ISA manual, "OP_SEL").
fn keeps_other_half(op: Op) -> bool {
    matches!(
        op,
        Op::v_mad_f16
            | Op::v_mad_u16
            | Op::v_mad_i16
            | Op::v_fma_f16
            | Op::v_div_fixup_f16
            | Op::v_mac_f16
            | Op::v_madak_f16
            | Op::v_madmk_f16
            | Op::v_add_i16
            | Op::v_sub_i16
            | Op::v_fma_mixlo_f16
            | Op::v_fma_mixhi_f16
            | Op::v_mad_mixlo_f16
            | Op::v_mad_mixhi_f16
            | Op::v_min3_f16
            | Op::v_min3_i16
            | Op::v_min3_u16
            | Op::v_max3_f16
            | Op::v_max3_i16
            | Op::v_max3_u16
            | Op::v_med3_f16
            | Op::v_med3_i16
            | Op::v_med3_u16
    )
}

/// Whether it compares lanes.
fn compares(op: Op) -> bool {
    op.is_of(Families::COMPARE) || op.is_of(Families::COMPARE_EXEC)
}

/// Whether it compares the class of floats with a mask of classes.
fn tells_classes(op: Op) -> bool {
    matches!(
        op,
        Op::v_cmp_class_f16
            | Op::v_cmp_class_f32
            | Op::v_cmp_class_f64
            | Op::v_cmpx_class_f16
            | Op::v_cmpx_class_f32
            | Op::v_cmpx_class_f64
    )
}

/// Kinds of the result and of the sources, from the types that the mnemonic names.
fn kinds(op: Op) -> [Kind; 5] {
    let kind = |token: &str| match token {
        "f16" => Some(Kind::F16),
        "f32" => Some(Kind::F32),
        "f64" => Some(Kind::F64),
        "i16" | "u16" | "b16" => Some(Kind::Int16),
        "i64" | "u64" | "b64" => Some(Kind::Int64),
        "i32" | "u32" | "b32" | "i24" | "u24" | "u8" | "i8" | "i4" | "u4" => Some(Kind::Int),
        _ => None,
    };
    let name = op.name();
    let mut types = name.split('_').filter_map(kind);
    let first = types.next().unwrap_or(Kind::Int);
    let second = types.next().unwrap_or(first);
    let packs = ["pk", "_pack_", "sad_"].iter().any(|part| name.contains(part));
    let is_wmma = || {
        let product = op.matrix_product();
        product.is_some_and(|product| product.unit == MatrixUnit::Wmma && !product.is_sparse)
    };
    match op {
        // Matrices of a wave: the third source is as the result; the others are registers. A bfloat16 is a single's upper half.
        Op::v_wmma_bf16_16x16x16_bf16 => [Kind::BF16; 5],
        _ if is_wmma() => [first; 5],
        // Pairs of singles: their table applies MODE itself.
        Op::v_pk_fma_f32 | Op::v_pk_mul_f32 | Op::v_pk_add_f32 | Op::v_pk_mov_b32 => [Kind::Int; 5],
        // Float modifiers apply to what is otherwise raw bits.
        Op::v_cndmask_b32 => [Kind::Int, Kind::F32, Kind::F32, Kind::Int, Kind::Int],
        Op::v_cvt_f32_ubyte0 | Op::v_cvt_f32_ubyte1 | Op::v_cvt_f32_ubyte2 | Op::v_cvt_f32_ubyte3 => {
            [Kind::F32, Kind::Int, Kind::Int, Kind::Int, Kind::Int]
        }
        Op::v_ldexp_f64 => [Kind::F64, Kind::F64, Kind::Int, Kind::Int, Kind::Int],
        Op::v_ldexp_f32 => [Kind::F32, Kind::F32, Kind::Int, Kind::Int, Kind::Int],
        Op::v_ldexp_f16 => [Kind::F16, Kind::F16, Kind::Int16, Kind::Int, Kind::Int],
        // By OP_SEL_HI their sources are singles or halves; a constant is a single, as in `v_fma_mix_f32`.
        Op::v_fma_mixlo_f16 | Op::v_fma_mixhi_f16 | Op::v_mad_mixlo_f16 | Op::v_mad_mixhi_f16 => {
            [Kind::F16, Kind::F32, Kind::F32, Kind::F32, Kind::Int]
        }
        Op::v_mad_u32_u16 | Op::v_mad_i32_i16 => [Kind::Int, Kind::Int16, Kind::Int16, Kind::Int, Kind::Int],
        Op::v_trig_preop_f64 => [Kind::F64, Kind::F64, Kind::Int, Kind::Int, Kind::Int],
        Op::v_cvt_pk_u8_f32 | Op::v_cvt_pkaccum_u8_f32 => {
            [Kind::Int, Kind::F32, Kind::Int, Kind::Int, Kind::Int]
        }
        Op::v_mul_i32_i24 | Op::v_mul_u32_u24 => [Kind::Int; 5],
        _ if tells_classes(op) => [Kind::Int64, first, Kind::Int, Kind::Int, Kind::Int],
        _ if compares(op) => [Kind::Int64, first, first, first, first],
        _ if packs => [Kind::Int, second, second, second, second],
        _ => [first, second, second, second, second],
    }
}
