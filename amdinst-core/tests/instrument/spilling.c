/* Kernels that have to spill: 64 values live at a time, in fewer registers. */
#define KERNEL(name, vgprs, sgprs)                                                                                     \
  __attribute__((amdgpu_kernel, amdgpu_num_vgpr(vgprs), amdgpu_num_sgpr(sgprs))) void name(                            \
      __attribute__((address_space(1))) float *x, __attribute__((address_space(1))) int *s, int n)

KERNEL(vectors, 24, 102) {
  unsigned id = __builtin_amdgcn_workitem_id_x();
  float v[64];
#pragma unroll
  for (int i = 0; i < 64; i++) v[i] = x[id + 64 * i];
  __builtin_amdgcn_s_barrier();
#pragma unroll
  for (int i = 0; i < 64; i++) x[id * 64 + (i ^ 21)] = v[i] * v[(i + 7) & 63];
}

KERNEL(scalars, 128, 32) {
  int v[64];
#pragma unroll
  for (int i = 0; i < 64; i++) v[i] = s[i * n];
  __asm__ volatile("" ::: "memory");
  int sum = 0;
#pragma unroll
  for (int i = 0; i < 64; i++) {
    sum = sum * 31 + v[i ^ 21];
    __asm__ volatile("; %0" ::"s"(v[i]));
  }
  s[0] = sum;
}

KERNEL(neither, 128, 102) { x[n] = 1; }

/* More values than a function has registers of its own, the last of which is needed first. */
__attribute__((noinline)) float deep(volatile __attribute__((address_space(1))) float *x) {
  float v[150];
#pragma unroll
  for (int i = 0; i < 150; i++) v[i] = x[64 * i];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 150; i++) sum = sum * v[149 - i] + v[i];
  return sum;
}

KERNEL(calls, 128, 102) { x[n] = deep(x + __builtin_amdgcn_workitem_id_x()); }
