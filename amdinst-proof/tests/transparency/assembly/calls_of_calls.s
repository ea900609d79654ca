// Calls of calls: s_call_b64 to a function that goes on into another, which returns for it; a site right before each jump and behind.
kernel test
    begin
    site
    s_call_b64 s[30:31], outer
    site
    address outer
    s_swappc_b64 s[30:31], s[20:21]
    site
    finish
end test
function outer
    site
    s_mov_b64 s[34:35], s[30:31]
    s_call_b64 s[30:31], inner
    s_mov_b64 s[30:31], s[34:35]
    s_branch inner
end outer
function inner
    v_cmp_lt_u32_e32 vcc, 9, v2
    s_and_saveexec_b64 s[16:17], vcc
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[16:17]
    s_setpc_b64 s[30:31]
end inner
