kernel void test(global uint *out, global const uint *in, uint n) {
    if (get_local_id(0) == 5) { for (uint k = 0; k < in[3] + 2; ++k) out[k] = k; }
}
