// Kernels of `tests/packet.rs`.
kernel void where(global uint *out, uint width, uint height) {
    local volatile uint arrived;
    uint lx = __builtin_amdgcn_workitem_id_x(), ly = __builtin_amdgcn_workitem_id_y();
    if (lx == 0 && ly == 0) arrived = 0;
    __builtin_amdgcn_s_waitcnt(0);
    __builtin_amdgcn_s_barrier();
    __atomic_fetch_add(&arrived, 1u, __ATOMIC_SEQ_CST);
    __builtin_amdgcn_s_waitcnt(0);
    __builtin_amdgcn_s_barrier();
    uint x = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + lx;
    uint y = __builtin_amdgcn_workgroup_id_y() * 5 + ly;
    out[y * width + x] = arrived << 16 | y << 8 | x;
}
kernel void stray(global uint *out) { out[1000] = 1; }
kernel void endless(global volatile uint *out) {
    out[__builtin_amdgcn_workgroup_id_x()] = 1;
    while (out[0] == 1) {}
}
