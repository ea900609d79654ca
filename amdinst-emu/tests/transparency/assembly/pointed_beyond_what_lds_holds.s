// kernels: test spare
// lds: 65024
// cpus: gfx900 gfx90a gfx942
// refused: counters-do-not-fit: in `seldom`: with it, counters for 4 waves
// refused: counters-do-not-fit: in `seldom`: with it, registers would not do
// Counters in LDS have 512 bytes: enough for the kernel's own, not for all that a pointer leads to. The kernels keep theirs.
.macro by_table
    s_getpc_b64 s[16:17]
    s_add_u32 s16, s16, table@rel32@lo+4
    s_addc_u32 s17, s17, table@rel32@hi+12
    s_load_dwordx2 s[20:21], s[16:17], 0x0
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s2, 1
    s_cselect_b32 s20, s22, s20
    s_cselect_b32 s21, s23, s21
    s_swappc_b64 s[30:31], s[20:21]
.endm
.macro form_seldom
    address seldom
    s_mov_b64 s[22:23], s[20:21]
.endm
kernel test
    begin
    site
    form_seldom
    by_table
    call helper
    site
    finish
end test
kernel spare
    begin
    site
    form_seldom
    by_table
    finish
end spare
function helper
    site
    s_setpc_b64 s[30:31]
end helper
function seldom
    .rept 60
    site
    .endr
    s_setpc_b64 s[30:31]
end seldom
    .section .data.rel.ro, "aw"
    .p2align 3
    .hidden table
table:
    .quad seldom
