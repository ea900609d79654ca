kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    if (i < n) out[i] = in[i] + i;
}
