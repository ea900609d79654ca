//! SOP2: two scalar sources.

pub(crate) use crate::signature::rdna3::sop2::*;
use crate::signature::signatures;

signatures! {
    s_minimum_f32 [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_maximum_f32 [sdst F32, ssrc0 F32, ssrc1 F32] [MODE_R];
    s_minimum_f16 [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_maximum_f16 [sdst F16, ssrc0 F16, ssrc1 F16] [MODE_R];
    s_add_nc_u64  [sdst I64, ssrc0 I64, ssrc1 I64] [];
    s_sub_nc_u64  [sdst I64, ssrc0 I64, ssrc1 I64] [];
    s_mul_u64     [sdst I64, ssrc0 I64, ssrc1 I64] [];
}
