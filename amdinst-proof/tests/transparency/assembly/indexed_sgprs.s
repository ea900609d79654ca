// M0 tells which SGPRs are written and read: s35 to s38 are named by nobody.
kernel test
    begin
    s_mov_b32 s34, 100
    s_mov_b32 m0, 1
    s_movreld_b32 s34, s8
    s_mov_b32 m0, 2
    s_movreld_b32 s34, s2
    site
    v_cmp_lt_u32_e32 vcc, 12, v2
    s_and_b64 exec, exec, vcc
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    s_mov_b32 m0, 1
    s_movrels_b32 s9, s34
    v_add_u32_e32 v3, s9, v3
    s_mov_b32 m0, 2
    s_movrels_b32 s9, s34
    v_add_u32_e32 v3, s9, v3
    finish
end test
