// VCC is loaded from memory, is under way at a site, and decides a branch behind it.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_and_b32 s9, s2, 1
    s_lshl_b32 s9, s9, 4
    s_load_dwordx2 vcc, s[0:1], s9
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    s_waitcnt lgkmcnt(0)
    s_cbranch_vccz 0f
    v_add_u32_e32 v3, 2, v3
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_e32 v3, 4, v3
    s_mov_b64 exec, s[14:15]
0:
    s_mov_b64 vcc, 0
    site
    finish
end test
