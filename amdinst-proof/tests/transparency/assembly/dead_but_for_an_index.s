// s18 is read by an index alone, behind the sites; a mask is overwritten by one.
kernel test
    begin
    s_mov_b32 s16, 3
    s_mov_b32 s17, 30
    s_mov_b32 s18, 300
    s_mov_b32 s19, 3000
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_and_saveexec_b64 s[22:23], s[12:13]
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[22:23]
    s_mov_b32 m0, 2
    s_movrels_b32 s9, s16
    v_add_u32_e32 v3, s9, v3
    s_movrels_b64 s[24:25], s[16:17]
    v_add_u32_e32 v3, s25, v3
    finish
end test
