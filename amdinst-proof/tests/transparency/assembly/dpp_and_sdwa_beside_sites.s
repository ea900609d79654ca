// What reads other lanes, and parts of registers, right before sites and right behind them.
kernel test
    begin
    v_cmp_lt_u32_e64 s[12:13], 7, v2
    v_mov_b32_e32 v4, v2
    v_add_u32_dpp v4, v2, v4 row_shr:1 row_mask:0xf bank_mask:0xf
    s_and_saveexec_b64 s[14:15], s[12:13]
    v_add_u32_dpp v4, v4, v3 wave_shr:1 row_mask:0xa bank_mask:0xf
    v_add_u32_sdwa v3, v4, v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_1 src1_sel:WORD_0
    s_xor_b64 exec, exec, s[14:15]
    v_add_u32_sdwa v3, v3, v2 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:WORD_1 src1_sel:BYTE_0
    v_mov_b32_dpp v5, v3 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf bound_ctrl:0
    v_cmp_lt_u32_sdwa s[16:17], v3, v2 src0_sel:WORD_1 src1_sel:BYTE_0
    s_and_saveexec_b64 s[18:19], s[16:17]
    v_add_u32_e32 v3, v5, v3
    s_mov_b64 exec, s[14:15]
    v_mov_b32_dpp v3, v3 row_mirror row_mask:0xf bank_mask:0xf
    finish
end test
