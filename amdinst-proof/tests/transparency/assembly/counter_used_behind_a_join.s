// refused: unresolved-getpc: the program counter itself is used beyond a branch, a join or a call
kernel test
    begin
    s_getpc_b64 s[20:21]
.Lhere:
    s_add_u32 s22, s20, .Ldata - .Lhere
    s_addc_u32 s23, s21, 0
    s_load_dword s9, s[22:23], 0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 0f
    site
0:
    site
    s_load_dword s9, s[20:21], 0x40
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    finish
end test
.Ldata: .long 1234
