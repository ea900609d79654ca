// Waves end where VGPRs are addressed by an index.
kernel test
    begin
    site
    global_store_dword v1, v3, s[4:5]
    s_set_gpr_idx_on 2, gpr_idx(SRC0,SRC1,DST)
    s_endpgm
end test
