// SCC is live across each narrowing, as a carry, a borrow, a choice and a branch's condition.
kernel test
    begin
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_add_u32 s9, s8, 0xfffffff0
    v_cmpx_lt_u32_e32 vcc, 5, v2
    v_add_u32_e32 v3, 1, v3
    s_addc_u32 s16, s8, 0
    v_add_u32_e32 v3, s16, v3
    s_mov_b64 exec, s[10:11]
    s_and_saveexec_b64 s[14:15], s[12:13]
    s_cselect_b32 s17, 3, 5
    v_add_u32_e32 v3, s17, v3
    s_mov_b64 exec, s[10:11]
    s_sub_u32 s9, s8, 0x1000
    v_cmpx_lt_u32_e32 vcc, 25, v2
    v_add_u32_e32 v3, 7, v3
    s_subb_u32 s9, s8, 0
    s_mov_b64 exec, s[10:11]
    v_add_u32_e32 v3, s9, v3
    s_cmp_eq_u32 s8, 150
    v_cmpx_lt_u32_e32 vcc, 45, v2
    s_cbranch_scc1 0f
    v_add_u32_e32 v3, 9, v3
0:
    // No lane is on.
    v_readfirstlane_b32 s9, v2
    s_mov_b64 exec, s[10:11]
    v_add_u32_e32 v3, s9, v3
    finish
end test
