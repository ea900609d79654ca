// refused: indirect-target: jump through registers whose value is not known
// A function jumps by a table: behind the join, that is no return.
kernel test
    begin
    site
    call by_table
    finish
end test
function by_table
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, table@rel32@lo+4
    s_addc_u32 s17, s17, table@rel32@hi+12
    s_lshl_b32 s18, s2, 3
    s_add_u32 s16, s16, s18
    s_addc_u32 s17, s17, 0
    s_load_dwordx2 s[16:17], s[16:17], 0
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s2, 9
    s_cbranch_scc1 0f
    s_nop 0
0:
    s_setpc_b64 s[16:17]
.Lfirst:
    site
    s_setpc_b64 s[30:31]
.Lsecond:
    v_add_u32_e32 v3, 77, v3
    site
    s_setpc_b64 s[30:31]
end by_table
    .section .data.rel.ro, "aw"
    .p2align 3
    .hidden table
table:
    .quad .Lfirst
    .quad .Lsecond
