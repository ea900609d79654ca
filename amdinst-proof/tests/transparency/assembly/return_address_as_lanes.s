// refused: unresolved-getpc: `s_and_saveexec_b64` uses a return address, but not to return there
// What is a return address on every path selects lanes.
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
    s_and_saveexec_b64 s[14:15], s[34:35]
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    s_setpc_b64 s[34:35]
end function
