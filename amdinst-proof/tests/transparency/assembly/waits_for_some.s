// Waits that leave operations under way, across sites.
kernel test
    begin
    global_load_dword v4, v1, s[6:7] offset:4
    global_load_dword v5, v1, s[6:7] offset:8
    site
    global_load_dword v6, v1, s[6:7] offset:12
    s_waitcnt vmcnt(2)
    v_add_u32_e32 v3, v4, v3
    site
    s_load_dword s16, s[6:7], 0
    s_waitcnt vmcnt(1)
    v_add_u32_e32 v3, v5, v3
    site
    s_cbranch_cdbgsys 0f
    s_waitcnt vmcnt(0) lgkmcnt(0)
    v_add_u32_e32 v3, s16, v3
    v_add_u32_e32 v3, v6, v3
0:
    site
    finish
end test
