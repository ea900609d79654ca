// cpus: gfx900 gfx90a gfx942 gfx1100
// refused: unresolved-getpc: the program counter itself is used
// refused: unresolved-getpc: to a sum, perhaps by a table
// A number is of use before it is the distance of a jump.
kernel test
    begin
    site
    s_mov_b32 s22, .Lon - .Lfrom
    v_mov_b32_e32 v3, s22
    s_getpc_b64 s[20:21]
.Lfrom:
    s_add_u32 s20, s20, s22
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
    s_nop 0
.Lon:
    site
    finish
end test
