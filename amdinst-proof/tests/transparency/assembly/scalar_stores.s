// cpus: gfx900 gfx906 gfx908
// Scalar stores before, in and behind a site, and their write-back; the last word of a workgroup's own line is written.
kernel test
    begin
    s_lshl_b32 s9, s2, 6
    s_mov_b32 s12, 77
    s_store_dword s12, s[4:5], s9 offset:0xc00
    site
    s_mov_b32 s10, 1
    s_mov_b32 s11, 2
    s_store_dwordx2 s[10:11], s[4:5], s9 offset:0xc08
    v_cmp_lt_u32_e32 vcc, 9, v2
    s_and_saveexec_b64 s[14:15], vcc
    s_store_dword s2, s[4:5], s9 offset:0xc10
    v_add_u32_e32 v3, 3, v3
    s_mov_b64 exec, s[14:15]
    s_waitcnt lgkmcnt(0)
    s_dcache_wb
    s_waitcnt lgkmcnt(0)
    s_barrier
    site
    s_load_dword s16, s[4:5], s9 offset:0xc00
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s16, v3
    finish
end test
