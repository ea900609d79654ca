// kernels: test least compared in_code goes_back
// cpus: gfx900 gfx90a gfx942 gfx1030 gfx1100 gfx1100:wave64 gfx1200
// Jumps by tables of distances, whose length a mask, a minimum, a field or a comparison tells.
kernel test
    begin
    site
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, distances@rel32@lo+4
    s_addc_u32 s17, s17, distances@rel32@hi+12
    s_and_b32 s20, s2, 1
    s_lshl_b32 s20, s20, 2
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
    site
    site
    finish
end test
kernel least
    begin
    s_mov_b32 s24, 0
.Lagain:
    site
    s_min_u32 s20, s24, 2
    s_lshl_b32 s20, s20, 2
    s_getpc_b64 s[18:19]
    s_add_u32 s18, s18, of_least@rel32@lo+4
    s_addc_u32 s19, s19, of_least@rel32@hi+12
    s_load_dword s20, s[18:19], s20
    s_getpc_b64 s[16:17]
.Lbase:
    s_waitcnt lgkmcnt(0)
    s_add_u32 s16, s16, s20
    s_addc_u32 s17, s17, 0
    s_setpc_b64 s[16:17]
    .long 0xffffffff
.Lone:
    site
    s_branch .Ljoin
.Ltwo:
    site
    site
.Ljoin:
    s_add_u32 s24, s24, 1
    s_cmp_lg_u32 s24, 5
    s_cbranch_scc1 .Lagain
.Lthree:
    finish
end least
kernel compared
    begin
    s_mov_b32 s24, 0
.Lagain_compared:
    s_cmp_gt_u32 s24, 2
    s_cbranch_scc1 .Lother_compared
    s_lshl_b32 s20, s24, 2
    s_getpc_b64 s[18:19]
    s_add_u32 s18, s18, of_compared@rel32@lo+4
    s_addc_u32 s19, s19, of_compared@rel32@hi+12
    s_load_dword s20, s[18:19], s20
    s_waitcnt lgkmcnt(0)
    s_ashr_i32 s21, s20, 31
    s_add_u32 s16, s18, s20
    s_addc_u32 s17, s19, s21
    s_setpc_b64 s[16:17]
.Lone_compared:
    site
.Ltwo_compared:
    site
    s_branch .Ljoin_compared
.Lother_compared:
    site
.Ljoin_compared:
    s_add_u32 s24, s24, 1
    s_cmp_lg_u32 s24, 5
    s_cbranch_scc1 .Lagain_compared
    finish
end compared
kernel in_code
    begin
    site
    s_bfe_u32 s20, s2, 0x10000
    s_lshl_b32 s20, s20, 2
    s_getpc_b64 s[18:19]
.Lhere:
    s_add_u32 s18, s18, .Ltable - .Lhere
    s_addc_u32 s19, s19, 0
    s_load_dword s20, s[18:19], s20
    s_waitcnt lgkmcnt(0)
    s_add_u32 s16, s18, s20
    s_addc_u32 s17, s19, 0
    s_setpc_b64 s[16:17]
.Ltable:
    .long .Lleft - .Ltable
    .long .Lright - .Ltable
.Lleft:
    site
    finish
.Lright:
    site
    site
    finish
end in_code
kernel goes_back
    begin
    s_mov_b32 s24, 0
.Lback:
    site
    s_add_u32 s24, s24, 1
    s_and_b32 s20, s24, 3
    s_lshl_b32 s20, s20, 2
    s_getpc_b64 s[18:19]
    s_add_u32 s18, s18, of_goes_back@rel32@lo+4
    s_addc_u32 s19, s19, of_goes_back@rel32@hi+12
    s_load_dword s20, s[18:19], s20
    s_getpc_b64 s[16:17]
.Lcount:
    s_waitcnt lgkmcnt(0)
    s_ashr_i32 s21, s20, 31
    s_add_u32 s16, s16, s20
    s_addc_u32 s17, s17, s21
    s_setpc_b64 s[16:17]
.Lend:
    site
    finish
end goes_back
    .rodata
    .p2align 2
    .hidden distances, of_least, of_compared, of_goes_back
distances:
    .long .Lfirst - distances
    .long .Lsecond - distances
of_least:
    .long .Lone - .Lbase
    .long .Ltwo - .Lbase
    .long .Lthree - .Lbase
of_compared:
    .long .Ltwo_compared - of_compared
    .long .Lone_compared - of_compared
    .long .Lone_compared - of_compared
of_goes_back:
    .long .Lend - .Lcount
    .long .Lback - .Lcount
    .long .Lback - .Lcount
    .long .Lback - .Lcount
