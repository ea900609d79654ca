// One kernel a fault. A line `// run NAME: OPTIONS` before it says how `cargo amdinst run` launches it; what that prints
// is in `tests/snapshots/faults/NAME.txt`.

#define ID __builtin_amdgcn_workitem_id_x()

// run global_past_the_end: --grid 2 --block 64 --arg buf:440
kernel void global_past_the_end(global uint *out) {
    out[__builtin_amdgcn_workgroup_id_x() * 64 + ID] = 1;
}

// run global_far_away: --grid 1 --block 1 --arg u64:0x123456789000
kernel void global_far_away(global uint *out) {
    *out = 1;
}

// run flat_before_the_start: --grid 1 --block 64 --arg buf:64 --arg i32:-2
kernel void flat_before_the_start(ulong out, int first) {
    ((uint *)out)[first + (int)(ID & 1)] = 1;
}

// run scalar_past_the_end: --grid 1 --block 64 --arg buf:16 --arg buf:4 --arg u32:5
kernel void scalar_past_the_end(constant uint *table, global uint *out, uint index) {
    *out = table[index];
}

// run lds_past_the_end: --grid 1 --block 64 --arg buf:4
kernel void lds_past_the_end(global uint *out) {
    local uint tile[60];
    tile[ID] = ID;
    __builtin_amdgcn_s_barrier();
    *out = tile[ID ^ 1];
}

// run scratch_past_the_end: --grid 1 --block 64 --arg buf:4 --arg u32:50000
kernel void scratch_past_the_end(global uint *out, uint index) {
    volatile uint values[8];
    values[index] = ID;
    *out = values[0];
}

// run null_pointer: --grid 1 --block 64 --arg u64:0
kernel void null_pointer(global uint *out) {
    out[ID + 1] = 1;
}

