// Kernels of `tests/races_sampled.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
#define STORE(p, v) __opencl_atomic_store((global atomic_uint *)(p), v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)

uint work(global const uint *in, uint n) {
    uint v = X; for (uint i = 0; i < n; ++i) v = v * 1664525 + in[v & 63]; return v; }

/// Everybody says that he was here: no race, as all store one value.
kernel void here(global uint *out, global const uint *in, uint n) { out[64 + G * 128 + X] = work(in, n); out[0] = 1; }
/// Two workgroups share each dword, and no byte.
kernel void bytes(global uint *out, global const uint *in, uint n) {
    ((global uchar *)out)[256 + 2 * X + (G & 1)] = work(in, n); }
/// Each writes what its neighbour reads.
kernel void neighbours(global uint *out, global const uint *in, uint n) {
    uint at = 64 + G * 128 + X; out[at] = work(in, n) + out[at - 1]; }
/// The last workgroup alone reads what another one writes.
kernel void last(global uint *out, global const uint *in, uint n) {
    out[64 + G * 128 + X] = work(in, n) + (G == n / 2 - 1 ? out[64] : 0); }
/// The waves of a workgroup, in LDS.
kernel void in_lds(global uint *out, global const uint *in, uint n) {
    volatile local uint tile[128]; tile[X] = work(in, n); out[64 + G * 128 + X] = tile[X ^ 64]; }
/// Waits for the workgroup before.
kernel void chain(global uint *out, global const uint *in, uint n) {
    uint v = work(in, n);
    if (X == 0) {
        global atomic_uint *turn = (global atomic_uint *)out;
        while (__opencl_atomic_load(turn, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE) != G) {}
        out[1] = v;
        __opencl_atomic_store(turn, G + 1, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE);
    } }
/// A relaxed store and a plain one are one instruction.
kernel void relaxed(global uint *out, global const uint *in, uint n) { if (X < 64) STORE(out, G); out[64 + G * 128 + X] = n; }
/// One flag, set again and again.
kernel void flag(global uint *out, global const uint *in, uint n) { for (uint i = 0; i < n; ++i) STORE(out, 7); }
/// No atomic is as wide as this.
kernel void wide(global uint *out, global const uint *in, uint n) { if (X == 0) *(global uint4 *)out = (uint4)(G); }
/// Lanes of one store, of values that are not the same.
kernel void lanes(global uint *out, global const uint *in, uint n) { STORE(out + 64 + G * 128 + X / 2, X); }
