// Branches lead into clauses, and delays stand before sites; in waves of 32 lanes two operations in one instruction are around one.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64 gfx1010 gfx1010:wave64 gfx1030 gfx1030:wave64
kernel test
    begin
    s_mov_{wave} {10}, {exec}
    v_mov_b32_e32 v4, 0
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 1f
    s_clause 0x1
    global_load_b32 v4, v1, s[6:7]
1:
    global_load_b32 v5, v1, s[6:7]
    s_waitcnt vmcnt(0)
    v_add_nc_u32_e32 v3, v4, v5
    s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
    v_cmp_lt_u32_e32 {vcc}, 7, v3
    s_and_saveexec_{wave} {14}, {vcc}
    s_delay_alu instid0(SALU_CYCLE_1) | instskip(SKIP_2) | instid1(VALU_DEP_3)
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_{wave} {exec}, {14}
    v_cmpx_gt_u32_e32 40, v2
    v_add_nc_u32_e32 v3, 2, v3
    s_mov_{wave} {exec}, {10}
    s_clause 0x3
    global_load_b32 v4, v1, s[6:7]
    global_load_b32 v5, v1, s[6:7]
    global_load_b32 v6, v1, s[6:7]
    global_load_b32 v7, v1, s[6:7]
    v_cmp_ne_u32_e32 {vcc}, 3, v2
    s_delay_alu instid0(VALU_DEP_1)
    s_and_saveexec_{wave} {14}, {vcc}
    s_waitcnt vmcnt(0)
    v_add_nc_u32_e32 v3, v4, v3
    v_add_nc_u32_e32 v3, v7, v3
    s_mov_{wave} {exec}, {14}
    finish
end test
