__attribute__((noinline)) uint inner(uint x, global const uint *in) {
    uint s = 0;
    for (uint k = 0; k < (x & 15); ++k) { if (in[k + x] > 12) s += in[k]; else s ^= k; }
    return s;
}
__attribute__((noinline)) uint outer(uint x, global const uint *in) {
    if (x > 20) return inner(x, in) + 1;
    if (x == 2) return 0;
    return inner(x + 1, in);
}
kernel void other(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    if (i < n) out[i] = outer(i, in);
}
kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    if (i & 2) out[i] = inner(in[i], in);
    else out[i] = outer(in[i], in);
}
