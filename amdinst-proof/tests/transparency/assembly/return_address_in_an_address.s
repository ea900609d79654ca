// refused: unresolved-getpc: `global_load_dword` uses a return address, but not to return there
// What may be a return address is one that a lane loads from.
kernel test
    begin
    site
    call function
    finish
end test
function function
    s_mov_b64 s[34:35], s[30:31]
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 0f
    s_mov_b64 s[30:31], s[6:7]
0:
    v_writelane_b32 v4, s30, 0
    v_writelane_b32 v5, s31, 0
    s_mov_b64 s[24:25], exec
    s_mov_b64 exec, 1
    global_load_dword v6, v[4:5], off
    s_waitcnt vmcnt(0)
    v_add_u32_e32 v3, v3, v6
    s_mov_b64 exec, s[24:25]
    s_setpc_b64 s[34:35]
end function
