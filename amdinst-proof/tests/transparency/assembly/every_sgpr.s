// sgprs: 102
// All SGPRs are in use across two sites.
kernel test
    begin
    .altmacro
    .macro put n
        s_mov_b32 s\n, \n
    .endm
    .macro add n
        v_add_u32_e32 v3, s\n, v3
    .endm
    .set n, 16
    .rept 86
        put %n
        .set n, n+1
    .endr
    site
    site
    .set n, 16
    .rept 86
        add %n
        .set n, n+1
    .endr
    .noaltmacro
    finish
end test
