// Kernels of `tests/timing/invariants.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
kernel void scan(global uint *out, global const uint *in, global uint *bins) {
    local uint tile[256];
    uint v = in[G * 256 + X];
    for (uint n = v & 7; n > 0; --n) v = v * 1664525 + 1013904223;
    tile[X] = v;
    for (uint d = 1; d < 256; d *= 2) {
        __builtin_amdgcn_s_barrier();
        uint other = X >= d ? tile[X - d] : 0;
        __builtin_amdgcn_s_barrier();
        tile[X] += other;
    }
    out[G * 256 + X] = tile[X];
    __opencl_atomic_fetch_add((global atomic_uint *)&bins[v >> 28], 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
kernel void clock(global ulong *out, global const uint *in) {
    ulong start = __builtin_readcyclecounter();
    uint v = in[X];
    __builtin_amdgcn_s_sleep(10);
    v = v * 3 + 1;
    if (v == 77) out[100] = v;
    ulong end = __builtin_readcyclecounter();
    if (X == 0) out[G] = end - start;
}
kernel void heavy(global uint *out) {
    local uint all[16384];
    for (uint at = X; at < 16384; at += 128) all[at] = at;
    __builtin_amdgcn_s_barrier();
    out[G * 128 + X] = all[16383 - X];
}
