// refused: unclassified-narrowing: s_mov_b64 exec, s[18:19]
// A copy of EXEC is overwritten by an index: what is put back then is no restore.
kernel test
    begin
    site
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_mov_b64 s[18:19], exec
    s_mov_b32 m0, 2
    s_movreld_b64 s[16:17], s[12:13]
    s_mov_b64 exec, s[18:19]
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[10:11]
    finish
end test
