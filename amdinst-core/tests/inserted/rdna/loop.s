// A loop that lanes leave one by one: a site that runs many times.
    s_mov_{wave} {8}, 0
again:
    v_add_nc_u32_e32 v1, 1, v1
    v_cmp_ge_u32_e32 {vcc}, v1, v0
    s_or_{wave} {8}, {vcc}, {8}
    s_delay_alu instid0(SALU_CYCLE_1)
    s_and_not1_{wave} {exec}, {exec}, {8}
    s_cbranch_execnz again
    s_or_{wave} {exec}, {exec}, {8}
    s_endpgm
