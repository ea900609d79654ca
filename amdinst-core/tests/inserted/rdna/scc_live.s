// SCC is read behind the branch: what is inserted leaves it as the instruction set it.
    v_cmp_gt_u32_e32 {vcc}, 7, v0
    s_and_saveexec_{wave} {8}, {vcc}
    s_cselect_b32 s12, 1, 2
    v_mov_b32_e32 v1, s12
    s_or_{wave} {exec}, {exec}, {8}
    s_endpgm
