#define X __builtin_amdgcn_workitem_id_x()
__attribute__((noinline)) uint odd(uint v) {
    uint pc;
    // The program counter, and more is made of it than an address.
    __asm__ volatile("s_getpc_b64 s[20:21]\ns_xor_b32 s20, s20, s21\nv_mov_b32 %0, s20" : "=v"(pc) : : "s20", "s21");
    return (pc & 0) + v * 3;
}
kernel void next_to_it(global uint *p) { if (p[X] & 1) p[X] = 3; }
kernel void between(global uint *p) { while (p[X] > 7) p[X] /= 2; }
kernel void uses_odd(global uint *p) { if (p[X] > 5) p[X] = odd(p[X]); }
kernel void behind(global uint *p) { if (p[X] & 2) p[X] = 5; }
