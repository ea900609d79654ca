//! VINTERP: interpolation of attributes.

use crate::signature::signatures;

signatures! {
    v_interp_p10_f32         [vdst F32, src0_vgpr F32, src1_vgpr F32, src2_vgpr F32] [];
    v_interp_p2_f32          [vdst F32, src0_vgpr F32, src1_vgpr F32, src2_vgpr F32] [];
    v_interp_p10_f16_f32     [vdst F32, vsrc0 F16, src1_vgpr F32, vsrc2 F16] [];
    v_interp_p2_f16_f32      [vdst F16, vsrc0 F16, src1_vgpr F32, src2_vgpr F32] [];
    v_interp_p10_rtz_f16_f32 [vdst F32, vsrc0 F16, src1_vgpr F32, vsrc2 F16] [];
    v_interp_p2_rtz_f16_f32  [vdst F16, vsrc0 F16, src1_vgpr F32, src2_vgpr F32] [];
}
