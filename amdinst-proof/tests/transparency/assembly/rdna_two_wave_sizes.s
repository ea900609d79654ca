// refused: other-wave-size: lanes
// kernels: test also other
// wave64: other
// cpus: gfx1100 gfx1151 gfx1201 gfx1010 gfx1030
// Most kernels have waves of 32 lanes: the one whose waves have 64 stays as it is.
kernel test
    begin
    site
    finish
end test
kernel also
    begin
    site
    finish
end also
kernel other
    begin
    v_cmp_lt_u32_e64 vcc_lo, 7, v2
    s_and_saveexec_b64 s[14:15], vcc
    v_add_nc_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    finish
end other
