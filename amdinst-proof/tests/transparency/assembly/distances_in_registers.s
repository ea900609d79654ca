// kernels: test skips either_way_on either_way_back
// cpus: gfx900 gfx90a gfx942 gfx1030 gfx1100 gfx1100:wave64 gfx1200
// Jumps by distances that stand in registers, as assemblers and Tensile write them.
kernel test
    begin
    site
    s_getpc_b64 s[20:21]
.Lfrom:
    s_mov_b32 s22, .Lon - .Lfrom
    s_add_u32 s20, s22, s20
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
    .long 0xffffffff
.Lback:
    site
    finish
.Lon:
    site
    s_mov_b32 s22, .Lfrom_here - .Lback
    s_getpc_b64 s[20:21]
.Lfrom_here:
    s_mov_b32 s23, 0
    s_sub_u32 s20, s20, s22
    s_subb_u32 s21, s21, s23
    s_setpc_b64 s[20:21]
end test
kernel skips
    begin
    s_getpc_b64 s[20:21]
.Lskip:
    s_add_i32 s22, .Lfar - .Lskip - 4, 4
    s_add_u32 s20, s20, s22
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
.Lnear:
    site
    finish
.Lfar:
    site
    s_getpc_b64 s[20:21]
.Lskip_back:
    s_add_i32 s22, .Lnear - .Lskip_back - 4, 4
    s_abs_i32 s22, s22
    s_sub_u32 s20, s20, s22
    s_subb_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
end skips
.macro either_way to
    s_getpc_b64 s[20:21]
    s_add_i32 s22, \to - . - 4, 4
    s_cmp_ge_i32 s22, 0
    s_cbranch_scc1 8f
    s_abs_i32 s22, s22
    s_sub_u32 s20, s20, s22
    s_subb_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
8:
    s_add_u32 s20, s20, s22
    s_addc_u32 s21, s21, 0
    s_setpc_b64 s[20:21]
.endm
kernel either_way_on
    begin
    site
    either_way .Lahead
    site
.Lahead:
    site
    finish
end either_way_on
kernel either_way_back
    begin
    s_branch .Lahead_first
.Lbehind:
    site
    finish
.Lahead_first:
    site
    either_way .Lbehind
end either_way_back
