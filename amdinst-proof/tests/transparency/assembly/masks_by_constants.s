// refused: unclassified-narrowing: sets a mask of unknown origin
// EXEC gets constants, in whole and in halves, single bits, and what scalar instructions of other kinds make of it.
kernel test
    begin
    s_mov_b64 s[10:11], exec
    s_mov_b64 exec, 0x55555555
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[10:11]
    s_mov_b32 exec_hi, 0
    v_add_u32_e32 v3, 2, v3
    s_mov_b64 exec, s[10:11]
    s_and_b32 exec_lo, exec_lo, 0xffff
    v_add_u32_e32 v3, 4, v3
    s_mov_b64 exec, s[10:11]
    s_bitset0_b64 exec, 3
    v_add_u32_e32 v3, 8, v3
    s_bfm_b64 exec, 7, 2
    v_add_u32_e32 v3, 16, v3
    s_lshl_b64 exec, s[10:11], 5
    v_add_u32_e32 v3, 32, v3
    s_mov_b64 exec, s[10:11]
    s_cmp_eq_u32 s2, 1
    s_cmov_b64 exec, 0xff
    v_add_u32_e32 v3, 64, v3
    s_mov_b64 exec, s[10:11]
    s_cselect_b64 exec, exec, 15
    v_add_u32_e32 v3, 0x80, v3
    s_mov_b64 exec, s[10:11]
    finish
end test
