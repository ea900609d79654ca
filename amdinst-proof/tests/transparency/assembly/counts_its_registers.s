// refused: descriptor-limit: it reads how many registers it has
// sgprs: 18
// vgprs: 4
// The kernel reads how many registers it has; counters would make that more.
kernel test
    begin
    site
    s_cmp_lg_u32 s2, 1000
    s_cbranch_scc1 0f
    s_getreg_b32 s9, hwreg(HW_REG_GPR_ALLOC)
    v_add_u32_e32 v3, s9, v3
0:
    finish
end test
