// VCC is live across a site as a vector's carry, and its low half alone; FLAT_SCRATCH and M0 hold other things.
kernel test
    begin
    s_mov_b32 m0, 17
    s_mov_b32 vcc_lo, 77
    s_mov_b32 flat_scratch_lo, 5
    s_mov_b32 flat_scratch_hi, 6
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_e32 v3, vcc_lo, v3
    v_add_u32_e32 v3, m0, v3
    s_mov_b64 exec, s[14:15]
    v_cmp_lt_u32_e32 vcc, 7, v2
    v_cmpx_lt_u32_e64 s[12:13], 3, v2
    v_cndmask_b32_e32 v4, v2, v3, vcc
    v_add_u32_e32 v3, v3, v4
    v_addc_co_u32_e32 v3, vcc, 1, v3, vcc
    s_mov_b64 exec, s[10:11]
    v_add_co_u32_e32 v4, vcc, v2, v3
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_addc_co_u32_e32 v3, vcc, 1, v3, vcc
    s_cbranch_vccz 0f
    v_add_u32_e32 v3, flat_scratch_lo, v3
0:
    s_mov_b64 exec, s[10:11]
    v_add_u32_e32 v3, flat_scratch_hi, v3
    finish
end test
