// kernels: test other
// refused: broken-control-flow: `test` goes on into kernel `other`
kernel test
    begin
    site
    s_branch other
end test
kernel other
    site
    finish
end other
