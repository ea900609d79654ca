// kernels: test other
// refused: unresolved-getpc: `s_load_dword` uses a return address, but not to return there
// A function takes a number from where it would return to. Its kernel is not instrumented, nor is what lies there to move.
kernel other
    begin
    site
    site
    finish
end other
kernel test
    begin
    site
    s_call_b64 s[30:31], takes_a_number
    .long 0x7e140301
    s_endpgm
end test
function takes_a_number
    site
    s_mov_b64 s[34:35], s[30:31]
    s_load_dword s9, s[34:35], 0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    finish
end takes_a_number
