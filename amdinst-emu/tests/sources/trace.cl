// Kernels of `tests/trace.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define GX __builtin_amdgcn_workgroup_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier()
kernel void work(global uint *out, global uint *counter, uint n) {
    local uint sums[128];
    uint x = X, i = GX * 128 + x, v = i, steps = 0;
    while (v > 1 && steps < 40) { v = v & 1 ? 3 * v + 1 : v / 2; steps++; }
    sums[x] = steps;
    BARRIER;
    for (uint step = 64; step > 0; step /= 2) {
        if (x < step) sums[x] += sums[x + step];
        BARRIER;
    }
    uint ticket = 0;
    if (x == 0)
        ticket = __opencl_atomic_fetch_add((global atomic_uint *)counter, sums[0], __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    if (i < n) out[i] = steps * 1000 + sums[0] + (ulong)ticket / 3; }
