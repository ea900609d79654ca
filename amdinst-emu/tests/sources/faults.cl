// Kernels of `tests/faults.rs`.
#define LOCAL __builtin_amdgcn_workitem_id_x()
kernel void store(global uint *p, uint index) { p[index + LOCAL] = 1; }
kernel void load(global uint *p, uint index) { p[0] = p[index]; }
kernel void flat(ulong p, uint index) { *(uint *)(p + 4 * index) = 1; }
kernel void uniform(constant uint *p, global uint *out, uint index) { out[0] = p[index]; }
kernel void lds(global uint *out, uint at) {
    local uchar t[256]; for (int i = 0; i < 256; ++i) t[i] = i; *(volatile local uint *)(t + at) = 7; out[0] = t[at]; }
kernel void lds_atomic(global uint *out, uint at) {
    local uchar t[256]; local uchar *p = t; p += at; p[0] = 1;
    __opencl_atomic_fetch_add((local atomic_uint *)p, 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP); out[0] = t[at]; }
kernel void spin(global uint *out) { volatile uint n = 1; while (n) n |= LOCAL + 1; out[0] = n; }
kernel void panic(global uint *out) { if (LOCAL == 3) __builtin_trap(); out[0] = 1; }
kernel void late(global uint *out) { if (out[LOCAL] == 7 && __builtin_amdgcn_workgroup_id_x() == 3) __builtin_trap(); out[LOCAL + 200] = 1; }
kernel void early(global uint *out) { if (LOCAL >= 64) return; __builtin_amdgcn_s_barrier(); out[LOCAL] = 5; }
kernel void constants(global uint *out, uint i) { static constant uint table[4] = {1, 2, 3, 4}; out[0] = table[i & 3]; *(global uint *)(ulong)(table + (i & 3)) = 9; }
kernel void wait(global uint *out) { if (LOCAL >= 64) { __asm__ volatile("s_sethalt 1"); } __builtin_amdgcn_s_barrier(); out[LOCAL] = 5; }
kernel void atomic(global uint *p, uint at) {
    __opencl_atomic_fetch_add((global atomic_uint *)((global uchar *)p + at), 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE); }
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void sized(global uint *p) { p[LOCAL] = 2; }
