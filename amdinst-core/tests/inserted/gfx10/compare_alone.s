// A comparison that writes EXEC, where nothing holds what that was; the copy that is inserted before it reads EXEC.
    v_cmpx_gt_u32_e32 7, v0
    s_cbranch_execz behind
    v_mov_b32_e32 v1, 1
behind:
    s_nop 0
    s_endpgm
