// refused: unclassified-narrowing: sets a mask of unknown origin
// In waves of 32 lanes the upper half of EXEC switches no lane: numbers are in it, and go with it where pairs are moved.
// cpus: gfx1100 gfx1151 gfx1201 gfx1010 gfx1030
kernel test
    begin
    s_mov_b32 exec_hi, 5
    v_cmp_lt_u32_e32 vcc_lo, 7, v2
    s_and_saveexec_b32 s14, vcc_lo
    s_mov_b32 exec_hi, 0
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_b32 exec_lo, s14
    s_and_b32 exec_hi, s2, 3
    s_mov_b64 s[16:17], exec
    v_cmpx_gt_u32_e32 20, v2
    s_xor_b32 exec_hi, exec_hi, -1
    v_add_nc_u32_e32 v3, 2, v3
    s_mov_b32 exec_lo, s16
    finish
end test
