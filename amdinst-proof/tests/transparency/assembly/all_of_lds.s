// cpus: gfx950
// lds: 163840
// refused: lds-limit: beside the kernel's 163840; gfx950 has 163840
// No LDS is left for counters.
kernel test
    begin
    v_lshlrev_b32_e32 v4, 2, v0
    v_add_u32_e32 v4, 0x27000, v4
    ds_write_b32 v4, v2
    site
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v5, v4
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, v5, v3
    site
    finish
end test
