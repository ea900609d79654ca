// cpus: gfx900 gfx90a
// refused: indexed-registers: vector instructions may be skipped
// MODE's bit that skips vector instructions is set as one of a hardware register.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_e32 v3, v2, v3
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 0
    v_add_u32_e32 v3, 1, v3
    s_mov_b64 exec, s[14:15]
    finish
end test
