// A loop that lanes leave one by one: a site that runs many times.
    s_mov_b64 s[8:9], 0
again:
    v_add_u32_e32 v1, 1, v1
    v_cmp_ge_u32_e32 vcc, v1, v0
    s_or_b64 s[8:9], vcc, s[8:9]
    s_andn2_b64 exec, exec, s[8:9]
    s_cbranch_execnz again
    s_or_b64 exec, exec, s[8:9]
    s_endpgm
