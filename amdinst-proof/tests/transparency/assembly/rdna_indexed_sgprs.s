// SGPRs are addressed by a number in M0.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    s_mov_b32 s16, 3
    s_mov_b32 s17, 4
    s_mov_b32 m0, 1
    v_cmp_lt_u32_e32 {vcc}, 7, v2
    s_and_saveexec_{wave} {14}, {vcc}
    s_movrels_b32 s18, s16
    v_add_nc_u32_e32 v3, s18, v3
    s_movreld_b32 s16, s2
    s_mov_{wave} {exec}, {14}
    v_add_nc_u32_e32 v3, s17, v3
    finish
end test
