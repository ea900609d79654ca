// Kernels of `tests/instrument/main.rs`.
typedef __attribute__((address_space(1))) int gint;
__attribute__((noinline)) int walk(int x, gint *p) {
    int sum = 0;
    for (int i = 0; i < x; i++) { if (p[i] > 3) sum += p[i]; if (sum > 1000) break; }
    return sum;
}
__attribute__((amdgpu_kernel)) void first(gint *p, gint *q, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) q[i] = walk(p[i], p); else q[i] = 0;
}
__attribute__((amdgpu_kernel)) void second(gint *p, gint *q, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (p[i] > n) q[i] = walk(i, p);
}
__attribute__((amdgpu_kernel)) void halves(gint *p) {
    __asm__ volatile("s_mov_b64 s[20:21], exec\n s_mov_b32 exec_lo, -1\n s_mov_b32 exec_hi, 5\n s_mov_b64 exec, s[20:21]"
                     ::: "s20", "s21");
    p[__builtin_amdgcn_workitem_id_x()] = 1;
}
__attribute__((amdgpu_kernel)) void handed(gint *p, __attribute__((address_space(3))) int *tile) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (tile[i] > 3) p[i] = tile[i + 1];
}
__attribute__((amdgpu_kernel)) void waits(gint *p, gint *q, int n) {
    int i = __builtin_amdgcn_workitem_id_x();
    if (i < n) q[i] = 5;
    int x = p[i];
    if (x > n) q[i + 64] = x;
}
__attribute__((amdgpu_kernel)) void straight(gint *p) { p[__builtin_amdgcn_workitem_id_x()] = 1; }
