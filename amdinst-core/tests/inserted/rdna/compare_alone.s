// A comparison that writes EXEC, where nothing holds what that was: what compilers write for an `if` that ends the kernel.
    v_cmpx_gt_u32_e32 7, v0
    s_cbranch_execz behind
    v_mov_b32_e32 v1, 1
behind:
    s_nop 0
    s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    s_endpgm
