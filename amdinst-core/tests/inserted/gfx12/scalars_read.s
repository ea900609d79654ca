// Vector instructions have read the SGPRs that hold the mask: whatever reads a later value of them waits for it.
    v_cndmask_b32_e64 v2, v0, v1, {8}
    v_cmp_gt_u32_e32 {vcc}, 7, v0
    s_and_saveexec_{wave} {8}, {vcc}
    s_cbranch_execz behind
    v_mov_b32_e32 v1, 1
behind:
    s_wait_alu depctr_sa_sdst(0)
    s_or_{wave} {exec}, {exec}, {8}
    s_endpgm
