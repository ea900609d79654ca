// kernels: test other
// refused: unresolved-getpc: `s_load_dword` uses a return address, but not to return there
// refused: shared-function: `exported` is also called by `other`, which is not instrumented
// One kernel reads a number where a call returns to, so it stays where it is. The other one shares functions with it: one that it
// calls by a short jump and by an address, of which there are two then, and it counts in its own; and one by a slot of the table of
// addresses, where there is one for both.
.macro call_exported
    s_getpc_b64 s[20:21]
    s_add_u32 s20, s20, exported@gotpcrel32@lo+4
    s_addc_u32 s21, s21, exported@gotpcrel32@hi+12
    s_load_dwordx2 s[20:21], s[20:21], 0x0
    s_waitcnt lgkmcnt(0)
    s_swappc_b64 s[30:31], s[20:21]
.endm
kernel other
    begin
    call shared
    s_call_b64 s[30:31], takes_a_number
    .long 0x7e140301
    s_endpgm
end other
function takes_a_number
    site
    s_load_dword s9, s[30:31], 0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    call shared
    call_exported
    finish
end takes_a_number
function shared
    site
    v_mad_u32_u24 v3, v3, 3, 1
    s_setpc_b64 s[30:31]
end shared
.globl exported
.type exported, @function
exported:
    v_mad_u32_u24 v3, v3, 5, 2
    s_setpc_b64 s[30:31]
.size exported, . - exported
kernel test
    begin
    site
    s_call_b64 s[30:31], shared
    call shared
    call counts
    call_exported
    site
    finish
end test
function counts
    site
    s_setpc_b64 s[30:31]
end counts
