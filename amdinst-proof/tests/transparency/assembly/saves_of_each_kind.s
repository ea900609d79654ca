// Instructions that save EXEC, or write a mask besides, and leave lanes on or turn some off.
kernel test
    begin
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    .irp op, s_and_saveexec_b64, s_andn1_saveexec_b64, s_andn2_saveexec_b64
    \op s[14:15], s[12:13]
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[10:11]
    .endr
    s_andn1_wrexec_b64 s[16:17], s[12:13]
    v_add_u32_e32 v3, 3, v3
    s_mov_b64 exec, s[10:11]
    s_andn2_wrexec_b64 s[16:17], s[12:13]
    v_add_u32_e32 v3, 5, v3
    s_mov_b64 exec, s[10:11]
    s_and_saveexec_b64 s[12:13], s[12:13]
    v_add_u32_e32 v3, 7, v3
    s_and_saveexec_b64 s[16:17], exec
    s_andn2_saveexec_b64 s[16:17], exec
    s_mov_b64 exec, s[12:13]
    finish
end test
