kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0);
    uint x = in[i] + i + 1, steps = 0;
    while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; ++steps; }
    out[i] = steps;
}
