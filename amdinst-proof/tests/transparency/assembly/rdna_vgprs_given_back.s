// The wave gives its vector registers back before it ends: records are written before that.
// cpus: gfx1100 gfx1100:wave64 gfx1151 gfx1201 gfx1201:wave64
kernel test
    begin
    site
    s_cmp_eq_u32 s2, 1
    s_cbranch_scc1 1f
    site
    global_store_b32 v1, v3, s[4:5]
    s_nop 0
    s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)
    s_endpgm
1:
    finish
end test
