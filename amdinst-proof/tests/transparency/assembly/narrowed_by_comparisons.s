// v_cmpx of each encoding, one behind the other, and loops of a single block.
kernel test
    begin
    s_mov_b64 s[10:11], exec
    v_cmpx_lt_u32_e32 vcc, 7, v2
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[10:11]
    v_cmpx_lt_u32_e64 s[12:13], v2, 16
    v_add_u32_e32 v3, 2, v3
    v_cmpx_lt_u32_e64 s[12:13], v2, 12
    v_cmpx_gt_u32_e64 s[12:13], v2, 40
    v_add_u32_e32 v3, 4, v3
    s_mov_b64 exec, s[10:11]
    v_cmpx_lt_u32_sdwa vcc, v2, v1 src0_sel:BYTE_0 src1_sel:BYTE_0
    v_add_u32_e32 v3, 8, v3
    s_mov_b64 exec, s[10:11]
    s_mov_b32 s9, 3
0:
    s_sub_u32 s9, s9, 1
    s_cbranch_scc0 0b
1:
    v_add_u32_e32 v3, 1, v3
    v_cmpx_lt_u32_e32 vcc, v3, v2
    s_cbranch_execnz 1b
    s_mov_b64 exec, s[10:11]
    finish
end test
