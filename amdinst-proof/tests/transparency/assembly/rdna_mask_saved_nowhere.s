// The mask before the branch goes to `null`, or over the condition, and comes back out of a copy or not at all.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    s_mov_{wave} {10}, {exec}
    v_cmp_lt_u32_e32 {vcc}, 7, v2
    s_and_saveexec_{wave} null, {vcc}
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_{wave} {exec}, {10}
    v_cmp_gt_u32_e32 {vcc}, 20, v2
    s_and_saveexec_{wave} {vcc}, {vcc}
    s_cbranch_execz 1f
    v_add_nc_u32_e32 v3, 2, v3
1:
    s_or_{wave} {exec}, {exec}, {vcc}
    v_cmp_ne_u32_e64 {12}, 3, v2
    s_and_{wave} {exec}, {exec}, {12}
    v_add_nc_u32_e32 v3, 4, v3
    finish
end test
