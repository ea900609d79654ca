// VGPRs are addressed by a number in M0, right behind a site.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    v_mov_b32_e32 v8, 1
    v_mov_b32_e32 v9, 2
    s_mov_b32 m0, 1
    v_cmp_lt_u32_e32 {vcc}, 7, v2
    s_and_saveexec_{wave} {14}, {vcc}
    v_movrels_b32_e32 v7, v8
    v_add_nc_u32_e32 v3, v7, v3
    v_movreld_b32_e32 v8, v3
    s_mov_{wave} {exec}, {14}
    v_add_nc_u32_e32 v3, v9, v3
    finish
end test
