// cpus: gfx900 gfx90a
// refused: broken-control-flow: `s_cbranch_i_fork` is not followed
// Lanes that go different ways one after the other, by the stack of masks that older processors have.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_mov_b32 s9, 0
    s_setreg_b32 hwreg(HW_REG_MODE, 29, 3), s9
    s_cbranch_i_fork s[12:13], 0f
    v_add_u32_e32 v3, 1, v3
    s_branch 1f
0:
    v_add_u32_e32 v3, 2, v3
1:
    s_cbranch_join s9
    site
    finish
end test
