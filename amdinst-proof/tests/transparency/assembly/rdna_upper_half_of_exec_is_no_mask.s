// cpus: gfx1100 gfx1151 gfx1201 gfx1010 gfx1030
// In waves of 32 lanes the upper half of EXEC is a register like any other: what was saved elsewhere says nothing of it, so EXEC may have
// no lanes behind an OR with it.
kernel test
    begin
    s_mov_b32 exec_hi, 0
    s_mov_b32 s9, exec_lo
    v_cmpx_gt_u32_e32 0, v2
    s_mov_b32 s18, exec_hi
    s_or_b32 exec_lo, exec_lo, s18
    v_cmp_lt_u32_e32 vcc_lo, 7, v2
    s_and_saveexec_b32 s14, vcc_lo
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_b32 exec_lo, s9
    v_cmp_lt_u32_e32 vcc_lo, 9, v2
    s_and_saveexec_b32 s9, vcc_lo
    v_add_nc_u32_e32 v3, 2, v3
    s_mov_b32 exec_lo, s9
    finish
end test
