// A register has a mask that may have bits of a return address, and then a number: lanes that are done take the mask, and nobody reads
// what they took.
kernel test
    begin
    s_mov_b64 s[10:11], 60
    site
    call steps
    finish
end test
function steps
    v_writelane_b32 v9, s30, 0
    v_writelane_b32 v9, s31, 1
    s_mov_b64 s[26:27], exec
    s_cmp_eq_u32 s2, 0
    s_cbranch_scc1 0f
    s_mov_b64 s[30:31], exec
0:
    s_andn2_b64 s[34:35], s[30:31], exec
    v_and_b32_e32 v4, 3, v2
    s_mov_b32 s36, 0
1:
    v_cmp_ne_u32_e32 vcc, s36, v4
    s_and_saveexec_b64 s[14:15], vcc
    s_cbranch_execz 2f
    s_add_u32 s34, s36, 1
2:
    s_or_b64 exec, exec, s[14:15]
    v_mov_b32_e32 v5, s34
    v_cndmask_b32_e32 v3, v3, v5, vcc
    s_mov_b32 s36, s34
    s_and_b64 exec, exec, vcc
    s_cbranch_execnz 1b
    s_mov_b64 exec, s[26:27]
    v_readlane_b32 s30, v9, 0
    v_readlane_b32 s31, v9, 1
    s_setpc_b64 s[30:31]
end steps
