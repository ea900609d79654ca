kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0), sum = 0;
    for (uint k = 0; k < 40; ++k) {
        uint x = in[(i + k) & 1023];
        if (x == 9) continue;
        if (x > 28) break;
        sum += x;
        if (sum > n) { out[i + 512] = k; break; }
    }
    out[i] = sum;
}
