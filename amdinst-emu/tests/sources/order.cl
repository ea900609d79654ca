#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
kernel void last(global uint *p) { for (int i = 0; i < 50; i++) p[i & 7] = G * 64 + X; }
kernel void mix(global volatile uint *p) {
    for (int i = 0; i < 200; i++) p[0] = p[0] * 3 + G;
    if ((p[0] + X) & 1) p[1 + (G & 1023)] = p[0]; }
kernel void sum(global volatile uint *p) { for (int i = 0; i < 100; i++) if (X == 0) p[0] = p[0] + 1; }
kernel void flag(global volatile uint *p) { if (G == 0) p[0] = 1; if (p[0]) p[8 + G] = 1; }
kernel void counted(global uint *p) {
    __opencl_atomic_fetch_add((global atomic_uint *)p, X, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    p[64 + G * 64 + X] = G * X; }
kernel void two_kinds(global uint *p) {
    __opencl_atomic_fetch_add((global atomic_uint *)p, 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    __opencl_atomic_fetch_max((global atomic_uint *)p, G * 100, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE); }
kernel void two_widths(global uint *p) {
    __opencl_atomic_fetch_add((global atomic_uint *)p, 0x1234567, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
    __opencl_atomic_fetch_add((global atomic_ulong *)p, 0x7654321, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE); }
kernel void places(global ulong *p) {
    p[G & 3] = (ulong)__builtin_amdgcn_dispatch_ptr();
    p[4 + (G & 3)] = (ulong)__builtin_amdgcn_kernarg_segment_ptr(); }
kernel void own_places(global ulong *p) {
    p[2 * G] = (ulong)__builtin_amdgcn_dispatch_ptr();
    p[2 * G + 1] = (ulong)__builtin_amdgcn_kernarg_segment_ptr(); }
kernel void astray(global uint *p) {
    p[X & 7] = G;
    if (G == 250) p[0] = *(global volatile uint *)((ulong)__builtin_amdgcn_dispatch_ptr() + 0x3000); }
kernel void in_place(global uint *p) { for (int i = 0; i < 4; i++) p[G * 64 + X] = p[G * 64 + X] * 3 + 1; }
