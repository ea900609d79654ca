// kernels: test other
// As a linker leaves functions that are equal.
kernel test
    begin
    site
    finish
end test
    .globl other
    .type other, @function
    .set other, test
    .size other, . - test
