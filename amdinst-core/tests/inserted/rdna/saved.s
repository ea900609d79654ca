// The mask before the branch is saved, and SCC is free; a delay announces the instruction behind the branch.
    v_cmp_gt_u32_e32 {vcc}, 7, v0
    s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)
    s_and_saveexec_{wave} {8}, {vcc}
    s_cbranch_execz behind
    v_mov_b32_e32 v1, 1
behind:
    s_or_{wave} {exec}, {exec}, {8}
    s_endpgm
