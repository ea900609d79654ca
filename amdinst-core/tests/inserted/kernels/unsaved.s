// Nothing holds the mask before the branch.
    v_cmp_gt_u32_e32 vcc, 7, v0
    s_mov_b64 s[8:9], exec
    v_mov_b32_e32 v2, 0
    s_and_b64 s[10:11], vcc, exec
    s_mov_b64 s[8:9], 0
    s_mov_b64 exec, s[10:11]
    v_mov_b32_e32 v1, 1
    s_endpgm
