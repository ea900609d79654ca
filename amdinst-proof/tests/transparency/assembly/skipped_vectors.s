// refused: indexed-registers: vector instructions may be skipped
kernel test
    begin
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_setvskip s8, 1
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_e32 v3, v2, v3
    s_setvskip 0, 0
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    finish
end test
