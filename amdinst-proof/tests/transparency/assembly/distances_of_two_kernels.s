// kernels: test other
// cpus: gfx900 gfx90a gfx942 gfx1100
// refused: unresolved-getpc: by a table of distances that others have the address of
// A kernel jumps by a table of distances that another one reads.
kernel other
    begin
    s_getpc_b64 s[18:19]
    s_add_u32 s18, s18, distances@rel32@lo+4
    s_addc_u32 s19, s19, distances@rel32@hi+12
    s_load_dword s20, s[18:19], 0x0
    s_waitcnt lgkmcnt(0)
    v_mov_b32_e32 v3, s20
    site
    finish
end other
kernel test
    begin
    site
    s_and_b32 s20, s2, 1
    s_lshl_b32 s20, s20, 2
    s_getpc_b64 s[18:19]
    s_add_u32 s18, s18, distances@rel32@lo+4
    s_addc_u32 s19, s19, distances@rel32@hi+12
    s_load_dword s20, s[18:19], s20
    s_waitcnt lgkmcnt(0)
    s_ashr_i32 s21, s20, 31
    s_add_u32 s16, s18, s20
    s_addc_u32 s17, s19, s21
    s_setpc_b64 s[16:17]
.Lfirst:
    site
    finish
end test
    .rodata
    .p2align 2
    .hidden distances
distances:
    .long .Lfirst - distances
    .long .Lfirst - distances
