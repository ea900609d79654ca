// v_cmpx writes EXEC alone: what it was before is in a register, or nowhere. In both encodings, with DPP or SDWA, one behind the other, and in
// loops.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    s_mov_{wave} {10}, {exec}
    v_cmpx_lt_u32_e32 7, v2
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_{wave} {exec}, {10}
    v_cmpx_lt_u32_e64 v2, 16
    v_add_nc_u32_e32 v3, 2, v3
    v_cmpx_lt_u32_e64 v2, 12
    v_cmpx_gt_u32_e64 v2, s2
    v_add_nc_u32_e32 v3, 4, v3
    s_mov_{wave} {exec}, {10}
    v_cmpx_lt_u32_e64_dpp v2, v1 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf
    v_add_nc_u32_e32 v3, 8, v3
    s_mov_{wave} {exec}, {10}
    v_cmpx_lt_u32_dpp v2, v1 dpp8:[7,6,5,4,3,2,1,0]
    v_add_nc_u32_e32 v3, 16, v3
    s_mov_{wave} {exec}, {10}
1:
    v_add_nc_u32_e32 v3, 1, v3
    v_cmpx_lt_u32_e32 v3, v2
    s_cbranch_execnz 1b
    s_mov_{wave} {exec}, {10}
    v_cmpx_ne_u32_e32 3, v2
    s_cbranch_execz 2f
    v_add_nc_u32_e32 v3, 32, v3
2:
    finish
end test
