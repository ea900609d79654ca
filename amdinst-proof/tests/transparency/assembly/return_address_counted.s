// refused: unresolved-getpc: `s_bcnt1_i32_b64` uses a return address, but not to return there
// Bits of what may be a return address are counted.
kernel test
    begin
    site
    call function
    finish
end test
function function
    s_mov_b64 s[34:35], s[30:31]
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 0f
    s_mov_b64 s[30:31], exec
0:
    s_and_b64 s[36:37], s[30:31], exec
    s_bcnt1_i32_b64 s9, s[36:37]
    v_add_u32_e32 v3, s9, v3
    s_setpc_b64 s[34:35]
end function
