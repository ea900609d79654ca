//! What an operation says of an instruction, found out once for each: programs have many instructions and few
//! operations.

use std::sync::OnceLock;

use amdgpu_isa::{Families, Op};

/// Properties of an operation.
#[derive(Debug)]
pub(super) struct Properties {
    /// It writes EXEC, which its operands do not name.
    pub(super) writes_exec: bool,
    /// It compares lanes.
    pub(super) compares: bool,
    /// It takes the bits of floats: MODE does not apply to it.
    pub(super) takes_bits: bool,
    /// It keeps the half of its result that it does not write.
    pub(super) keeps_other_half: bool,
    /// Its literals of 64 bits are signed.
    pub(super) is_signed: bool,
}

impl Properties {
    /// Those of `op`.
    pub(super) fn of(op: Op) -> &'static Self {
        static ALL: [OnceLock<Properties>; Op::ALL.len()] = [const { OnceLock::new() }; Op::ALL.len()];
        ALL[op as usize].get_or_init(|| Self::read(op))
    }

    fn read(op: Op) -> Self {
        let is = |family| op.is_of(family);
        Self {
            writes_exec: is(Families::SAVES_EXEC)
                || is(Families::COPIES_NEW_EXEC)
                || is(Families::COMPARE_EXEC),
            compares: is(Families::COMPARE) || is(Families::COMPARE_EXEC),
            takes_bits: tells_classes(op)
                || matches!(op, Op::v_cndmask_b16 | Op::v_cndmask_b32 | Op::v_pack_b32_f16),
            keeps_other_half: keeps_other_half(op),
            is_signed: is(Families::SIGNED_LITERALS),
        }
    }
}

/// 16-bit instructions that came with GFX9 keep the other half of their result register; the older ones clear
/// it (Vega ISA manual, "OP_SEL").
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
