// refused: indexed-registers: VGPRs may be addressed by an index
// A site stands where VGPRs are addressed by an index.
kernel test
    begin
    s_mov_b64 s[10:11], exec
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    v_mov_b32_e32 v8, 1
    v_mov_b32_e32 v9, 2
    v_mov_b32_e32 v10, 3
    s_set_gpr_idx_on 2, gpr_idx(SRC0,DST)
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_mov_b32_e32 v7, v8
    s_set_gpr_idx_off
    v_add_u32_e32 v3, v9, v3
    s_mov_b64 exec, s[14:15]
    v_add_u32_e32 v3, v10, v3
    finish
end test
