// refused: no-free-vgpr: the wave does more than end behind it
// Vector registers are given back, and the wave goes on to more than its end.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64
kernel test
    begin
    site
    global_store_b32 v1, v3, s[4:5]
    s_nop 0
    s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 1f
    s_endpgm
1:
    s_endpgm
end test
