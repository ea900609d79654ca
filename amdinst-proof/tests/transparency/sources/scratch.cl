kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    volatile uint stack[16];
    for (uint k = 0; k < 16; ++k) stack[k] = in[i + k];
    uint at = in[i] & 15, sum = 0;
    while (at > 0 && sum < 60) { sum += stack[at]; at = stack[at] & (at - 1); }
    out[i] = sum;
}
