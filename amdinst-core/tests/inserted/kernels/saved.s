// The mask before the branch is saved, and SCC is free: what compilers write for an `if`.
    v_cmp_gt_u32_e32 vcc, 7, v0
    s_and_saveexec_b64 s[8:9], vcc
    s_cbranch_execz behind
    v_mov_b32_e32 v1, 1
behind:
    s_or_b64 exec, exec, s[8:9]
    s_endpgm
