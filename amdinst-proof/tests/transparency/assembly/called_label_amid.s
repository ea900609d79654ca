// cpus: gfx900 gfx90a gfx942 gfx1030 gfx1100 gfx1100:wave64 gfx1200
// Labels are called that stand amid what calls them: a kernel, a function, and each other.
kernel test
    begin
    site
    s_branch .Lbehind
.Lcalled:
    site
    s_call_b64 s[28:29], .Lbetween
    s_setpc_b64 s[26:27]
    .long 0xffffffff
.Lbehind:
    s_call_b64 s[26:27], .Lcalled
    s_bitcmp1_b32 s2, 0
    s_cbranch_scc1 .Llast
    site
    finish
.Lbetween:
    site
    s_setpc_b64 s[28:29]
.Llast:
    site
    call has_one_amid
    s_call_b64 s[28:29], .Lbetween
    finish
end test
function has_one_amid
    s_branch 1f
.Linner:
    site
    s_setpc_b64 s[26:27]
1:
    s_call_b64 s[26:27], .Linner
    site
    s_setpc_b64 s[30:31]
end has_one_amid
