// refused: indexed-registers: VGPRs may be addressed by an index
// MODE's bit that indexes VGPRs is set as one of a hardware register.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_mov_b32 m0, 0x1001
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 1
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_mov_b32_e32 v3, v1
    s_setreg_imm32_b32 hwreg(HW_REG_MODE, 27, 1), 0
    s_mov_b64 exec, s[14:15]
    finish
end test
