// kernels: test other
// Waves of two kernels end in a function that both call.
kernel test
    begin
    site
    call ends
    finish
end test
kernel other
    begin
    site
    site
    call ends
    finish
end other
function ends
    site
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 0f
    s_setpc_b64 s[30:31]
0:
    finish
end ends
