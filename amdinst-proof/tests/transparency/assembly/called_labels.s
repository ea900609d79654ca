// kernels: test other
// cpus: gfx900 gfx90a gfx942 gfx1030 gfx1100 gfx1100:wave64 gfx1200
// Calls of labels behind the end of a kernel: around a loop, of each other, and from another kernel.
kernel test
    begin
    s_mov_b32 s24, 3
0:
    s_call_b64 s[26:27], .Lcalled
    s_sub_u32 s24, s24, 1
    s_cmp_lg_u32 s24, 0
    s_cbranch_scc1 0b
    s_getpc_b64 s[20:21]
.Lhere:
    s_add_u32 s20, s20, .Lleaf - .Lhere
    s_addc_u32 s21, s21, 0
    s_swappc_b64 s[28:29], s[20:21]
    site
    finish
.Lcalled:
    site
    s_call_b64 s[28:29], .Lleaf
    s_bitcmp1_b32 s24, 0
    s_cbranch_scc1 1f
    site
1:
    s_setpc_b64 s[26:27]
.Lleaf:
    site
    s_setpc_b64 s[28:29]
end test
kernel other
    begin
    s_call_b64 s[28:29], .Lleaf
    finish
end other
