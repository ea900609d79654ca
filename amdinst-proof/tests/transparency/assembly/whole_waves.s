// All lanes are switched on in a region, others than the wave began with; the lanes that were off keep what they had.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_e32 v3, 1, v3
    s_or_saveexec_b64 s[16:17], -1
    v_mov_b32_e32 v8, 1
    s_mov_b64 exec, s[16:17]
    v_mov_b32_e32 v8, v2
    s_or_saveexec_b64 s[16:17], -1
    v_mov_b32_e32 v9, 7
    s_not_b64 exec, exec
    s_not_b64 exec, exec
    v_add_u32_dpp v9, v8, v9 row_bcast:15 row_mask:0xa bank_mask:0xf
    v_readlane_b32 s9, v9, 63
    s_mov_b64 exec, s[16:17]
    v_add_u32_e32 v3, s9, v3
    s_mov_b64 s[18:19], exec
    s_mov_b64 exec, -1
    v_mov_b32_e32 v10, 3
    s_mov_b64 exec, s[18:19]
    v_add_u32_e32 v3, v10, v3
    s_mov_b64 exec, s[14:15]
    v_add_u32_e32 v3, v10, v3
    finish
end test
