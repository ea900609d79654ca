//! VOP3: three vector sources, or two with modifiers.

pub(crate) use crate::signature::rdna::vop3::*;
use crate::signature::signatures;

signatures! {
    v_alignbit_b32       [vdst I32, src0 I32, src1 I32, src2 I16] [];
    v_alignbyte_b32      [vdst I32, src0 I32, src1 I32, src2 I16] [];
    v_sad_u16            [vdst I32, src0 I32, src1 I32, src2 I32] [CLAMP];
    v_cndmask_b16        [vdst I16, src0 I16, src1 I16, mask_src2 Lanes] [SRC_MODS SILENT_OP_SEL];
    v_maxmin_f32         [vdst F32, src0 F32, src1 F32, src2 F32] [CLAMP OMOD];
    v_minmax_f32         [vdst F32, src0 F32, src1 F32, src2 F32] [CLAMP OMOD];
    v_maxmin_f16         [vdst F16, src0 F16, src1 F16, src2 F16] [CLAMP OMOD];
    v_minmax_f16         [vdst F16, src0 F16, src1 F16, src2 F16] [CLAMP OMOD];
    v_maxmin_u32         [vdst I32, src0 I32, src1 I32, src2 I32] [];
    v_minmax_u32         [vdst I32, src0 I32, src1 I32, src2 I32] [];
    v_maxmin_i32         [vdst I32, src0 I32, src1 I32, src2 I32] [];
    v_minmax_i32         [vdst I32, src0 I32, src1 I32, src2 I32] [];
    v_dot2_f16_f16       [vdst F16, src0 V2F16, src1 V2F16, src2 F16] [IDLE_OP_SEL DOT];
    v_dot2_bf16_bf16     [vdst BF16, src0 V2BF16, src1 V2BF16, src2 BF16] [IDLE_OP_SEL DOT];
    v_cvt_pk_i16_f32     [vdst I32, src0 F32, src1 F32] [CLAMP CVT];
    v_cvt_pk_u16_f32     [vdst I32, src0 F32, src1 F32] [CLAMP CVT];
    v_add_i16            [vdst I16, src0 I16, src1 I16] [CLAMP NO_THIRD];
    v_sub_i16            [vdst I16, src0 I16, src1 I16] [CLAMP NO_THIRD];
    v_pack_b32_f16       [vdst I32, src0 F16, src1 F16] [CLAMP NO_THIRD];
    v_cvt_pknorm_i16_f16 [vdst I32, src0 F16, src1 F16] [CLAMP NO_THIRD CVT];
    v_cvt_pknorm_u16_f16 [vdst I32, src0 F16, src1 F16] [CLAMP NO_THIRD CVT];
    v_and_b16            [vdst I16, src0 I16, src1 I16] [];
    v_or_b16             [vdst I16, src0 I16, src1 I16] [];
    v_xor_b16            [vdst I16, src0 I16, src1 I16] [];
}
