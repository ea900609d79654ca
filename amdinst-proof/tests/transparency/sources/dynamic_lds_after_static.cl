kernel void test(global uint *out, global const uint *in, uint n) {
    local uint tile[150];
    local uint *pool = (local uint *)600;
    uint t = get_local_id(0), i = get_global_id(0), sum = 0;
    tile[t] = in[i];
    pool[t] = in[i + 300];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < (tile[149 - t] & 7); ++k) { if (pool[(t + k) % 150] > 12) sum += pool[t] + tile[k]; }
    uint odd = pool[149 - t] & 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (odd) pool[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = pool[149 - t] + sum;
}
