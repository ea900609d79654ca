kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0), x = in[i], sum = 0;
    __asm__ volatile(
        "s_mov_b64 s[28:29], exec\n v_cmp_lt_u32 s[20:21], 7, %1\n"
        "v_readfirstlane_b32 s19, %2\n s_cmp_lt_u32 s19, 200\n s_cselect_b64 s[22:23], -1, 0\n"
        "s_cmp_lt_u32 s19, 100\n s_cselect_b32 s24, -1, 0\n s_cselect_b32 s25, 0, -1\n"
        "s_bfm_b64 exec, 36, 4\n v_add_u32 %0, 1, %0\n s_mov_b64 exec, -1\n"
        "s_mov_b64 exec, s[20:21]\n v_add_u32 %0, 2, %0\n s_mov_b64 exec, -1\n"
        "s_mov_b64 exec, s[20:21]\n v_add_u32 %0, 4, %0\n s_mov_b64 exec, -1\n"
        "s_mov_b64 exec, s[22:23]\n v_add_u32 %0, 8, %0\n s_mov_b64 exec, -1\n"
        "s_mov_b64 exec, s[24:25]\n v_add_u32 %0, 16, %0\n s_mov_b64 exec, -1\n"
        "s_add_u32 s26, s19, 0x4d\n s_addc_u32 s27, s19, 0x51\n"
        "s_mov_b64 exec, s[26:27]\n v_add_u32 %0, 32, %0\n s_mov_b64 exec, -1\n"
        "s_lshl_b32 s26, 0xff, 8\n s_mov_b32 s27, 3\n"
        "s_mov_b64 exec, s[26:27]\n v_add_u32 %0, 64, %0\n s_mov_b64 exec, s[28:29]\n"
        : "+v"(sum) : "v"(x), "v"(n)
        : "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "scc");
    if (sum & 2) out[i] = sum; else out[i + 512] = sum;
}
