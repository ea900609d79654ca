// cpus: gfx900 gfx90a gfx942 gfx1100
// refused: broken-control-flow: where no function starts
// refused: indirect-target: jump through registers whose value is not known
// A label is called that its caller goes on into.
kernel test
    begin
    site
    s_mov_b32 s24, 0
    s_call_b64 s[26:27], .Lcalled
    s_mov_b32 s24, 1
.Lcalled:
    site
    s_cmp_eq_u32 s24, 1
    s_cbranch_scc1 0f
    s_setpc_b64 s[26:27]
0:
    finish
end test
