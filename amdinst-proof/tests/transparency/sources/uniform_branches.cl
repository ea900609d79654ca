kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0), sum = 0;
    if (get_group_id(0) == 1) sum = 4;
    for (uint k = 0; k < n; ++k) sum += in[k];
    if (n > 100) { if (in[i] > 5) out[i] = sum; } else out[i] = 3;
}
