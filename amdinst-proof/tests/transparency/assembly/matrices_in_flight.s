// cpus: gfx90a gfx942 gfx950
// vgprs: 64
// A matrix instruction is under way when a site begins, and its result is read right behind it.
kernel test
    begin
    v_cvt_f32_u32_e32 v4, v2
    v_mov_b32_e32 v5, 1.0
    .irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    v_mov_b32_e32 v\n, 0
    .endr
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_nop 1
    v_mfma_f32_16x16x1f32 v[16:31], v4, v5, v[16:31]
    s_and_saveexec_b64 s[14:15], s[12:13]
    s_nop 15
    s_nop 7
    v_cvt_u32_f32_e32 v6, v17
    v_add_u32_e32 v3, v6, v3
    s_mov_b64 exec, s[14:15]
    s_nop 1
    v_mfma_f32_16x16x1f32 v[16:31], v4, v5, v[16:31]
    s_xor_b64 exec, exec, s[12:13]
    s_nop 15
    s_nop 7
    v_cvt_u32_f32_e32 v6, v31
    v_add_u32_e32 v3, v6, v3
    s_mov_b64 exec, s[14:15]
    finish
end test
