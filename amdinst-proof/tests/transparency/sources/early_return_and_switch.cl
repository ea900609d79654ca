kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    if (in[i] == 4) return;
    switch (in[i] & 7) {
        case 0: out[i] = 1; break;
        case 1: out[i] = in[i] * in[i + 1];
        case 2: out[i + 512] = 5; break;
        case 5: if (i > n) return; out[i] = 6; break;
        default: out[i] = 99;
    }
}
