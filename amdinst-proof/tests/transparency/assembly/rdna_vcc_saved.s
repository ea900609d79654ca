// VCC is a mask that is kept in SGPRs across sites, and comes back; its low half alone is a number, too.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    v_cmp_lt_u32_e32 {vcc}, 7, v2
    s_mov_{wave} {12}, {vcc}
    v_cmp_gt_u32_e32 {vcc}, 30, v2
    s_and_saveexec_{wave} {14}, {12}
    v_cndmask_b32_e32 v4, v2, v3, {vcc}
    v_add_nc_u32_e32 v3, v3, v4
    s_mov_{wave} {exec}, {14}
    s_mov_{wave} {16}, {vcc}
    s_mov_{wave} {vcc}, {12}
    s_cbranch_vccz 1f
    s_and_saveexec_{wave} {14}, {16}
    v_add_nc_u32_e32 v3, 2, v3
    s_or_{wave} {exec}, {exec}, {14}
1:
    s_mov_b32 vcc_lo, 77
    s_and_saveexec_{wave} {14}, {12}
    v_add_nc_u32_e32 v3, vcc_lo, v3
    s_mov_{wave} {exec}, {14}
    v_add_co_u32 v4, {vcc}, v2, v3
    v_cmpx_lt_u32_e32 3, v2
    v_add_co_ci_u32_e32 v3, {vcc}, 1, v3, {vcc}
    finish
end test
