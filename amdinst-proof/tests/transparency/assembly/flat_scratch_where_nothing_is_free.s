// cpus: gfx900 gfx90a
// sgprs: 102
// vgprs: 256
// refused: no-free-vgpr: every VGPR is in use
// FLAT_SCRATCH holds numbers where all registers are in use, so that scratch memory would have to stand in for some.
kernel test
    begin
    .altmacro
    .macro put n
        s_mov_b32 s\n, \n
    .endm
    .macro add n
        v_add_u32_e32 v3, s\n, v3
    .endm
    .macro put_vector n
        v_mov_b32_e32 v\n, \n
    .endm
    .macro add_vector n
        v_add_u32_e32 v3, v\n, v3
    .endm
    s_mov_b32 flat_scratch_lo, 17
    s_mov_b32 flat_scratch_hi, s2
    .set n, 16
    .rept 86
        put %n
        .set n, n+1
    .endr
    .set n, 4
    .rept 252
        put_vector %n
        .set n, n+1
    .endr
    site
    site
    .set n, 16
    .rept 86
        add %n
        .set n, n+1
    .endr
    .set n, 4
    .rept 252
        add_vector %n
        .set n, n+1
    .endr
    .noaltmacro
    v_add_u32_e32 v3, flat_scratch_lo, v3
    v_add_u32_e32 v3, flat_scratch_hi, v3
    finish
end test
