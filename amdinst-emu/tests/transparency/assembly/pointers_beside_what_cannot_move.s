// kernels: test other
// refused: unresolved-getpc: `s_load_dword` uses a return address, but not to return there
// refused: shared-function: `first` is also called by `other`, which is not instrumented
// refused: shared-function: `second` is also called by `other`, which is not instrumented
// One kernel reads a number where a call returns to, so it stays where it is, with all that it may call through pointers. The other one
// calls through pointers, too: there is one address for both of each function, that which code forms among them.
.macro by_table
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, table@rel32@lo+4
    s_addc_u32 s17, s17, table@rel32@hi+12
    s_load_dwordx2 s[20:21], s[16:17], 0x0
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s2, 1
    s_cselect_b32 s20, s22, s20
    s_cselect_b32 s21, s23, s21
    s_swappc_b64 s[30:31], s[20:21]
.endm
.macro form_second
    address second
    s_mov_b64 s[22:23], s[20:21]
.endm
kernel other
    begin
    form_second
    by_table
    s_call_b64 s[30:31], takes_a_number
    .long 0x7e140301
    s_endpgm
end other
function takes_a_number
    s_load_dword s9, s[30:31], 0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    finish
end takes_a_number
kernel test
    begin
    site
    form_second
    by_table
    call third
    site
    finish
end test
function first
    site
    s_setpc_b64 s[30:31]
end first
function second
    v_mad_u32_u24 v3, v3, 5, 2
    site
    s_setpc_b64 s[30:31]
end second
function third
    site
    s_setpc_b64 s[30:31]
end third
    .section .data.rel.ro, "aw"
    .p2align 3
    .hidden table
table:
    .quad first
