// The barrier of a cooperative launch as AMD's device library has it without global wave sync: a hidden argument leads to how many
// workgroups have come and how many there are. PLACE is where code object versions have the argument, in words of 64 bits.
#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
#define GROUPS (__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x())
#define CAME(P) ((global atomic_uint *)((P) + 32))

void meet(void) {
    global char *info = (global char *)((constant ulong *)__builtin_amdgcn_implicitarg_ptr())[PLACE];
    uint count = *(global uint *)(info + 40);
    uint before = __opencl_atomic_fetch_add(CAME(info), 1, memory_order_relaxed, memory_scope_device);
    if ((before & 0xffff) == count - 1) {
        __opencl_atomic_fetch_add(CAME(info), 0x10000 - count, memory_order_relaxed, memory_scope_device);
        return;
    }
    while (((__opencl_atomic_load(CAME(info), memory_order_relaxed, memory_scope_device) ^ before) & ~0xffff) == 0)
        __builtin_amdgcn_s_sleep(1);
}

#define MEET() (__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"), __builtin_amdgcn_s_barrier(), \
    X == 0 ? meet() : (void)0, __builtin_amdgcn_s_barrier(), __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"))

kernel void meet_in_memory(global uint *p) {
    for (uint phase = 0; phase < 5; phase++) {
        global uint *mine = p + 64 + phase * GROUPS;
        if (X == 0) mine[G] = phase == 0 ? G : p[64 + (phase - 1) * GROUPS + (G + 1) % GROUPS] + 1;
        MEET();
    }
}

// Whether the launch is one of a grid that may meet, and whether it is on several devices.
kernel void kind(global uint *p) {
    ulong info = ((constant ulong *)__builtin_amdgcn_implicitarg_ptr())[PLACE];
    p[64] = info != 0;
    p[65] = *(global uint *)(info + 12);
}

// Workgroup 2 does not come.
kernel void misses(global uint *p) { if (G != 2) MEET(); p[64] = 1; }
