// Control flow: switches, calls, function pointers, arrays on the stack.
#include "prelude.h"

// A stack machine: each lane runs the same code on a number of its own, so the program counters part.
__global__ void bytecode(const u8 *code, const u32 *in, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 stack[8], top = 0, pc = 0;
    stack[top++] = in[i];
    for (u32 steps = 0; steps < 500; ++steps) {
        u8 op = code[pc++];
        switch (op) {
        case 0: out[i] = stack[top - 1]; return;
        case 1: stack[top] = code[pc++]; ++top; break;
        case 2: stack[top] = stack[top - 1]; ++top; break;
        case 3: --top; stack[top - 1] += stack[top]; break;
        case 4: --top; stack[top - 1] *= stack[top]; break;
        case 5: --top; stack[top - 1] &= stack[top]; break;
        case 6: --top; stack[top - 1] >>= stack[top] & 31; break;
        case 7: --top; stack[top - 1] -= stack[top]; break;
        case 8: { u32 swap = stack[top - 1]; stack[top - 1] = stack[top - 2]; stack[top - 2] = swap; break; }
        case 9: --top; pc = stack[top] ? code[pc] : pc + 1; break;
        case 10: pc = code[pc]; break;
        case 11: stack[top - 1] = stack[top - 1] == 0; break;
        case 12: --top; stack[top - 1] ^= stack[top]; break;
        default: out[i] = 0xdead0000u | op; return;
        }
    }
    out[i] = 0xffffffffu;
}

static __device__ __noinline u32 add_three(u32 x) { return x + 3; }
static __device__ __noinline u32 times_five(u32 x) { return x * 5; }
static __device__ __noinline u32 rotate(u32 x) { return x << 7 | x >> 25; }
static __device__ __noinline u32 count_down(u32 x) {
    u32 sum = 0;
    for (u32 k = x & 15; k > 0; --k) sum = sum * 3 + k;
    return sum;
}
typedef u32 (*unary)(u32);
static __device__ unary volatile functions[4] = {add_three, times_five, rotate, count_down};

// Each lane calls what its numbers say, through pointers in memory.
__global__ void function_pointers(const u32 *in, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 x = in[i];
    for (u32 round = 0; round < 6; ++round) x = functions[(x >> round) & 3](x + round);
    out[i] = x;
}

struct Wide { u32 a[12]; u64 b; u8 c; };

// More arguments than registers are passed in, and a structure returned through memory.
static __device__ __noinline Wide mix(Wide w, u32 p0, u32 p1, u32 p2, u32 p3, u32 p4, u32 p5, u32 p6, u32 p7, u32 p8,
                                      u32 p9, u32 p10, u32 p11, u64 q0, u64 q1, u64 q2, u64 q3, u8 r0, u16 r1) {
    u32 p[12] = {p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11};
    for (u32 k = 0; k < 12; ++k) w.a[k] = w.a[k] * 3 + p[11 - k];
    w.b += q0 ^ q1 * 3 ^ q2 ^ q3 >> 7;
    w.c = (u8)(w.c + r0 + r1);
    return w;
}
static __device__ __noinline u64 fold(const Wide *w) {
    u64 sum = w->b + w->c;
    for (u32 k = 0; k < 12; ++k) sum = sum * 31 + w->a[k];
    return sum;
}
__global__ void calls(const u32 *in, u64 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    Wide w;
    u32 x = in[i];
    for (u32 k = 0; k < 12; ++k) w.a[k] = x + k;
    w.b = (u64)x << 20;
    w.c = (u8)x;
    for (u32 k = 0; k < (x & 3) + 1; ++k)
        w = mix(w, x, x + 1, x ^ 2, x * 3, 4, k, 6, x >> 7, 8, 9, ~x, 11, x, k, (u64)x * x, 7777, (u8)k, (u16)(x >> 3));
    out[i] = fold(&w);
}

// Sorts 24 numbers a lane on the stack.
__global__ void insertion_sort(const u32 *in, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 a[24];
    for (u32 k = 0; k < 24; ++k) {
        u32 x = in[i * 24 + k];
        i32 at = (i32)k - 1;
        for (; at >= 0 && a[at] > x; --at) a[at + 1] = a[at];
        a[at + 1] = x;
    }
    for (u32 k = 0; k < 24; ++k) out[i * 24 + k] = a[k];
}

// An array whose length is known at run time only.
__global__ void variable_length_array(const u32 *in, u32 *out, u32 n, u32 length) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 a[length];
    for (u32 k = 0; k < length; ++k) a[k] = in[i] + k * k;
    u32 sum = 0;
    for (u32 k = 0; k < length; ++k) sum = sum * 3 + a[(k * 5 + i) % length];
    out[i] = sum;
}

static __device__ const char *const words[5] = {"wave", "lane", "workgroup", "register", ""};
static __device__ u32 total = 40;

// Pointers in constant memory, and a variable of the device that the launch changes.
__global__ void device_variables(const u32 *in, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    const char *word = words[in[i] % 5];
    u32 sum = 0;
    for (; *word; ++word) sum = sum * 131 + (u8)*word;
    out[i] = sum;
    __atomic_fetch_add(&total, sum & 255, __ATOMIC_RELAXED);
    if (i == 0) out[n] = __atomic_load_n(&total, __ATOMIC_RELAXED) >= 40;
}

// Lower bound in a sorted table; trip counts differ from lane to lane.
__global__ void binary_search(const u64 *table, u32 count, const u64 *keys, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 low = 0, high = count;
    while (low < high) {
        u32 middle = (low + high) / 2;
        if (table[middle] == keys[i]) { low = middle; break; }
        if (table[middle] < keys[i]) low = middle + 1; else high = middle;
    }
    out[i] = low;
}
