// refused: unclassified-narrowing: sets a mask of unknown origin
// Waves of 64 lanes whose masks are made of halves, and constants.
// cpus: gfx1100:wave64 gfx1151:wave64 gfx1201:wave64 gfx1010:wave64 gfx1030:wave64
kernel test
    begin
    s_mov_b64 s[10:11], exec
    s_mov_b32 exec_hi, 0
    v_add_nc_u32_e32 v3, 2, v3
    s_mov_b64 exec, s[10:11]
    s_and_b32 exec_lo, exec_lo, 0xffff
    v_add_nc_u32_e32 v3, 4, v3
    s_mov_b64 exec, s[10:11]
    v_cmp_lt_u32_e32 vcc, 7, v2
    s_and_b32 s12, vcc_lo, exec_lo
    s_and_b32 s13, vcc_hi, exec_hi
    s_mov_b64 exec, s[12:13]
    v_add_nc_u32_e32 v3, 8, v3
    s_mov_b32 exec_lo, s10
    s_mov_b32 exec_hi, s11
    s_and_saveexec_b32 s14, vcc_lo
    v_add_nc_u32_e32 v3, 16, v3
    s_mov_b32 exec_lo, s14
    finish
end test
