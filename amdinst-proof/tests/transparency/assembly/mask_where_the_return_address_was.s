// A function puts its return address by, and gathers a mask in the registers. On the path that sets none, the address is still there:
// no lane that it has is used.
kernel test
    begin
    site
    call gathers
    site
    finish
end test
function gathers
    v_writelane_b32 v9, s30, 0
    v_writelane_b32 v9, s31, 1
    v_cmp_gt_u32_e32 vcc, 32, v2
    s_mov_b64 s[22:23], 0
    s_and_saveexec_b64 s[14:15], vcc
    s_cbranch_execz 0f
    v_cmp_gt_u32_e32 vcc, 16, v2
    s_and_b64 s[30:31], vcc, exec
    s_mov_b64 s[22:23], exec
0:
    s_or_b64 exec, exec, s[14:15]
    s_and_b64 s[30:31], s[30:31], exec
    s_and_b64 s[22:23], s[22:23], s[30:31]
    s_and_saveexec_b64 s[14:15], s[22:23]
    v_add_u32_e32 v3, 3, v3
    s_or_b64 exec, exec, s[14:15]
    // A loop: its first round reads a mask that nothing has set.
    v_readlane_b32 s30, v9, 0
    v_readlane_b32 s31, v9, 1
    v_and_b32_e32 v4, 3, v2
    s_mov_b64 s[24:25], 0
1:
    v_cmp_eq_u32_e32 vcc, 0, v4
    v_cmp_gt_u32_e64 s[26:27], 20, v2
    s_andn2_b64 s[30:31], s[30:31], exec
    s_and_b64 s[26:27], s[26:27], exec
    s_or_b64 s[30:31], s[30:31], s[26:27]
    s_or_b64 s[24:25], vcc, s[24:25]
    v_subrev_u32_e32 v4, 1, v4
    s_andn2_b64 exec, exec, s[24:25]
    s_cbranch_execnz 1b
    s_or_b64 exec, exec, s[24:25]
    s_and_saveexec_b64 s[14:15], s[30:31]
    v_add_u32_e32 v3, 5, v3
    s_or_b64 exec, exec, s[14:15]
    v_cndmask_b32_e64 v5, 0, 1, s[30:31]
    v_add_u32_e32 v3, v3, v5
    v_readlane_b32 s30, v9, 0
    v_readlane_b32 s31, v9, 1
    s_setpc_b64 s[30:31]
end gathers
