// Kernels whose results come a long way.

#define BARRIER                                                \
    do {                                                       \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier();                          \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)

// A large number overflows, and its product with zero is no number. Every work-item has it by LDS.
kernel void overflow(global const float *x, global float *out) {
    local float total;
    int i = __builtin_amdgcn_workitem_id_x();
    float large = x[i] * 0x1p124f;
    float small = x[i] * 0.0f;
    float product = large * small;
    if (i == 40)
        total = product;
    BARRIER;
    out[i] = total + 1.0f;
}

// The element of the work-item opposite.
kernel void opposite(global const float *x, global float *out) {
    local float tile[64];
    int i = __builtin_amdgcn_workitem_id_x();
    float mine = x[i] * 3.0f;
    tile[i] = mine;
    BARRIER;
    float theirs = tile[63 - i];
    if (i < 60)
        out[i] = theirs + 0.5f;
}
