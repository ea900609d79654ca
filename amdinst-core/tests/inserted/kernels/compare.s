// A comparison that writes EXEC: OLD is in no register behind it, and SCC says nothing.
    s_mov_b64 s[8:9], exec
    v_cmpx_gt_u32_e32 vcc, 7, v0
    v_mov_b32_e32 v1, 1
    s_mov_b64 exec, s[8:9]
    s_endpgm
