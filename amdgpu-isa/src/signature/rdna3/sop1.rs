//! SOP1: one scalar source.

use crate::signature::signatures;
pub(crate) use crate::signature::sop1::*;

signatures! {
    s_and_saveexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_or_saveexec_b32    [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_xor_saveexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_nand_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_nor_saveexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_xnor_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn1_saveexec_b32 [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_orn1_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn2_saveexec_b32 [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_orn2_saveexec_b32  [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn1_wrexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_andn2_wrexec_b32   [sdst I32, ssrc0 I32] [SCC_W EXEC_R EXEC_W];
    s_movrelsd_2_b32     [sdst I32, ssrc0 I32] [M0_R CONDITIONAL INDIRECT];
    s_sendmsg_rtn_b32    [sdst I32, sendmsg_ssrc0 I32] [M0_R SIDE_EFFECT];
    s_sendmsg_rtn_b64    [sdst I64, sendmsg_ssrc0 I32] [M0_R SIDE_EFFECT];
    s_ceil_f32           [sdst F32, ssrc0 F32] [MODE_R];
    s_floor_f32          [sdst F32, ssrc0 F32] [MODE_R];
    s_trunc_f32          [sdst F32, ssrc0 F32] [MODE_R];
    s_rndne_f32          [sdst F32, ssrc0 F32] [MODE_R];
    s_cvt_f32_i32        [sdst F32, ssrc0 I32] [MODE_R];
    s_cvt_f32_u32        [sdst F32, ssrc0 I32] [MODE_R];
    s_cvt_i32_f32        [sdst I32, ssrc0 F32] [MODE_R];
    s_cvt_u32_f32        [sdst I32, ssrc0 F32] [MODE_R];
    s_cvt_f16_f32        [sdst F16, ssrc0 F32] [MODE_R];
    s_cvt_f32_f16        [sdst F32, ssrc0 F32] [MODE_R];
    s_cvt_hi_f32_f16     [sdst F32, ssrc0 F32] [MODE_R];
    s_ceil_f16           [sdst F16, ssrc0 F32] [MODE_R];
    s_floor_f16          [sdst F16, ssrc0 F32] [MODE_R];
    s_trunc_f16          [sdst F16, ssrc0 F32] [MODE_R];
    s_rndne_f16          [sdst F16, ssrc0 F32] [MODE_R];
}
