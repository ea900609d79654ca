// kernels: test large larger
// Two kernels call a function with many branches. The first calls none of it, and has no room for its counters.
kernel test
    begin
    site
    call short
    site
    finish
end test
kernel large
    begin
    call long
    call short
    site
    finish
end large
kernel larger
    begin
    call short
    call long
    site
    site
    finish
end larger
function long
    .rept 40
    site
    .endr
    s_setpc_b64 s[30:31]
end long
function short
    site
    s_setpc_b64 s[30:31]
end short
