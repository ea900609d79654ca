// Kernels of `tests/listing.rs`.
#define KERNEL extern "C" __attribute__((amdgpu_kernel)) void
#define SHARED __attribute__((address_space(3)))
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5
typedef unsigned u32; typedef unsigned long u64; typedef _Float16 half;
static u32 id() { return __builtin_amdgcn_workitem_id_x() + 64 * __builtin_amdgcn_workgroup_id_x(); }
SHARED static float tile[256] __attribute__((loader_uninitialized));
KERNEL floats(float *a, const float *b, u32 n) {
  for (u32 i = id(); i < n; i += 4096) {
    float x = b[i];
    if (x > 0.5f) a[i] = __builtin_sqrtf(x) / (x + 2.0f); else if (x < -1.0f) a[i] = __builtin_fabsf(x) * 0.15915494f;
  }
}
KERNEL doubles(double *a, const double *b) {
  u32 i = id();
  double x = b[i];
  a[i] = x > 1.0 ? x / 3.25 : __builtin_fma(x, x, 1.0);
}
KERNEL longs(u64 *a, const long *b, u64 k) {
  u32 i = id();
  a[i] = (u64)b[i] * k + (b[i] >> 7) + __builtin_popcountll(b[i]) + __builtin_clzll(k) + (u64)b[i] / (k + 1);
}
KERNEL halves(half *a, const half *b, const short *s, signed char *c) {
  u32 i = id();
  a[i] = b[i] * b[i + 1] + (half)s[i];
  c[i] = (signed char)(c[i] * 3 + (s[i] >> 2));
}
KERNEL shared_sum(float *out, const float *in) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  tile[t] = in[id()];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  for (u32 s = 128; s; s >>= 1) { if (t < s) tile[t] += tile[t + s]; __builtin_amdgcn_s_barrier(); }
  if (!t) __hip_atomic_fetch_add(out, tile[0], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
KERNEL counts(u32 *bins, u64 *wide, const unsigned char *in) {
  __hip_atomic_fetch_add(&bins[in[id()]], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  u64 old = __hip_atomic_fetch_max(&wide[0], (u64)id(), __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_compare_exchange_strong(&wide[1], &old, 7ul, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
__attribute__((noinline)) static u32 twist(u32 x, u32 *stack) { stack[x & 7] = x * 2654435761u; return stack[(x >> 3) & 7]; }
KERNEL calls(u32 *a) {
  u32 stack[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  u32 i = id();
  switch (a[i] % 7) { case 0: a[i] = twist(i, stack); break; case 3: a[i] += twist(i + 1, stack); break; case 5: a[i] ^= 9; }
}
