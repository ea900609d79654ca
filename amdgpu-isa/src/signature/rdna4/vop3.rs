//! VOP3: three vector sources, or two with modifiers.

pub(crate) use crate::signature::rdna3::vop3::*;
use crate::signature::signatures;

signatures! {
    v_minimum3_f16         [vdst F16, src0 F16, src1 F16, src2 F16] [CLAMP OMOD];
    v_maximum3_f16         [vdst F16, src0 F16, src1 F16, src2 F16] [CLAMP OMOD];
    v_minimummaximum_f32   [vdst F32, src0 F32, src1 F32, src2 F32] [CLAMP OMOD];
    v_maximumminimum_f32   [vdst F32, src0 F32, src1 F32, src2 F32] [CLAMP OMOD];
    v_minimummaximum_f16   [vdst F16, src0 F16, src1 F16, src2 F16] [CLAMP OMOD];
    v_maximumminimum_f16   [vdst F16, src0 F16, src1 F16, src2 F16] [CLAMP OMOD];
    v_minimum_f64          [vdst F64, src0 F64, src1 F64] [CLAMP OMOD];
    v_maximum_f64          [vdst F64, src0 F64, src1 F64] [CLAMP OMOD];
    v_minimum_f32          [vdst F32, src0 F32, src1 F32] [CLAMP OMOD];
    v_maximum_f32          [vdst F32, src0 F32, src1 F32] [CLAMP OMOD];
    v_minimum_f16          [vdst F16, src0 F16, src1 F16] [CLAMP OMOD];
    v_maximum_f16          [vdst F16, src0 F16, src1 F16] [CLAMP OMOD];
    v_s_exp_f32            [vdst_sgpr F32, src0_any F32] [CLAMP OMOD SRC_MODS];
    v_s_exp_f16            [vdst_sgpr F16, src0_any F16] [CLAMP OMOD SRC_MODS];
    v_s_log_f32            [vdst_sgpr F32, src0_any F32] [CLAMP OMOD SRC_MODS];
    v_s_log_f16            [vdst_sgpr F16, src0_any F16] [CLAMP OMOD SRC_MODS];
    v_s_rcp_f32            [vdst_sgpr F32, src0_any F32] [CLAMP OMOD SRC_MODS];
    v_s_rcp_f16            [vdst_sgpr F16, src0_any F16] [CLAMP OMOD SRC_MODS];
    v_s_rsq_f32            [vdst_sgpr F32, src0_any F32] [CLAMP OMOD SRC_MODS];
    v_s_rsq_f16            [vdst_sgpr F16, src0_any F16] [CLAMP OMOD SRC_MODS];
    v_s_sqrt_f32           [vdst_sgpr F32, src0_any F32] [CLAMP OMOD SRC_MODS];
    v_s_sqrt_f16           [vdst_sgpr F16, src0_any F16] [CLAMP OMOD SRC_MODS];
    v_permlane16_var_b32   [vdst_rw I32, src0_vgpr I32, src1_vgpr I32] [SWAPS_ROWS];
    v_permlanex16_var_b32  [vdst_rw I32, src0_vgpr I32, src1_vgpr I32] [SWAPS_ROWS];
    v_cvt_pk_fp8_f32       [vdst I32, src0 F32, src1 F32] [CVT] convert (fp8 f32 pk);
    v_cvt_pk_bf8_f32       [vdst I32, src0 F32, src1 F32] [CVT] convert (bf8 f32 pk);
    v_cvt_sr_fp8_f32       [vdst I32, src0 F32, src1 I32] [NAMES_BYTE CVT] convert (fp8 f32 sr);
    v_cvt_sr_bf8_f32       [vdst I32, src0 F32, src1 I32] [NAMES_BYTE CVT] convert (bf8 f32 sr);
}
