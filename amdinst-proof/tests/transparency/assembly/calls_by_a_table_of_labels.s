// refused: indirect-target: may be its target, where no function starts
// A call by a table of places within a function.
kernel test
    begin
    site
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, table@rel32@lo+4
    s_addc_u32 s17, s17, table@rel32@hi+12
    s_and_b32 s18, s2, 1
    s_lshl_b32 s18, s18, 3
    s_load_dwordx2 s[20:21], s[16:17], s18
    s_waitcnt lgkmcnt(0)
    s_swappc_b64 s[30:31], s[20:21]
    finish
end test
function has_two_ways_in
    v_add_u32_e32 v3, 77, v3
.Llater:
    site
    s_setpc_b64 s[30:31]
end has_two_ways_in
    .section .data.rel.ro, "aw"
    .p2align 3
    .hidden table
table:
    .quad has_two_ways_in
    .quad .Llater