// run misaligned_atomic: --grid 1 --block 64 --arg buf:64
kernel void misaligned_atomic(global uchar *out) {
    __opencl_atomic_fetch_add((global atomic_uint *)(out + 2), 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}

// run misaligned_lds_atomic: --grid 1 --block 64 --arg buf:64
kernel void misaligned_lds_atomic(global uint *out) {
    local uint tile[4];
    local uchar *first = (local uchar *)tile;
    first += *out + 6;
    __opencl_atomic_fetch_add((local atomic_uint *)first, 1u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    *out = tile[0];
}

// run misaligned_scalar_load: --grid 1 --block 64 --arg buf:64 --arg u32:6
kernel void misaligned_scalar_load(global uint *out, uint offset) {
    uint value;
    ulong address = (ulong)out + offset;
    uint low = __builtin_amdgcn_readfirstlane((uint)address), high = __builtin_amdgcn_readfirstlane((uint)(address >> 32));
    ulong uniform = low | (ulong)high << 32;
    __asm__ volatile("s_load_dword %0, %1, 0\n s_waitcnt lgkmcnt(0)" : "=s"(value) : "s"(uniform));
    *out = value;
}

// run write_to_constants: --grid 1 --block 64 --arg buf:4
constant uint constants[4] = {1, 2, 3, 4};
kernel void write_to_constants(global uint *out) {
    *(global uint *)(ulong)(constants + *out) = 9;
}

// run image: --grid 1 --block 64 --arg buf:4
kernel void image(global uint *out) {
    uint texel;
    __asm__ volatile("image_load %0, v[0:1], s[0:7] dmask:0x1 unorm\n s_waitcnt vmcnt(0)" : "=v"(texel));
    *out = texel;
}

// run no_instruction: --grid 1 --block 64 --arg buf:4
kernel void no_instruction(global uint *out) {
    __asm__ volatile(".long 0xffffffff");
    *out = 1;
}

// run jump_outside: --grid 1 --block 64 --arg u64:0x4000
kernel void jump_outside(ulong target) {
    uint low = __builtin_amdgcn_readfirstlane((uint)target), high = __builtin_amdgcn_readfirstlane((uint)(target >> 32));
    ulong uniform = low | (ulong)high << 32;
    __asm__ volatile("s_setpc_b64 %0" : : "s"(uniform));
}

// run register_index: --grid 1 --block 64 --arg buf:4 --arg u32:255
kernel void register_index(global uint *out, uint index) {
    uint value;
    __asm__ volatile("s_set_gpr_idx_on %1, gpr_idx(SRC0)\n v_mov_b32 %0, v1\n s_set_gpr_idx_off" : "=v"(value) : "s"(__builtin_amdgcn_readfirstlane(index)));
    *out = value;
}

// run trap: --grid 1 --block 64
kernel void trap(void) {
    if (ID == 40)
        __builtin_trap();
}

// run endless_loop: --grid 3 --block 64 --arg buf:4 --budget 5000
kernel void endless_loop(volatile global uint *flag) {
    while (*flag == 0)
        ;
}

// run waits_for_a_wave_at_the_barrier: --grid 1 --block 192 --arg buf:4 --budget 5000
kernel void waits_for_a_wave_at_the_barrier(volatile global uint *flag) {
    if (ID >= 128)
        while (*flag == 0)
            ;
    __builtin_amdgcn_s_barrier();
    *flag = 1;
}

// run halted_wave: --grid 1 --block 192 --arg buf:4
kernel void halted_wave(global uint *out) {
    if (ID >= 128)
        __asm__ volatile("s_sethalt 1");
    __builtin_amdgcn_s_barrier();
    *out = 1;
}

// run race_after_a_store: --grid 1 --block 128 --arg buf:512 --check races,atomicity
kernel void race_after_a_store(global uint *out) {
    volatile local uint tile[128];
    tile[ID] = ID;
    out[ID] = tile[127 - ID];
}

// run race_of_an_atomic: --grid 1 --block 128 --arg buf:512 --check races,atomicity --timing mi210
kernel void race_of_an_atomic(global uint *out) {
    local atomic_uint sum;
    if (ID == 0) {
        __opencl_atomic_store(&sum, 0u, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    }
    __opencl_atomic_fetch_add(&sum, ID, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
    __builtin_amdgcn_s_barrier();
    out[ID] = __opencl_atomic_load(&sum, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
}

// run barrier_in_divergent_lanes: --grid 1 --block 128 --arg buf:512 --check barriers
kernel void barrier_in_divergent_lanes(global uint *out) {
    if (ID % 64 < 40) {
        __builtin_amdgcn_s_barrier();
        out[ID] = 1;
    }
}

// run barrier_in_a_branch: --grid 1 --block 128 --arg buf:4 --check barriers
kernel void barrier_in_a_branch(global uint *out) {
    if (ID >= 64)
        return;
    __builtin_amdgcn_s_barrier();
    *out = 1;
}

// run called_twice: --grid 1 --block 64 --arg buf:4 --arg u32:100
static void __attribute__((noinline)) store(global uint *output, uint at) {
    output[at] = 1;
}

static void __attribute__((noinline)) store_behind(global uint *output, uint at) {
    store(output, at + 1);
    store(output, 0);
}

// A call that returned before is no part of it.
kernel void called_twice(global uint *output, uint at) {
    store(output, 0);
    store_behind(output, at);
}

// run called_race: --grid 1 --block 128 --arg buf:512 --check races,atomicity
static void __attribute__((noinline)) put(local uint *words, uint at, uint value) {
    words[at] = value;
}

// The earlier access is told with its own caller.
kernel void called_race(global uint *output) {
    local uint words[128];
    uint i = ID;
    put(words, i, i);
    put(words, 127 - i, 2 * i);
    output[i] = words[0];
}

// run register_beyond_the_allotment: --grid 1 --block 64 --arg buf:4
kernel void register_beyond_the_allotment(global uint *out) {
    // Which the compiler is not told of.
    __asm__ volatile("v_mov_b32 v100, 1");
    *out = 1;
}

// run behind_the_arguments: --grid 1 --block 64 --arg buf:4 --arg u32:7
kernel void behind_the_arguments(global uint *out, uint index) {
    *out = ((constant uint *)__builtin_amdgcn_kernarg_segment_ptr())[index];
}

// run halted_for_good: --grid 1 --block 192 --arg buf:4
kernel void halted_for_good(global uint *out) {
    *out = 1;
    if (ID >= 128)
        __asm__ volatile("s_sethalt 1");
}

// run sleeps: --grid 2 --block 64
kernel void sleeps(void) {
    for (;;)
        __builtin_amdgcn_s_sleep(1);
}
