// A kernel of `tests/abi.rs`.
kernel void lds(global uint *out, uint n, local uint *dynamic) {
    local uint fixed[32];
    uint id = __builtin_amdgcn_workitem_id_x();
    fixed[id & 31] = 1;
    for (uint i = id; i < n; i += 64) dynamic[i] = i * i;
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier();
    uint s = 0; for (uint i = 0; i < n; ++i) s += dynamic[i];
    out[id] = s + fixed[id & 31];
}
