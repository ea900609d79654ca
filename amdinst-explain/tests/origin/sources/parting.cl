// Kernels that compute different values when they are compiled for different processors, or in different ways.

#define BARRIER                                             \
    do {                                                    \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier();                       \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)

kernel void vote(global const float *x, global float *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    bool positive = x[i] > 0.0f;
    ulong mask = VOTE(positive);
    if (i == 0)
        out[0] = __builtin_popcountl(mask);
}

kernel void lane(global const float *x, global float *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    uint lane = __builtin_amdgcn_mbcnt_hi(-1, __builtin_amdgcn_mbcnt_lo(-1, 0));
    out[i] = x[lane] * 2.0f;
}

kernel void neighbour(global const float *x, global float *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    int value = as_int(x[i]);
    int other = __builtin_amdgcn_ds_bpermute((i + 32) * 4, value);
    out[i] = as_float(other) + 1.0f;
}

kernel void small(global const float *x, global float *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    float tiny = x[i] * 0x1p-140f;
    out[i] = tiny * 0x1p120f;
}

kernel void fused(global const float *x, global float *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    float a = x[i];
    out[i] = a * 1.1f + 0.7f;
}

kernel void elsewhere(global const float *x, global float *out) {
    int i = __builtin_amdgcn_workitem_id_x();
    int from = i ^ FROM;
    out[i] = x[from] * 3.0f;
}

// The wrong value goes through LDS, from work-item to work-item.
kernel void through_lds(global const float *x, global float *out) {
    local float tile[64];
    int i = __builtin_amdgcn_workitem_id_x();
    float mine = i == 5 ? x[i] * FACTOR : x[i];
    tile[i] = mine;
    BARRIER;
    for (int half_size = 32; half_size > 0; half_size /= 2) {
        if (i < half_size)
            tile[i] += tile[i + half_size];
        BARRIER;
    }
    if (i == 0)
        out[0] = tile[0];
}
