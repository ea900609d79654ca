// A kernel of `tests/abi.rs`.
kernel void modes(global uint *out) {
    uint mode, sum;
    __asm__ volatile("s_getreg_b32 %0, hwreg(HW_REG_MODE)\n v_mov_b32 %1, 0x7bff\n v_add_f16 %1, %1, %1"
                     : "=s"(mode), "=&v"(sum));
    out[0] = mode;
    out[1] = sum;
}
