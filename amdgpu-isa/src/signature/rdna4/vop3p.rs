//! VOP3P: packed math, dot products and matrices.

pub(crate) use crate::signature::rdna3::vop3p::*;
use crate::signature::signatures;

signatures! {
    v_pk_minimum_f16              [vdst I32, src0 V2F16, src1 V2F16] [PACKED];
    v_pk_maximum_f16              [vdst I32, src0 V2F16, src1 V2F16] [PACKED];
    v_dot4_f32_fp8_bf8            [vdst F32, src0 I32, src1 I32, src2 F32] [PACKED NO_OPSEL NEGATES_ADDEND DOT];
    v_dot4_f32_bf8_fp8            [vdst F32, src0 I32, src1 I32, src2 F32] [PACKED NO_OPSEL NEGATES_ADDEND DOT];
    v_dot4_f32_fp8_fp8            [vdst F32, src0 I32, src1 I32, src2 F32] [PACKED NO_OPSEL NEGATES_ADDEND DOT];
    v_dot4_f32_bf8_bf8            [vdst F32, src0 I32, src1 I32, src2 F32] [PACKED NO_OPSEL NEGATES_ADDEND DOT];
    v_wmma_f32_16x16x16_f16       [vdst Matrix, src0_wide HalfMatrix, src1_wide HalfMatrix, mc_inline Matrix] [MAI NO_OPSEL] wmma (16 16 1 f16 f16 f32);
    v_wmma_f32_16x16x16_bf16      [vdst Matrix, src0_wide HalfMatrix, src1_wide HalfMatrix, mc_inline Matrix] [MAI NO_OPSEL] wmma (16 16 1 bf16 bf16 f32);
    v_wmma_f16_16x16x16_f16       [vdst HalfMatrix, src0_wide HalfMatrix, src1_wide HalfMatrix, mc_inline HalfMatrix] [MAI NO_OPSEL] wmma (16 16 1 f16 f16 f16);
    v_wmma_bf16_16x16x16_bf16     [vdst HalfMatrix, src0_wide HalfMatrix, src1_wide HalfMatrix, mc_inline HalfMatrix] [MAI NO_OPSEL] wmma (16 16 1 bf16 bf16 bf16);
    v_wmma_i32_16x16x16_iu8       [vdst Matrix, src0_wide QuarterMatrix, src1_wide QuarterMatrix, mc_inline Matrix] [MAI NO_OPSEL SIGNED_BY_NEG] wmma (16 16 1 iu8 iu8 i32);
    v_wmma_i32_16x16x16_iu4       [vdst Matrix, src0_wide I32, src1_wide I32, mc_inline Matrix] [MAI NO_OPSEL SIGNED_BY_NEG] wmma (16 16 1 iu4 iu4 i32);
    v_wmma_f32_16x16x16_fp8_fp8   [vdst Matrix, src0_wide QuarterMatrix, src1_wide QuarterMatrix, mc_inline Matrix] [MAI NO_OPSEL NEGATES_ADDEND] wmma (16 16 1 fp8 fp8 f32);
    v_wmma_f32_16x16x16_fp8_bf8   [vdst Matrix, src0_wide QuarterMatrix, src1_wide QuarterMatrix, mc_inline Matrix] [MAI NO_OPSEL NEGATES_ADDEND] wmma (16 16 1 fp8 bf8 f32);
    v_wmma_f32_16x16x16_bf8_fp8   [vdst Matrix, src0_wide QuarterMatrix, src1_wide QuarterMatrix, mc_inline Matrix] [MAI NO_OPSEL NEGATES_ADDEND] wmma (16 16 1 bf8 fp8 f32);
    v_wmma_f32_16x16x16_bf8_bf8   [vdst Matrix, src0_wide QuarterMatrix, src1_wide QuarterMatrix, mc_inline Matrix] [MAI NO_OPSEL NEGATES_ADDEND] wmma (16 16 1 bf8 bf8 f32);
    v_wmma_i32_16x16x32_iu4       [vdst Matrix, src0_wide QuarterMatrix, src1_wide QuarterMatrix, mc_inline Matrix] [MAI NO_OPSEL SIGNED_BY_NEG] wmma (16 32 1 iu4 iu4 i32);
    v_swmmac_f32_16x16x32_f16     [vdst_rw Matrix, src0_wide HalfMatrix, src1_wide Matrix, src2_wide Keys] [MAI NO_OPSEL SPARSE] swmmac (16 32 1 f16 f16 f32);
    v_swmmac_f32_16x16x32_bf16    [vdst_rw Matrix, src0_wide HalfMatrix, src1_wide Matrix, src2_wide Keys] [MAI NO_OPSEL SPARSE] swmmac (16 32 1 bf16 bf16 f32);
    v_swmmac_f16_16x16x32_f16     [vdst_rw HalfMatrix, src0_wide HalfMatrix, src1_wide Matrix, src2_wide Keys] [MAI NO_OPSEL SPARSE] swmmac (16 32 1 f16 f16 f16);
    v_swmmac_bf16_16x16x32_bf16   [vdst_rw HalfMatrix, src0_wide HalfMatrix, src1_wide Matrix, src2_wide Keys] [MAI NO_OPSEL SPARSE] swmmac (16 32 1 bf16 bf16 bf16);
    v_swmmac_i32_16x16x32_iu8     [vdst_rw Matrix, src0_wide QuarterMatrix, src1_wide HalfMatrix, src2_wide Keys] [MAI NO_OPSEL SPARSE SIGNED_BY_NEG] swmmac (16 32 1 iu8 iu8 i32);
    v_swmmac_i32_16x16x32_iu4     [vdst_rw Matrix, src0_wide I32, src1_wide QuarterMatrix, src2_wide Keys16] [MAI NO_OPSEL SPARSE SIGNED_BY_NEG] swmmac (16 32 1 iu4 iu4 i32);
    v_swmmac_i32_16x16x64_iu4     [vdst_rw Matrix, src0_wide QuarterMatrix, src1_wide HalfMatrix, src2_wide WideKeys] [MAI NO_OPSEL SPARSE SIGNED_BY_NEG] swmmac (16 64 1 iu4 iu4 i32);
    v_swmmac_f32_16x16x32_fp8_fp8 [vdst_rw Matrix, src0_wide QuarterMatrix, src1_wide HalfMatrix, src2_wide Keys] [MAI NO_OPSEL SPARSE NO_SRC_MODS] swmmac (16 32 1 fp8 fp8 f32);
    v_swmmac_f32_16x16x32_fp8_bf8 [vdst_rw Matrix, src0_wide QuarterMatrix, src1_wide HalfMatrix, src2_wide Keys] [MAI NO_OPSEL SPARSE NO_SRC_MODS] swmmac (16 32 1 fp8 bf8 f32);
    v_swmmac_f32_16x16x32_bf8_fp8 [vdst_rw Matrix, src0_wide QuarterMatrix, src1_wide HalfMatrix, src2_wide Keys] [MAI NO_OPSEL SPARSE NO_SRC_MODS] swmmac (16 32 1 bf8 fp8 f32);
    v_swmmac_f32_16x16x32_bf8_bf8 [vdst_rw Matrix, src0_wide QuarterMatrix, src1_wide HalfMatrix, src2_wide Keys] [MAI NO_OPSEL SPARSE NO_SRC_MODS] swmmac (16 32 1 bf8 bf8 f32);
}
