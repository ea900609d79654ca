#define X __builtin_amdgcn_workitem_id_x()
#define G __builtin_amdgcn_workgroup_id_x()
global uint table[64] = {1};
kernel void one(global uint *p) { p[X] = table[X]; }
kernel void race(global volatile int *a) {
  for (int i = 0; i < 200; i++) a[0] = a[0] * 3 + G;
  if ((a[0] + X) & 1) a[1 + (G & 1023)] = a[0]; }
