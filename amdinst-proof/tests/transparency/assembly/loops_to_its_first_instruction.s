// The first instruction is a branch's target, and that of a jump through registers.
kernel test
    // What s16 starts with is not told: 0 here.
    s_nop 0
    v_cmp_lt_u32_e32 vcc, 40, v0
    s_and_saveexec_b64 s[22:23], vcc
    s_mov_b64 exec, s[22:23]
    s_cmp_eq_u32 s16, 2
    s_cbranch_scc1 0f
    s_cmp_eq_u32 s16, 1
    s_mov_b32 s16, 2
    s_cbranch_scc1 test
    s_mov_b32 s16, 1
    address test
    s_setpc_b64 s[20:21]
0:
    begin
    site
    finish
end test
