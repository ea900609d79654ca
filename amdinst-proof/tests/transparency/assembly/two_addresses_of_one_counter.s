// Two addresses are formed of one value of the program counter.
kernel test
    begin
    site
    s_getpc_b64 s[20:21]
.Lhere:
    s_add_u32 s22, s20, .Lfirst - .Lhere
    s_addc_u32 s23, s21, 0
    s_add_u32 s24, s20, .Lsecond - .Lhere
    s_addc_u32 s25, s21, 0
    s_load_dword s9, s[22:23], 0
    s_load_dword s10, s[24:25], 0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    v_xor_b32_e32 v3, s10, v3
    site
    finish
end test
.Lfirst: .long 1234
.Lsecond: .long 99
