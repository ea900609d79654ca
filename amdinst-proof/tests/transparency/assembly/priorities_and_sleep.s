// What concerns the scheduler, MODE's rounding, and a trap that nobody comes to.
kernel test
    begin
    s_setprio 3
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 8), 0xff
    s_sleep 1
    s_and_saveexec_b64 s[14:15], s[12:13]
    s_sleep 2
    s_setprio 0
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    s_getreg_b32 s9, hwreg(HW_REG_MODE, 0, 8)
    v_add_u32_e32 v3, s9, v3
    s_cmp_eq_u32 s2, 100
    s_cbranch_scc0 0f
    s_trap 2
    s_trap 3
0:
    site
    finish
end test
