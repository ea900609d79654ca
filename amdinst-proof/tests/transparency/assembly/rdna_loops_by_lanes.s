// Loops that lanes leave by s_and_not1, one by one; a break of the inner one leaves the outer one as well.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    s_mov_{wave} {10}, 0
1:
    v_add_nc_u32_e32 v3, 1, v3
    v_cmp_ge_u32_e32 {vcc}, v3, v2
    s_or_{wave} {10}, {vcc}, {10}
    s_and_not1_{wave} {exec}, {exec}, {10}
    s_cbranch_execnz 1b
    s_or_{wave} {exec}, {exec}, {10}
    s_mov_{wave} {16}, 0
    v_mov_b32_e32 v4, 0
2:
    s_mov_{wave} {18}, 0
    v_mov_b32_e32 v5, 0
3:
    v_add_nc_u32_e32 v5, 1, v5
    v_add_nc_u32_e32 v3, 1, v3
    v_cmp_le_u32_e32 {vcc}, 3, v5
    s_or_{wave} {18}, {vcc}, {18}
    s_and_not1_{wave} {exec}, {exec}, {18}
    s_cbranch_execnz 3b
    s_or_{wave} {exec}, {exec}, {18}
    v_add_nc_u32_e32 v4, 1, v4
    v_lshrrev_b32_e32 v6, 2, v2
    v_cmp_gt_u32_e32 {vcc}, v4, v6
    s_or_{wave} {16}, {vcc}, {16}
    s_and_not1_{wave} {exec}, {exec}, {16}
    s_cbranch_execnz 2b
    s_or_{wave} {exec}, {exec}, {16}
    finish
end test
