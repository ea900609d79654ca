// Kernels of `tests/races_in_memory.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
#define BARRIER() __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")
#define ADD(p, order) __opencl_atomic_fetch_add((global atomic_uint *)(p), 1, order, __OPENCL_MEMORY_SCOPE_DEVICE)

kernel void barriers(global uint *out) {
    uint at = G * 128 + X; out[at] = at; BARRIER(); uint v = out[at ^ 64]; BARRIER(); out[at] = v; }
kernel void no_barrier(global uint *out) {
    uint at = G * 128 + X; out[at] = at; uint v = out[at ^ 64]; BARRIER(); out[at] = v; }
kernel void no_second_barrier(global uint *out) {
    uint at = G * 128 + X; out[at] = at; BARRIER(); uint v = out[at ^ 64]; out[at] = v; }
kernel void within_a_wave(global uint *out) {
    uint at = G * 128 + X; out[at] = at; out[at] = out[at ^ 1]; }
kernel void neighbour(global uint *out) {
    uint at = G * 128 + X; uint v = out[at ^ 128]; out[at] = v + 1; }
kernel void uniform_neighbour(global const uint *in, global uint *out) {
    uint v = in[(1 - G) * 128]; out[G * 128 + X] = v + 1; }
kernel void one_value(global uint *out) { out[0] = 7; }
kernel void two_values(global uint *out) { out[0] = G; }
kernel void sum(global uint *out) { ADD(out, __ATOMIC_RELAXED); }
kernel void cleared_by_one(global uint *out) { if (G == 0) out[0] = 5; else ADD(out, __ATOMIC_RELAXED); }
kernel void sum_and_read(global uint *out) {
    ADD(out, __ATOMIC_RELAXED); BARRIER(); out[1 + G * 128 + X] = out[0]; }
kernel void sum_of_floats(global uint *out) {
    __opencl_atomic_fetch_add((global atomic_float *)out, 1.0f, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE); }
kernel void exchange_unless_it_is_greater(global uint *out) {
    uint old = out[0];
    while (X > old && !__opencl_atomic_compare_exchange_strong((global atomic_uint *)out, &old, X, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)) {} }
kernel void queue(global uint *out) {
    uint at = ADD(out, __ATOMIC_RELAXED); out[1 + at] = X; }
kernel void bytes(global uint *out) { ((global uchar *)out)[X * 2 + G] = X; }
kernel void bytes_that_overlap(global uint *out) { ((global uchar *)out)[X * 2 + G] = X; ((global uchar *)out)[X * 2] = G; }
kernel void lock(global uint *out) {
    if (X == 0) {
        while (__opencl_atomic_exchange((global atomic_uint *)out, 1, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE)) {}
        out[1] += 1;
        __opencl_atomic_store((global atomic_uint *)out, 0, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE);
    } }
kernel void flag(global uint *out) {
    if (X == 0) {
        if (G == 0) { out[1] = 5; __opencl_atomic_store((global atomic_uint *)out, 1, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE); }
        else if (__opencl_atomic_load((global atomic_uint *)out, __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE)) out[2] = out[1];
    } }
kernel void flag_without_order(global uint *out) {
    if (X == 0) {
        if (G == 0) { out[1] = 5; *(volatile global uint *)out = 1; }
        else if (*(volatile global uint *)out) out[2] = out[1];
    } }
kernel void last_workgroup(global uint *out) {
    local uint ticket; out[8 + G * 128 + X] = X; BARRIER();
    if (X == 0) ticket = ADD(out, __ATOMIC_ACQ_REL);
    BARRIER();
    if (ticket == 1) out[1] = out[8] + out[8 + 128]; }
kernel void last_workgroup_without_order(global uint *out) {
    local uint ticket; out[8 + G * 128 + X] = X; BARRIER();
    if (X == 0) ticket = ADD(out, __ATOMIC_RELAXED);
    BARRIER();
    if (ticket == 1) out[1] = out[8] + out[8 + 128]; }
kernel void buffers(global uint *out) {
    __amdgpu_buffer_rsrc_t r = __builtin_amdgcn_make_buffer_rsrc(out, 0, 4096, 0x27000);
    uint at = (G * 128 + X) * 4;
    uint v = __builtin_amdgcn_raw_buffer_load_b32(r, at ^ 512, 0, 0); __builtin_amdgcn_raw_buffer_store_b32(v + 1, r, at, 0, 0); }
kernel void private_memory(global uint *out) {
    volatile uint own[4]; for (int i = 0; i < 4; ++i) own[(i + X) & 3] = X + i; out[G * 128 + X] = own[X & 3]; }
