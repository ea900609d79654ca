// A register has a number on one path, and what is left of the return address on another, on which a flag says so.
kernel test
    begin
    site
    call counts
    finish
end test
function counts
    v_writelane_b32 v9, s30, 0
    v_writelane_b32 v9, s31, 1
    s_mov_b32 s36, 0
1:
    s_mov_b64 s[22:23], -1
    s_cmp_eq_u32 s36, 3
    s_cbranch_scc1 2f
    s_load_dword s30, s[6:7], 0x4
    s_mov_b64 s[22:23], 0
    s_waitcnt lgkmcnt(0)
2:
    s_xor_b64 s[24:25], s[22:23], -1
    s_and_b64 vcc, exec, s[24:25]
    s_cbranch_vccz 3f
    v_add_u32_e32 v3, s30, v3
    s_add_u32 s36, s36, 1
    s_branch 1b
3:
    site
    // The same by a mask of lanes that went the one way.
    s_mov_b64 s[22:23], 0
    v_readlane_b32 s30, v9, 0
    v_cmp_gt_u32_e32 vcc, 32, v2
    s_and_saveexec_b64 s[14:15], vcc
    s_cbranch_execz 4f
    s_load_dword s30, s[6:7], 0x8
    s_mov_b64 s[22:23], exec
    s_waitcnt lgkmcnt(0)
4:
    s_or_b64 exec, exec, s[14:15]
    s_and_saveexec_b64 s[14:15], s[22:23]
    s_cbranch_execz 5f
    v_add_u32_e32 v3, s30, v3
5:
    s_or_b64 exec, exec, s[14:15]
    v_readlane_b32 s30, v9, 0
    v_readlane_b32 s31, v9, 1
    s_setpc_b64 s[30:31]
end counts
