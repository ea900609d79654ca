// refused: unresolved-getpc: `global_store_dword` uses a return address, but not to return there
// What may be a return address is an address in lanes.
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
    s_mov_b64 s[30:31], exec
0:
    v_writelane_b32 v4, s30, 0
    v_writelane_b32 v5, s31, 0
    global_store_dword v[4:5], v3, off
    s_setpc_b64 s[34:35]
end function
