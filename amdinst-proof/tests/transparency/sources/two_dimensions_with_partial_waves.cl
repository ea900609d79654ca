kernel void test(global uint *out, global const uint *in, uint n) {
    uint x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
    uint i = y * w + x;
    if (x > 0 && y > 0 && x + 1 < w && y + 1 < get_global_size(1))
        out[i] = in[i - 1] + in[i + 1] + in[i - w] + in[i + w];
    else if (in[i] > 10) out[i] = in[i];
}
