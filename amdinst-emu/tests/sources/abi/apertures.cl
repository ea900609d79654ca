// A kernel of `tests/abi.rs`.
__attribute__((noinline)) void add(uint *p, uint n) { *p += n; }
__attribute__((noinline)) uint sum(const uint *p, uint n) { uint s = 0; for (uint i = 0; i < n; ++i) s += p[i]; return s; }
kernel void k(global uint *out) {
    local uint shared[128];
    uint mine[8];
    uint id = __builtin_amdgcn_workitem_id_y() * 64 + __builtin_amdgcn_workitem_id_x();
    shared[id] = id;
    for (uint i = 0; i < 8; ++i) mine[i] = id * i;
    add(&shared[id], 1000);
    add(&mine[id & 7], 5);
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    uint group = (__builtin_amdgcn_workgroup_id_z() * 2 + __builtin_amdgcn_workgroup_id_y()) * 3 + __builtin_amdgcn_workgroup_id_x();
    add((uint *)&out[group * 128 + id], sum(shared, 128) + sum(mine, 8));
}
