// A kernel of `tests/abi.rs`.
kernel void five(global uint *out) {
    constant uint *hidden = (constant uint *)__builtin_amdgcn_implicitarg_ptr();
    constant ushort *shorts = (constant ushort *)hidden;
    for (uint i = 0; i < 3; ++i) {
        out[i] = hidden[i];
        out[3 + i] = shorts[6 + i];
        out[6 + i] = shorts[9 + i];
        out[9 + i] = hidden[10 + 2 * i];
    }
    out[12] = shorts[32];
}
kernel void four(global ulong *out) {
    constant ulong *hidden = (constant ulong *)__builtin_amdgcn_implicitarg_ptr();
    out[0] = hidden[0]; out[1] = hidden[1]; out[2] = hidden[2];
}
kernel void sizes(global uint *out) {
    out[0] = __builtin_amdgcn_workgroup_size_x(); out[1] = __builtin_amdgcn_workgroup_size_y();
    out[2] = __builtin_amdgcn_workgroup_size_z(); out[3] = __builtin_amdgcn_grid_size_x();
    out[4] = __builtin_amdgcn_grid_size_y(); out[5] = __builtin_amdgcn_grid_size_z();
}
