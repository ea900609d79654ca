//! Opcodes that are not executed on purpose, with the reason. All others are: a test of `fidelity` holds
//! that.

use amdgpu_isa::{Families, Op};

/// Why an instruction is not executed, as a clause of a message; `None` if it is.
pub(crate) fn reason(op: Op) -> Option<&'static str> {
    let family = FAMILIES.iter().find(|(family, _)| op.is_of(*family)).map(|(_, reason)| *reason);
    family.or_else(|| OPCODES.iter().find(|(ops, _)| ops.contains(&op)).map(|(_, reason)| *reason))
}

/// Whole families.
const FAMILIES: &[(Families, &str)] = &[
    (Families::IMAGE, "images are not supported"),
    (Families::INTERPOLATION, "parameter interpolation is not supported"),
];

/// Single ones.
const OPCODES: &[(&[Op], &str)] = &[
    (
        &[Op::ds_ordered_count, Op::ds_add_gs_reg_rtn, Op::ds_sub_gs_reg_rtn],
        "the global data share (GDS) is not supported",
    ),
    (
        &[
            Op::ds_bvh_stack_rtn_b32,
            Op::ds_bvh_stack_push4_pop1_rtn_b32,
            Op::ds_bvh_stack_push8_pop1_rtn_b32,
            Op::ds_bvh_stack_push8_pop2_rtn_b64,
        ],
        "ray tracing is not supported",
    ),
    (
        &[Op::v_mfma_ld_scale_b32],
        "without the matrix instruction that it gives scales to, nothing is defined",
    ),
    (&[Op::exp], "exports are not supported"),
    (&[Op::s_code_end], "it marks where code ends: the kernel runs on behind its last instruction"),
    (&[Op::v_illegal], "no processor has it"),
    (
        &[Op::s_subvector_loop_begin, Op::s_subvector_loop_end],
        "loops over halves of a wave are not supported",
    ),
    (&[Op::s_alloc_vgpr], "dynamic allocation of VGPRs is not supported"),
    (&[Op::s_barrier_init, Op::s_barrier_join, Op::s_barrier_leave], "named barriers are not supported"),
    (
        &[Op::global_load_tr_b64, Op::global_load_tr_b128],
        "which lane loads which part of the matrix is published in no text",
    ),
    (&[Op::global_atomic_ordered_add_b64], "ordered counts of the graphics pipeline are not supported"),
    (
        &[Op::global_load_block, Op::global_store_block, Op::scratch_load_block, Op::scratch_store_block],
        "blocks of VGPRs are not supported",
    ),
    (&[Op::s_rfe_b64, Op::s_rfe_restore_b64], "trap handlers are not supported"),
];
