// The return address is in other registers, is copied, comes by s_call_b64; a callee ends waves, and waits for others.
kernel test
    begin
    site
    call copies
    s_call_b64 s[40:41], in_others
    s_barrier
    s_call_b64 s[30:31], ends
    finish
end test
function copies
    s_mov_b64 s[16:17], s[30:31]
    site
    s_barrier
    s_setpc_b64 s[16:17]
end copies
function in_others
    site
    s_setpc_b64 s[40:41]
end in_others
    // Of no size.
    .hidden ends
    .type ends, @function
ends:
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 0f
    site
    s_setpc_b64 s[30:31]
0:
    global_store_dword v1, v3, s[4:5]
    s_endpgm_saved
    .long 0xffffffff
