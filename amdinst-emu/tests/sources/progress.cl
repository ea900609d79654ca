#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
#define GROUPS (__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x())
#define MEET() (__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"), __builtin_amdgcn_s_barrier(), \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"))
#define FLAG(at) ((global atomic_uint *)(at))
#define LOAD(at) __opencl_atomic_load(FLAG(at), __ATOMIC_ACQUIRE, __OPENCL_MEMORY_SCOPE_DEVICE)
#define STORE(at, value) __opencl_atomic_store(FLAG(at), value, __ATOMIC_RELEASE, __OPENCL_MEMORY_SCOPE_DEVICE)
#define ADD(at, value) __opencl_atomic_fetch_add(FLAG(at), value, __ATOMIC_ACQ_REL, __OPENCL_MEMORY_SCOPE_DEVICE)

// All but the last workgroup wait for what the last one gives.
kernel void from_the_last(global uint *p) {
    if (G == GROUPS - 1) { if (X == 0) { p[1] = 77; STORE(p, 1); } }
    else { if (X == 0) while (LOAD(p) == 0); MEET(); p[64 + G * 64 + X] = p[1] + G; }
}

// The same, and the last one takes its time: atomics of all lanes take the host long, for what they use of the budget.
kernel void from_the_last_late(global uint *p) {
    if (G == GROUPS - 1) {
        for (uint i = 0; i < 20000; i++) {
            ADD(p + 192 + X, 1); ADD(p + 192 + X, 1); ADD(p + 192 + X, 1); ADD(p + 192 + X, 1);
        }
        MEET();
        if (X == 0) STORE(p, 1);
    } else { if (X == 0) while (LOAD(p) == 0); MEET(); p[64 + G * 64 + X] = LOAD(p + 192 + X); }
}

// The same by read-modify-writes, and with something to do in the loop.
kernel void asks_by_adding(global uint *p) {
    if (G == GROUPS - 1) { if (X == 0) ADD(p, 1); }
    else { uint n = 1; if (X == 0) while (ADD(p, 0) == 0) n = n * 3 + 1; MEET(); p[64 + G * 64 + X] = G; }
}

// Barriers of the whole grid.
kernel void meet(global uint *p) {
    for (uint phase = 0; phase < 5; phase++) {
        global uint *mine = p + 64 + phase * GROUPS;
        if (X == 0) mine[G] = phase == 0 ? G : p[64 + (phase - 1) * GROUPS + (G + 1) % GROUPS] + 1;
        MEET();
        if (X == 0) { ADD(p, 1); while (LOAD(p) < (phase + 1) * GROUPS); }
        MEET();
    }
}

// Workgroup 1 waits for what no one gives.
kernel void stuck(global uint *p) {
    if (G == 1 && X == 3) while (LOAD(p + 5) == 0);
    p[64 + G * 64 + X] = 1;
}

// Each workgroup waits for its neighbour.
kernel void ring(global uint *p) {
    if (X == 0) { while (LOAD(p + (G + 1) % GROUPS) == 0); STORE(p + G, 1); }
}

// More workgroups than there are at a time.
kernel __attribute__((reqd_work_group_size(1024, 1, 1))) void crowd(global uint *p) {
    if (X == 0) { ADD(p, 1); while (LOAD(p) < GROUPS); }
    MEET();
    p[64] = 1;
}

// No other workgroup, and one that never ends though it gets on.
kernel void counts(global uint *p) {
    uint n = 0;
    while (LOAD(p) == 0) p[64 + (n++ & 63)] = n;
}

// Barriers of the whole grid by global wave sync, as AMD's device library has them.
#define SYNC() (__builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"), __builtin_amdgcn_s_barrier(), \
    X == 0 ? __builtin_amdgcn_ds_gws_barrier(GROUPS - 1, 0) : (void)0, __builtin_amdgcn_s_barrier(), \
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"))
kernel void meet_by_sync(global uint *p) {
    for (uint phase = 0; phase < 5; phase++) {
        global uint *mine = p + 64 + phase * GROUPS;
        if (X == 0) mine[G] = phase == 0 ? G : p[64 + (phase - 1) * GROUPS + (G + 1) % GROUPS] + 1;
        SYNC();
    }
}

// Workgroup 2 does not come.
kernel void misses(global uint *p) { if (G != 2) SYNC(); p[64] = 1; }

// A semaphore: the last workgroup lets the others pass, all at once and one by one.
kernel void close(global uint *p) { __builtin_amdgcn_ds_gws_init(0, 1); }
kernel void pass(global uint *p) {
    if (X) return;
    if (G == GROUPS - 1) {
        p[1] = 77;
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
        __builtin_amdgcn_ds_gws_sema_br(GROUPS - 3, 1);
        __builtin_amdgcn_ds_gws_sema_v(1);
        __builtin_amdgcn_ds_gws_sema_v(1);
    } else {
        __builtin_amdgcn_ds_gws_sema_p(1);
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
        p[64 + G] = p[1];
    }
}

// Plain accesses of all workgroups to the same words, without an end.
kernel void goes_on(global volatile uint *p) {
    uint n = 0;
    while (p[0] == 0) p[64 + (n++ & 63)] = n + G;
}

// Says that it has begun, and goes on in its own memory without an end.
kernel void stirs(global volatile uint *p) {
    local volatile uint words[64];
    p[64 + G] = 1;
    uint n = 1;
    while (n != 0) {
        words[n >> 1 & 63] = n;
        n = n * 5 + 2 * words[n >> 3 & 63] | 1;
    }
    p[0] = n;
}

// Waits for nothing.
kernel void sleeps(global uint *p) {
    p[64 + G] = 1;
    if (X < 64 && G == 1) for (;;) __builtin_amdgcn_s_sleep(1);
    if (X >= 64) p[64 + G] = 2;
}

// Its waves wait for what none of them writes; the first half of them at a barrier.
kernel void unset(global uint *p) {
    local volatile uint flag;
    if (X == 0) flag = 0;
    MEET();
    if (X >= 128) while (flag == 0) {}
    MEET();
    p[64 + G] = 1;
}

// As those, but one is late with it.
kernel void set_late(global uint *p) {
    local volatile uint flag;
    if (X == 0) flag = 0;
    MEET();
    if (X < 64) {
        uint n = 1;
        for (uint i = 0; i < 60000; i++) n = n * 5 + i;
        if (X == 0) flag = n | 1;
    } else {
        while (flag == 0) {}
    }
    p[64 + G] = flag & 1;
}
