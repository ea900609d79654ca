// kernels: test spare
// lds: 65024
// cpus: gfx900 gfx90a gfx942
// refused: counters-do-not-fit: in `seldom`: with it, counters for 4 waves
// Counters in LDS have 512 bytes: enough for the kernel's own, not for all that a pointer leads to. The kernels keep theirs. With `auto`, what the
// pointer leads to counts in memory, and the kernels in registers.
kernel test
    begin
    site
    keep seldom
    by_table
    call helper
    site
    finish
end test
kernel spare
    begin
    site
    keep seldom
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
