//! SOP1: one scalar source.

pub(crate) use crate::signature::rdna::sop1::*;
use crate::signature::signatures;

signatures! {
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
    s_cvt_f32_f16        [sdst F32, ssrc0 F32] [MODE_R] numbers (f32 f16 b32 b32);
    s_cvt_hi_f32_f16     [sdst F32, ssrc0 F32] [MODE_R] numbers (f32 f16 b32 b32);
    s_ceil_f16           [sdst F16, ssrc0 F32] [MODE_R] numbers (f16 f16 b32 b32);
    s_floor_f16          [sdst F16, ssrc0 F32] [MODE_R] numbers (f16 f16 b32 b32);
    s_trunc_f16          [sdst F16, ssrc0 F32] [MODE_R] numbers (f16 f16 b32 b32);
    s_rndne_f16          [sdst F16, ssrc0 F32] [MODE_R] numbers (f16 f16 b32 b32);
}
