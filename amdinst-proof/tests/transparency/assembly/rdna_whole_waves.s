// All lanes are switched on in a region, others than the wave began with; the lanes that were off keep what they had.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    v_cmp_lt_u32_e64 {12}, 7, v2
    s_and_saveexec_{wave} {14}, {12}
    v_add_nc_u32_e32 v3, 1, v3
    s_or_saveexec_{wave} {16}, -1
    v_mov_b32_e32 v8, 1
    s_mov_{wave} {exec}, {16}
    v_mov_b32_e32 v8, v2
    s_or_saveexec_{wave} {16}, -1
    v_mov_b32_e32 v9, 7
    s_not_{wave} {exec}, {exec}
    s_not_{wave} {exec}, {exec}
    v_add_nc_u32_dpp v9, v8, v9 row_shr:1 row_mask:0xa bank_mask:0xf
    v_readlane_b32 s9, v9, 31
    s_mov_{wave} {exec}, {16}
    v_add_nc_u32_e32 v3, s9, v3
    s_mov_{wave} {18}, {exec}
    s_mov_{wave} {exec}, -1
    v_mov_b32_e32 v10, 3
    s_mov_{wave} {exec}, {18}
    v_add_nc_u32_e32 v3, v10, v3
    s_mov_{wave} {exec}, {14}
    v_add_nc_u32_e32 v3, v10, v3
    finish
end test
