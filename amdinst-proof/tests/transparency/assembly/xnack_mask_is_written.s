// cpus: gfx906:xnack+ gfx90a:xnack+
// XNACK_MASK is set between sites, to what it is.
kernel test
    begin
    s_mov_b64 s[10:11], xnack_mask
    site
    s_mov_b64 xnack_mask, s[10:11]
    s_load_dword s9, s[0:1], 0x10
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    site
    finish
end test
