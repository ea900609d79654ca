// Kernels of `tests/timing/stream.rs`.
#define X __builtin_amdgcn_workitem_id_x()
#define KERNEL(NAME, BODY) \
    kernel __attribute__((amdgpu_flat_work_group_size(64, 1024))) \
    void NAME(global double *a, global const double *b, global const double *c, ulong n, ulong size, uint no) { \
        local double spoiler[4096]; \
        ulong i = X + __builtin_amdgcn_workgroup_id_x() * size; \
        if (i >= n) return; \
        if (no) spoiler[X] = b[X]; \
        BODY \
        if (no) a[i] = spoiler[i]; \
    }
KERNEL(init, a[i] = 0.23;)
KERNEL(read, double t = b[i]; if (t == 123.0) a[i] = t + spoiler[i];)
KERNEL(scale, a[i] = b[i] * 1.2;)
KERNEL(triad, a[i] = b[i] * 1.2 + c[i];)
