// Kernels of one idea each. Those of `EACH` compute one value of two: `x` and `y`.

#define ID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())
#define LOCAL __builtin_amdgcn_workitem_id_x()
#define BARRIER __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup")

#define EACH(name, type, ...) \
    kernel void name(global type *out, global type *a, global type *b, int n) { \
        uint i = ID; if (i < n) { type x = a[i], y = b[i]; out[i] = __VA_ARGS__; } }

EACH(add_u32, uint, x + y)
EACH(divide_u32, uint, y ? x / y ^ x % y : 7)
EACH(divide_i32, uint, (int)y > 0 ? (uint)((int)x / (int)y ^ (int)x % (int)y) : 7)
EACH(shifts_32, uint, (x << (y & 31)) ^ (x >> (y & 31)) ^ (uint)((int)x >> (y & 31)))
EACH(bits_32, uint,
     __builtin_popcount(x) + (y ? __builtin_clz(y) : 99) * 64 + (x ? __builtin_ctz(x) : 77) * 8192 +
         (__builtin_bitreverse32(y) & 1 << 30))
EACH(bytes_and_shorts, uint,
     (uint)((char)x * (short)y) ^ (uint)(uchar)(x >> 8) ^ ((uint)(ushort)(x + y) << 7))

EACH(multiply_64, ulong, x * y + __builtin_elementwise_abs((long)x))
EACH(divide_u64, ulong, y ? x / y ^ x % y : 7)
EACH(divide_i64, ulong, (long)y > 0 ? (ulong)((long)x / (long)y ^ (long)x % (long)y) : 7)
EACH(shifts_64, ulong, (x << (y & 63)) ^ (x >> (y & 63)) ^ (ulong)((long)x >> (y & 63)))

EACH(add_mul_f32, float, (x + y) * x - y)
EACH(fma_f32, float, __builtin_fmaf(x, y, -x))
EACH(divide_f32, float, x / y)
EACH(sqrt_f32, float, __builtin_sqrtf(x))
EACH(round_f32, float, __builtin_floorf(x) + __builtin_ceilf(y) + __builtin_truncf(x) + __builtin_rintf(y))
EACH(compare_f32, float, (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * !(x >= y))
EACH(convert_f32, float,
     (x > -2e9f && x < 2e9f ? (float)(int)x : 3) + (y > 0 && y < 4e9f ? (float)(uint)y : 5))
EACH(min_max_f32, float, __builtin_fminf(x, 2.5f) + __builtin_fmaxf(y, -1.5f))

EACH(arithmetic_f64, double, (x + y) * x - __builtin_fma(x, y, -y))
EACH(divide_f64, double, x / y)
EACH(sqrt_f64, double, __builtin_sqrt(x))
EACH(convert_f64, double,
     (x > -9e18 && x < 9e18 ? (double)(long)x : 3) + (y > 0 && y < 1.8e19 ? (double)(ulong)y : 5) +
         (double)(float)x)

EACH(collatz_loop, uint, ({
         uint steps = 0;
         ulong v = (x & 0xffff) + 1;
         while (v != 1 && steps < 500) {
             v = v & 1 ? 3 * v + 1 : v / 2;
             ++steps;
         }
         steps;
     }))

EACH(scratch_array_and_switch, uint, ({
         uint t[16];
         for (int j = 0; j < 16; ++j) t[j] = x * j + y;
         uchar c[32];
         for (int j = 0; j < 32; ++j) c[(j * 7) & 31] = x + j;
         uint r = 0;
         for (int j = 0; j < 8; ++j) {
             switch ((x >> j) & 7) {
             case 0: r += t[y & 15]; break;
             case 1: r ^= t[j]; break;
             case 2: r -= c[y & 31]; break;
             case 3: r *= 3; break;
             case 4: r += c[j];
             case 5: r <<= 1; break;
             default: t[(r + j) & 15] = r;
             }
         }
         r + t[x & 15];
     }))

__attribute__((noinline)) static uint leaf(uint x, uint y) { return x * 31 + y; }
__attribute__((noinline)) static uint middle(uint x, uint y) {
    uint t[4] = { x, y, x ^ y, 1 };
    uint l = leaf(t[y & 3], x);
    if (l & 1) l += leaf(l, t[x & 3]);
    return l ^ t[l & 3];
}
__attribute__((noinline)) static uint top(uint x, uint y) { return middle(x, y) + 5 * middle(y, x); }
EACH(calls_in_calls, uint, top(x, y))

kernel void lds_reduction(global uint *out, global uint *a, global uint *b, int n) {
    local uint t[256];
    uint l = LOCAL;
    t[l] = a[ID];
    if (l < 64) t[192 + l] = 0;
    BARRIER;
    for (uint s = 128; s > 0; s >>= 1) {
        if (l < s) t[l] += t[l + s];
        BARRIER;
    }
    out[ID] = t[0] + t[0] * l;
}

#define FETCH(what, type, to, value) \
    __opencl_atomic_fetch_##what((global type *)(to), value, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE)

kernel void global_atomics(global uint *bins, global ulong *wide, global int *low, global uint *order, int n) {
    uint i = ID;
    if (i >= n) return;
    FETCH(add, atomic_uint, &bins[i % 7], i);
    FETCH(xor, atomic_ulong, wide, (ulong)i << 20);
    FETCH(min, atomic_int, low, -(int)i);
    if (order) order[FETCH(add, atomic_uint, &bins[7], 1)] = i;
}
