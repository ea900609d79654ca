// cpus: gfx906:xnack+ gfx90a:xnack+
// XNACK_MASK belongs to the trap handler where loads may be issued again; reading it is nobody's business, and leaves it.
kernel test
    begin
    s_mov_b32 s9, xnack_mask_lo
    s_and_b32 s9, s9, 0
    site
    s_load_dword s4, s[4:5], 0xc00
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    s_load_dwordx2 s[4:5], s[0:1], 0x0
    s_waitcnt lgkmcnt(0)
    finish
end test
