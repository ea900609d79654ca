// The last function ends with a trap, and the branch for waves without lanes leads behind it, where nothing is.
kernel test
    begin
    site
    call traps
    finish
end test
function traps
    s_cmp_eq_u32 s2, 77
    s_cbranch_scc1 0f
    site
    s_setpc_b64 s[30:31]
0:
    v_cmp_lt_u32_e32 vcc, 7, v2
    s_and_saveexec_b64 s[14:15], vcc
    s_cbranch_execz 1f
    s_trap 2
1:
end traps
