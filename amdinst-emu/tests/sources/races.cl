// Kernels of `tests/races.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
#define BARRIER() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define ADD(p) __opencl_atomic_fetch_add((local atomic_uint *)(p), 1, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP)

kernel void exchange(global uint *out) {
    local uint tile[128]; tile[X] = X; BARRIER(); out[X] = tile[X ^ 64]; }
kernel void no_barrier(global uint *out) {
    local uint tile[128]; ((volatile local uint *)tile)[X] = X; out[X] = ((volatile local uint *)tile)[X ^ 64]; }
kernel void within_a_wave(global uint *out) {
    local uint tile[128]; ((volatile local uint *)tile)[X] = X; out[X] = ((volatile local uint *)tile)[X ^ 1]; }
kernel void no_second_barrier(global uint *out) {
    volatile local uint tile[128]; tile[X] = X; uint sum = 0;
    for (int i = 0; i < 2; ++i) { BARRIER(); sum += tile[X ^ 64]; tile[X] = sum + 200; }
    out[X] = sum; }
kernel void one_value(global uint *out) {
    local uint flag[1]; *(volatile local uint *)flag = 7; BARRIER(); out[X] = *flag; }
kernel void two_values(global uint *out) {
    local uint flag[1]; *(volatile local uint *)flag = X / 64; BARRIER(); out[X] = *flag; }
kernel void bytes(global uint *out) {
    volatile local uchar tile[128]; tile[X] = X; BARRIER(); out[X] = tile[127 - X]; }
kernel void neighbours(global uint *out) {
    local uchar tile[130]; volatile local uchar *t = tile; t[X] = 5; *(volatile local ushort *)(t + (X & 126)) = 6;
    BARRIER(); out[X] = t[X]; }
kernel void overlapping(global uint *out) {
    local uchar tile[512]; volatile local uchar *t = tile; *(volatile local uint *)(t + X * 4 - X / 64) = X; BARRIER(); out[X] = t[X]; }
kernel void atomics(global uint *out) {
    local uint counts[2]; if (X < 2) counts[X] = 0; BARRIER(); ADD(&counts[X & 1]); BARRIER(); out[X] = counts[X & 1]; }
kernel void sum_of_floats(global uint *out) {
    local float sum[1]; if (X == 0) sum[0] = 0; BARRIER();
    __opencl_atomic_fetch_add((local atomic_float *)sum, 1.0f, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    __opencl_atomic_fetch_min((local atomic_uint *)sum, 0x43000000, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    BARRIER(); out[X] = sum[0]; }
kernel void sum_of_doubles(global uint *out) {
    local double sum[1]; if (X == 0) sum[0] = 0; BARRIER();
    __opencl_atomic_fetch_add((local atomic_double *)sum, 1.0, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    BARRIER(); out[X] = sum[0]; }
kernel void atomics_then_load(global uint *out) {
    local uint counts[2]; if (X < 2) counts[X] = 0; BARRIER(); ADD(&counts[X & 1]); out[X] = ((volatile local uint *)counts)[X & 1]; }
kernel void cleared_meanwhile(global uint *out) {
    local uint counts[2]; if (X < 2) ((volatile local uint *)counts)[X] = 0; ADD(&counts[X & 1]); BARRIER(); out[X] = counts[X & 1]; }
kernel void flat(global uint *out) {
    local uint tile[128]; volatile uint *t = (volatile uint *)tile; t[X] = X; out[X] = t[X ^ 64]; }
kernel void pairs(global uint *out) {
    volatile local ulong tile[64]; if (X < 64) tile[X] = X; else out[X] = tile[X - 64]; }
kernel void to_lds(global uint *out) {
    local uint tile[64]; ((volatile global uint *)out)[X] = X / 64 + 1;
    __builtin_amdgcn_raw_ptr_buffer_load_lds(__builtin_amdgcn_make_buffer_rsrc(out, 0, 400, 0x27000), tile, 4, X * 4, 0, 0, 0);
    BARRIER(); out[X] = tile[X & 63]; }
kernel void between_workgroups(global uint *all) { global uint *out = all + G * 64;
    local uint tile[64]; ((volatile local uint *)tile)[X] = out[X]; out[X] = ((volatile local uint *)tile)[63 - X]; }
kernel void one_element(global uint *out) { out[0] = X; }
kernel void one_element_one_value(global uint *out) { out[0] = 7; out[1 + X / 2] = X / 2; }
kernel void one_byte(global uint *out) { ((global uchar *)out)[X / 2] = X; }
kernel void half_a_dword(global uint *out) { ((global ushort *)out)[X / 2 * 2] = X << 16 | 3; }
kernel void longs(global uint *out) { *(volatile global ulong *)(out + (X & 63)) = X; }
kernel void longs_that_agree(global uint *out) { *(volatile global ulong *)(out + (X & 63)) = 0x500000005; }
kernel void buffer(global uint *out) {
    __builtin_amdgcn_raw_buffer_store_b32(X, __builtin_amdgcn_make_buffer_rsrc(out, 0, 512, 0x27000), X / 2 * 4, 0, 0); }
kernel void one_after_the_other(global uint *out) {
    volatile global uint *o = out + G * 128; o[X] = 1; o[X ^ 1] = X; o[X] = 3; }
kernel void lds_element(global uint *out) { local uint tile[128]; ((volatile local uint *)tile)[X & 126] = X; BARRIER(); out[X] = tile[X]; }
kernel void lds_pairs(global uint *out) {
    local uint tile[256]; volatile local uint *t = tile + X / 2 * 2; t[0] = X / 2; t[1] = X; BARRIER(); out[X] = tile[X]; }
kernel void flat_element(global uint *out) {
    local uint tile[128]; volatile uint *t = (volatile uint *)tile; t[X & 126] = X; BARRIER(); out[X] = tile[X]; }
kernel void half_a_wave(global uint *out) {
    if ((X & 63) < 24) __builtin_amdgcn_s_barrier(); out[X] = X; }
kernel void returned(global uint *out) {
    if (X % 64 == 0) return; __builtin_amdgcn_s_barrier(); out[X] = X; }
