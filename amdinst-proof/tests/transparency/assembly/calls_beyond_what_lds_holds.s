// kernels: test large excessive branchless
// lds: 65024
// refused: counters-do-not-fit: in `long`: with it, counters for 4 waves
// refused: lds-limit: counters for 4 waves of
// refused: shared-function: in `shared`: it is also called by `excessive`, which is not instrumented
// Counters in LDS have 512 bytes. One kernel has too many branches, so what it calls runs as it is; another calls too many.
kernel test
    begin
    site
    call both
    call shared
    site
    finish
end test
kernel large
    begin
    site
    call both
    call long
    finish
end large
kernel excessive
    begin
    .rept 20
    site
    .endr
    call shared
    finish
end excessive
// Has no branch of its own.
kernel branchless
    begin
    call both
    finish
end branchless
function both
    site
    s_setpc_b64 s[30:31]
end both
function long
    .rept 20
    site
    .endr
    s_setpc_b64 s[30:31]
end long
function shared
    site
    s_setpc_b64 s[30:31]
end shared
