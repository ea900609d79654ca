kernel void test(global uint *out, global const uint *in, uint n) {
    local uint tile[256];
    uint t = get_local_id(0);
    tile[t] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s >>= 1) {
        if (t < s) tile[t] += tile[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) out[get_group_id(0)] = tile[0];
}
