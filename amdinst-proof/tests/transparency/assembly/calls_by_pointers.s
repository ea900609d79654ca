// Calls by a table in data, and by addresses that lanes keep: each function whose address is a value may be called. One of them ends
// waves, one is called in the usual way as well.
kernel test
    begin
    site
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, table@rel32@lo+4
    s_addc_u32 s17, s17, table@rel32@hi+12
    s_and_b32 s18, s2, 1
    s_lshl_b32 s18, s18, 3
    s_load_dwordx2 s[20:21], s[16:17], s18
    s_waitcnt lgkmcnt(0)
    s_swappc_b64 s[30:31], s[20:21]
    call first
    // Lanes call different functions, one after the other.
    address third
    v_mov_b32_e32 v4, s20
    v_mov_b32_e32 v5, s21
    address fourth
    v_mov_b32_e32 v6, s20
    v_mov_b32_e32 v7, s21
    v_cmp_lt_u32_e32 vcc, 20, v2
    v_cndmask_b32_e32 v4, v4, v6, vcc
    v_cndmask_b32_e32 v5, v5, v7, vcc
    s_mov_b64 s[24:25], exec
1:
    v_readfirstlane_b32 s20, v4
    v_readfirstlane_b32 s21, v5
    v_cmp_eq_u64_e32 vcc, s[20:21], v[4:5]
    s_and_saveexec_b64 s[26:27], vcc
    s_swappc_b64 s[30:31], s[20:21]
    s_xor_b64 exec, exec, s[26:27]
    s_cbranch_execnz 1b
    s_mov_b64 exec, s[24:25]
    site
    finish
end test
function first
    site
    s_setpc_b64 s[30:31]
end first
function second
    s_cmp_eq_u32 s2, 3
    s_cbranch_scc1 0f
    s_mov_b32 s36, 5
    v_add_u32_e32 v3, s36, v3
    site
    s_setpc_b64 s[30:31]
0:
    site
    finish
end second
function third
    v_mad_u32_u24 v3, v3, 3, 1
    site
    s_setpc_b64 s[30:31]
end third
function fourth
    v_and_b32_e32 v8, 3, v2
    s_mov_b64 s[38:39], exec
1:
    v_cmp_ne_u32_e32 vcc, 0, v8
    s_and_b64 exec, exec, vcc
    v_add_u32_e32 v3, 2, v3
    v_subrev_u32_e32 v8, 1, v8
    s_cbranch_execnz 1b
    s_mov_b64 exec, s[38:39]
    s_setpc_b64 s[30:31]
end fourth
    .section .data.rel.ro, "aw"
    .p2align 3
    .hidden table
table:
    .quad first
    .quad second
