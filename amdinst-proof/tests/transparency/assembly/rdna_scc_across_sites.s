// SCC is live across sites, and what a site's own instruction makes of it is read behind it.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    s_mov_{wave} {10}, {exec}
    v_cmp_lt_u32_e64 {12}, 7, v2
    s_and_saveexec_{wave} {14}, {12}
    s_cselect_b32 s9, 3, 5
    v_add_nc_u32_e32 v3, s9, v3
    s_cbranch_scc0 1f
    v_add_nc_u32_e32 v3, 1, v3
1:
    s_cmp_eq_u32 s2, 1
    s_mov_{wave} {exec}, {10}
    v_cmpx_gt_u32_e32 30, v2
    s_cselect_b32 s9, 7, 9
    v_add_nc_u32_e32 v3, s9, v3
    s_add_u32 s9, s2, -1
    s_mov_{wave} {exec}, {10}
    s_addc_u32 s9, s9, 0
    v_add_nc_u32_e32 v3, s9, v3
    s_cmp_lg_{size} {12}, 0
    v_cmpx_ne_u32_e32 5, v2
    s_cbranch_scc0 2f
    v_add_nc_u32_e32 v3, 4, v3
2:
    finish
end test
