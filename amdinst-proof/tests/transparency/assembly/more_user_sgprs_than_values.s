// descriptor: .amdhsa_user_sgpr_count 14
// More user SGPRs are counted than have values: what comes behind them stays where it is.
kernel test
    s_mov_b32 s2, s14
    begin
    site
    finish
end test
