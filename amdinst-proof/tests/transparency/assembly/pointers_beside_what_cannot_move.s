// kernels: test other
// refused: unresolved-getpc: `s_load_dword` uses a return address, but not to return there
// refused: shared-function: `first` is also called by `other`, which is not instrumented
// refused: shared-function: `second` is also called by `other`, which is not instrumented
// One kernel reads a number where a call returns to, so it stays where it is, with all that it may call through pointers. The other one
// calls through pointers, too: there is one address for both of each function, that which code forms among them.
kernel other
    begin
    keep second
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
    keep second
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
