// cpus: gfx908
// vgprs: 32
// On gfx908 a matrix instruction's sums are in AGPRs alone: all of them are in use across the sites.
kernel test
    begin
    v_cvt_f32_u32_e32 v4, v2
    v_mov_b32_e32 v5, 1.0
    .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    v_accvgpr_write_b32 a\n, 0
    .endr
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_nop 1
    v_mfma_f32_16x16x1f32 a[0:15], v4, v5, a[0:15]
    v_mfma_f32_16x16x1f32 a[16:31], v5, v4, a[16:31]
    s_and_saveexec_b64 s[14:15], s[12:13]
    s_nop 15
    v_accvgpr_read_b32 v6, a1
    s_nop 1
    v_cvt_u32_f32_e32 v6, v6
    v_add_u32_e32 v3, v6, v3
    s_mov_b64 exec, s[14:15]
    s_nop 1
    v_mfma_f32_16x16x1f32 a[0:15], v4, v5, a[0:15]
    s_xor_b64 exec, exec, s[12:13]
    s_nop 15
    v_accvgpr_read_b32 v6, a15
    v_accvgpr_read_b32 v7, a31
    s_nop 1
    v_cvt_u32_f32_e32 v6, v6
    v_cvt_u32_f32_e32 v7, v7
    v_add3_u32 v3, v6, v7, v3
    s_mov_b64 exec, s[14:15]
    finish
end test
