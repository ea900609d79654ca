// Kernels of `tests/target_features.rs`.
kernel void halves(global uint *out, global ushort *in) {
    uint low, high;
    __asm__ volatile("v_mov_b32 %0, 0x5a5a1111\n v_mov_b32 %1, 0x5a5a1111\n s_nop 0\n"
                     "global_load_short_d16 %0, %2, off\n global_load_short_d16_hi %1, %2, off\n s_waitcnt vmcnt(0)"
                     : "=&v"(low), "=&v"(high) : "v"(in) : "memory");
    out[0] = low;
    out[1] = high;
}
