// Kernels of `tests/launch.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define GX __builtin_amdgcn_workgroup_id_x()
kernel void ids(global uint *out) {
    uint sx = __builtin_amdgcn_workgroup_size_x(), sy = __builtin_amdgcn_workgroup_size_y(), sz = __builtin_amdgcn_workgroup_size_z();
    uint nx = __builtin_amdgcn_grid_size_x(), ny = __builtin_amdgcn_grid_size_y();
    uint x = GX * sx + X;
    uint y = __builtin_amdgcn_workgroup_id_y() * sy + __builtin_amdgcn_workitem_id_y();
    uint z = __builtin_amdgcn_workgroup_id_z() * sz + __builtin_amdgcn_workitem_id_z();
    out[(z * ny + y) * nx + x] = x + 100 * y + 10000 * z; }
kernel void histogram(global uint *bins, global uint *data) {
    uint i = GX * 256 + X, v = data[i];
    for (uint n = v & 7; n > 0; --n) v = v * 1664525 + 1013904223;
    __opencl_atomic_fetch_add((global atomic_uint *)&bins[v >> 28], v & 3 ? 1 : 2, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    if (v & 1) data[i] = v; }
kernel void half_taken(global uint *out) { if (X & 1) out[X] = 1; }
kernel void none_taken(global uint *out) { if (out[X] == 77) out[X] = 1; }
