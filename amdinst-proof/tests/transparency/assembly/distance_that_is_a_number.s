// cpus: gfx900 gfx90a gfx942 gfx1100
// refused: unresolved-getpc: the program counter itself is used
// The distance of a jump is of use as a number, too: it may have no other value.
kernel test
    begin
    site
    s_getpc_b64 s[20:21]
.Lfrom:
    s_mov_b32 s22, .Lon - .Lfrom
    s_add_u32 s20, s20, s22
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
    s_nop 0
.Lon:
    v_mov_b32_e32 v3, s22
    site
    finish
end test
