// Two operations in one instruction stand right before a site and right behind it.
// cpus: gfx1100 gfx1151 gfx1201
kernel test
    begin
    s_mov_b32 s10, exec_lo
    v_dual_mov_b32 v4, v2 :: v_dual_mov_b32 v5, 3
    v_cmpx_lt_u32_e32 v5, v4
    v_dual_add_f32 v4, v2, v5 :: v_dual_add_nc_u32 v3, 1, v3
    s_mov_b32 exec_lo, s10
    v_cmp_gt_u32_e32 vcc_lo, 30, v2
    v_dual_mov_b32 v4, 5 :: v_dual_add_nc_u32 v3, 1, v3
    s_and_saveexec_b32 s14, vcc_lo
    v_dual_mov_b32 v4, v2 :: v_dual_add_nc_u32 v3, v4, v3
    s_or_b32 exec_lo, exec_lo, s14
    v_dual_cndmask_b32 v4, v4, v2 :: v_dual_add_nc_u32 v3, 2, v3
    v_add_nc_u32_e32 v3, v4, v3
    finish
end test
