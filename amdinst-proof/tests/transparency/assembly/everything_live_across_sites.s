// SCC, VCC, M0 and both halves of each pair are in use across sites whose mask is elsewhere, and that have no branch.
kernel test
    begin
    s_mov_b32 m0, 0x1234
    s_mov_b32 vcc_lo, 0x5678
    s_mov_b32 vcc_hi, 0x9abc
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_mov_b64 s[14:15], exec
    s_mov_b64 exec, s[12:13]
    v_cmp_lt_u32_e64 s[16:17], 20, v2
    s_cmp_lt_u32 s2, 1
    s_mov_b64 exec, s[16:17]
    s_cselect_b32 s9, 5, 6
    v_add_u32_e32 v3, s9, v3
    s_cmp_eq_u32 s2, 1
    s_mov_b64 exec, s[14:15]
    s_addc_u32 s9, s9, m0
    v_add_u32_e32 v3, s9, v3
    v_add_u32_e32 v3, vcc_lo, v3
    v_xor_b32_e32 v3, vcc_hi, v3
    v_cmp_lt_u32_e32 vcc, 30, v2
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_cndmask_b32_e32 v3, v3, v2, vcc
    s_cbranch_vccz 0f
    v_add_u32_e32 v3, 11, v3
0:
    s_xor_b64 exec, exec, s[14:15]
    v_addc_co_u32_e32 v3, vcc, v3, v3, vcc
    s_cbranch_vccnz 1f
    v_add_u32_e32 v3, 13, v3
1:
    s_mov_b64 exec, s[14:15]
    finish
end test
