#define X __builtin_amdgcn_workitem_id_x()
kernel void one(global uint *p) { p[X] = 1; }
kernel void branch(global uint *p) { if (p[X] & 1) p[X] = 3; }
kernel void unknown(global uint *p) { __asm__ volatile("s_rfe_b64 s[4:5]"); p[X] = 1; }
