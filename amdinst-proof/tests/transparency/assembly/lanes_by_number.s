// Lanes are chosen by M0 and by SGPRs right behind sites, some of which leave no lane on.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_mov_b32 m0, 5
    v_readlane_b32 s9, v2, m0
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_readlane_b32 s10, v2, m0
    v_writelane_b32 v3, 9, m0
    v_readfirstlane_b32 s11, v2
    v_readlane_b32 s16, v2, s11
    s_mov_b64 exec, 0
    v_readfirstlane_b32 s17, v2
    v_readlane_b32 s18, v1, s9
    v_writelane_b32 v3, 8, s9
    s_mov_b64 exec, s[14:15]
    v_add_u32_e32 v3, s10, v3
    v_add_u32_e32 v3, s11, v3
    v_add_u32_e32 v3, s16, v3
    v_add_u32_e32 v3, s17, v3
    v_add_u32_e32 v3, s18, v3
    finish
end test
