// kernels: test other
// refused: unresolved-getpc: `s_load_dword` uses a return address, but not to return there
// A function loads by a return address that went through a lane: its kernel stays where it is, and runs as it was.
kernel other
    begin
    site
    call shared
    finish
end other
kernel test
    begin
    site
    call shared
    s_call_b64 s[30:31], takes_a_number
    .long 0x7e140301
    s_endpgm
end test
function takes_a_number
    v_writelane_b32 v9, s30, 3
    v_writelane_b32 v9, s31, 4
    s_mov_b64 s[30:31], 0
    v_readlane_b32 s34, v9, 3
    v_readlane_b32 s35, v9, 4
    s_load_dword s9, s[34:35], 0
    s_waitcnt lgkmcnt(0)
    v_add_u32_e32 v3, s9, v3
    finish
end takes_a_number
function shared
    site
    v_add_u32_e32 v3, 9, v3
    s_setpc_b64 s[30:31]
end shared
