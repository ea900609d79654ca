//! VOP3P: packed math, dot products and matrices.

pub(crate) use crate::signature::rdna::vop3p::*;
use crate::signature::signatures;

signatures! {
    v_dot4_i32_iu8            [vdst I32, src0 I32, src1 I32, src2 I32] [PACKED NO_OPSEL DOT];
    v_dot4_u32_u8             [vdst I32, src0 I32, src1 I32, src2 I32] [PACKED NO_OPSEL DOT];
    v_dot8_i32_iu4            [vdst I32, src0 I32, src1 I32, src2 I32] [PACKED NO_OPSEL DOT];
    v_dot8_u32_u4             [vdst I32, src0 I32, src1 I32, src2 I32] [PACKED NO_OPSEL DOT];
    v_dot2_f32_bf16           [vdst I32, src0 V2BF16, src1 V2BF16, src2 I32] [PACKED DOT] numbers (f32 bf16 bf16 f32);
    v_wmma_f32_16x16x16_f16   [vdst Matrix, src0_wide B256, src1_wide B256, mc_inline Matrix] [MAI NO_OPSEL] wmma (16 16 1 f16 f16 f32);
    v_wmma_f32_16x16x16_bf16  [vdst Matrix, src0_wide B256, src1_wide B256, mc_inline Matrix] [MAI NO_OPSEL] wmma (16 16 1 bf16 bf16 f32);
    v_wmma_f16_16x16x16_f16   [vdst Matrix, src0_wide B256, src1_wide B256, mc_inline Matrix] [MAI HALF] wmma (16 16 1 f16 f16 f16);
    v_wmma_bf16_16x16x16_bf16 [vdst Matrix, src0_wide B256, src1_wide B256, mc_inline Matrix] [MAI HALF] wmma (16 16 1 bf16 bf16 bf16);
    v_wmma_i32_16x16x16_iu8   [vdst Matrix, src0_wide B128, src1_wide B128, mc_inline Matrix] [MAI NO_OPSEL SIGNED_BY_NEG] wmma (16 16 1 iu8 iu8 i32);
    v_wmma_i32_16x16x16_iu4   [vdst Matrix, src0_wide I64, src1_wide I64, mc_inline Matrix] [MAI NO_OPSEL SIGNED_BY_NEG] wmma (16 16 1 iu4 iu4 i32);
}
