// kernels: test other
// refused: unresolved-getpc: to a sum, perhaps by a table of distances
// A kernel jumps by a table of distances whose length is not told. It is not instrumented, but code before it would move its places.
kernel other
    begin
    site
    site
    finish
end other
kernel test
    begin
    site
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, distances@rel32@lo+4
    s_addc_u32 s17, s17, distances@rel32@hi+12
    s_lshl_b32 s20, s2, 2
    s_add_u32 s18, s16, s20
    s_addc_u32 s19, s17, 0
    s_load_dword s20, s[18:19], 0
    s_waitcnt lgkmcnt(0)
    s_ashr_i32 s21, s20, 31
    s_add_u32 s16, s16, s20
    s_addc_u32 s17, s17, s21
    s_setpc_b64 s[16:17]
.Lfirst:
    site
    finish
.Lsecond:
    v_add_u32_e32 v3, 77, v3
    site
    finish
end test
    .rodata
    .p2align 2
    .hidden distances
distances:
    .long .Lfirst - distances
    .long .Lsecond - distances
