kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    uint x = in[i];
    if (x > 7) { if (x & 1) out[i] = x * 3; else { out[i] = x ^ 5; out[i + 512] = 1; } }
    else if (i < n) { out[i] = 77; if (x == 3) out[i + 512] = in[i + 1]; }
}
