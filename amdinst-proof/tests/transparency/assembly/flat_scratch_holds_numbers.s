// cpus: gfx900 gfx90a
// FLAT_SCRATCH holds numbers across sites.
kernel test
    begin
    s_mov_b32 flat_scratch_lo, 17
    s_mov_b32 flat_scratch_hi, s2
    site
    v_add_u32_e32 v3, flat_scratch_lo, v3
    s_add_u32 flat_scratch_lo, flat_scratch_lo, flat_scratch_hi
    site
    v_add_u32_e32 v3, flat_scratch_lo, v3
    finish
end test
