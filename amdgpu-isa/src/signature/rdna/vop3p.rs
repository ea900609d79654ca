//! VOP3P: packed math and dot products.

use crate::signature::signatures;
pub(crate) use crate::signature::vop3p::*;

signatures! {
    v_dot2_f32_f16            [vdst I32, src0 V2F16, src1 V2F16, src2 I32] [PACKED DOT] numbers (f32 f16 f16 f32);
    v_fma_mix_f32            [vdst I32, src0 F16, src1 F16, src2 F16] [PACKED MIX] numbers (f32 f32 f32 f32);
    v_fma_mixlo_f16          [vdst_rw I32, src0 F16, src1 F16, src2 F16] [HALF PACKED MIX] numbers (f16 f32 f32 f32);
    v_fma_mixhi_f16          [vdst_rw I32, src0 F16, src1 F16, src2 F16] [HALF PACKED MIX] numbers (f16 f32 f32 f32);
}
