// The mask before the branch is saved, and SCC is free; a load that reads EXEC is under way, which RDNA 1 waits for before EXEC changes.
    v_lshlrev_b32_e32 v2, 2, v0
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    v_cmp_gt_u32_e32 {vcc}, 7, v0
    s_waitcnt lgkmcnt(0)
    global_load_dword v3, v2, s[4:5]
    s_waitcnt_depctr 0xffe3
    s_and_saveexec_{wave} {8}, {vcc}
    s_cbranch_execz behind
    v_mov_b32_e32 v1, 1
behind:
    s_or_{wave} {exec}, {exec}, {8}
    s_endpgm
