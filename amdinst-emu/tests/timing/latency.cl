// Kernels of `tests/timing/latency.rs`.
kernel void chase(global ulong *buffer, global ulong *out, ulong n, uint limit) {
    ulong *p = (ulong *)buffer;
    for (ulong i = 0; i < n; i += 32) {
        #pragma unroll
        for (int u = 0; u < 32; u++) p = (ulong *)*p;
    }
    if (__builtin_amdgcn_workitem_id_x() > limit) out[0] = (ulong)p;
}
