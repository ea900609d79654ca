// A kernel of `tests/abi.rs`.
__attribute__((noinline)) unsigned recurse(unsigned n) {
    volatile unsigned here[4];
    here[n & 3] = n;
    if (n == 0) return 0;
    unsigned below = recurse(n - 1);
    here[n & 3] += below;
    return here[n & 3];
}
__attribute__((amdgpu_kernel, visibility("default"))) void stack(__attribute__((address_space(1))) unsigned *out) {
    unsigned id = __builtin_amdgcn_workitem_id_x();
    out[id] = recurse(id);
}
