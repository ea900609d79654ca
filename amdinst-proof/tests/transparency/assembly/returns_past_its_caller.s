// A function returns to where its caller would, past what that has left to do.
kernel test
    begin
    site
    call calls_on
    site
    finish
end test
function calls_on
    s_mov_b64 s[34:35], s[30:31]
    site
    call returns_for_both
    // Waves of odd work-groups do not come here.
    v_add_u32_e32 v3, 16, v3
    site
    s_setpc_b64 s[34:35]
end calls_on
function returns_for_both
    site
    s_bitcmp1_b32 s2, 0
    s_cbranch_scc1 0f
    s_setpc_b64 s[30:31]
0:
    s_setpc_b64 s[34:35]
end returns_for_both
