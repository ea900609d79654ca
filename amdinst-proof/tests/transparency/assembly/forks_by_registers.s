// cpus: gfx900 gfx90a
// refused: broken-control-flow: `s_cbranch_g_fork` is not followed
// As `forks`, by an address in registers.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_mov_b32 s9, 0
    s_setreg_b32 hwreg(HW_REG_MODE, 29, 3), s9
    s_getpc_b64 s[20:21]
    s_add_u32 s20, s20, 20
    s_addc_u32 s21, s21, 0
    s_cbranch_g_fork s[12:13], s[20:21]
    v_add_u32_e32 v3, 1, v3
    s_branch 1f
    v_add_u32_e32 v3, 2, v3
1:
    s_cbranch_join s9
    site
    finish
end test
