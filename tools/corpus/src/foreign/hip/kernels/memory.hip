// Memory: LDS, barriers, atomics, bytes, two and three dimensions.
#include "prelude.h"

extern "C" __shared__ u32 dynamic[];

__global__ void reverse_in_dynamic_lds(u32 *data) {
    u32 t = LOCAL_X, size = SIZE_X, base = GROUP_X * size;
    dynamic[t] = data[base + t];
    barrier();
    data[base + t] = dynamic[size - 1 - t];
}

// Inclusive prefix sums of each workgroup (Hillis and Steele).
__global__ void scan(const u32 *in, u32 *out) {
    __shared__ u32 tile[2][256];
    u32 t = LOCAL_X, from = 0;
    tile[0][t] = in[GLOBAL_X];
    barrier();
    for (u32 step = 1; step < 256; step *= 2) {
        tile[1 - from][t] = tile[from][t] + (t >= step ? tile[from][t - step] : 0);
        from = 1 - from;
        barrier();
    }
    out[GLOBAL_X] = tile[from][t];
}

__global__ void bitonic_sort(u32 *data) {
    __shared__ u32 tile[256];
    u32 t = LOCAL_X;
    tile[t] = data[GLOBAL_X];
    barrier();
    for (u32 size = 2; size <= 256; size *= 2)
        for (u32 step = size / 2; step > 0; step /= 2) {
            u32 other = t ^ step;
            if (other > t) {
                bool up = (t & size) == 0;
                u32 a = tile[t], b = tile[other];
                if (up ? a > b : a < b) { tile[t] = b; tile[other] = a; }
            }
            barrier();
        }
    data[GLOBAL_X] = tile[t];
}

// Counts in LDS first, then in memory.
__global__ void histogram(const u8 *in, u32 *bins, u32 n) {
    __shared__ u32 mine[64];
    if (LOCAL_X < 64) mine[LOCAL_X] = 0;
    barrier();
    for (u32 i = GLOBAL_X; i < n; i += 3 * SIZE_X) __atomic_fetch_add(&mine[in[i] & 63], 1u, __ATOMIC_RELAXED);
    barrier();
    if (LOCAL_X < 64) __atomic_fetch_add(&bins[LOCAL_X], mine[LOCAL_X], __ATOMIC_RELAXED);
}

template <class T, class S> static inline __device__ void all_atomics(const T *in, T *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    T x = in[i];
    __atomic_fetch_add(out + 0, x, __ATOMIC_RELAXED);
    __atomic_fetch_sub(out + 1, x, __ATOMIC_RELAXED);
    __atomic_fetch_and(out + 2, x | 0xff00ff, __ATOMIC_RELAXED);
    __atomic_fetch_or(out + 3, x & 0xff0f, __ATOMIC_ACQ_REL);
    __atomic_fetch_xor(out + 4, x, __ATOMIC_SEQ_CST);
    __atomic_fetch_min(out + 5, x, __ATOMIC_RELAXED);
    __atomic_fetch_max(out + 6, x, __ATOMIC_RELAXED);
    __atomic_fetch_min((S *)out + 7, (S)x, __ATOMIC_RELAXED);
    __atomic_fetch_max((S *)out + 8, (S)x, __ATOMIC_RELAXED);
    // A product has no atomic instruction.
    T seen = __atomic_load_n(out + 9, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(out + 9, &seen, seen * (x | 1), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    // Every value goes through one cell: what comes out, and what stays, is what went in.
    T old = __atomic_exchange_n(out + 10, x, __ATOMIC_RELAXED);
    __atomic_fetch_add(out + 11, old, __ATOMIC_RELAXED);
}
__global__ void atomics_of_32_bits(const u32 *in, u32 *out, u32 n) { all_atomics<u32, i32>(in, out, n); }
__global__ void atomics_of_64_bits(const u64 *in, u64 *out, u32 n) { all_atomics<u64, i64>(in, out, n); }

__global__ void transpose(const u32 *in, u32 *out, u32 width, u32 height) {
    __shared__ u32 tile[16][17];
    u32 x = GROUP_X * 16 + LOCAL_X, y = GROUP_Y * 16 + LOCAL_Y;
    if (x < width && y < height) tile[LOCAL_Y][LOCAL_X] = in[y * width + x];
    barrier();
    x = GROUP_Y * 16 + LOCAL_X;
    y = GROUP_X * 16 + LOCAL_Y;
    if (x < height && y < width) out[y * height + x] = tile[LOCAL_X][LOCAL_Y];
}

// The workgroup that comes last sums up what all have left.
__global__ void last_workgroup_sums(const u32 *in, u32 *partial, u32 *tickets, u32 *out, u32 groups) {
    __shared__ u32 tile[128];
    __shared__ u32 is_last;
    u32 t = LOCAL_X;
    tile[t] = in[GLOBAL_X];
    barrier();
    for (u32 s = 64; s > 0; s /= 2) {
        if (t < s) tile[t] += tile[t + s];
        barrier();
    }
    if (t == 0) {
        __atomic_store_n(&partial[GROUP_X], tile[0], __ATOMIC_RELEASE);
        is_last = __atomic_fetch_add(tickets, 1u, __ATOMIC_ACQ_REL) == groups - 1;
    }
    barrier();
    if (is_last && t == 0) {
        u32 sum = 0;
        for (u32 k = 0; k < groups; ++k) sum += __atomic_load_n(&partial[k], __ATOMIC_ACQUIRE);
        *out = sum;
    }
}

struct __attribute__((packed)) Record { u8 tag; u16 length; u32 value; u64 wide; };

// Fields that are not aligned.
__global__ void packed_records(const Record *in, Record *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    Record r = in[i];
    r.value = r.value * 3 + r.length;
    r.length = (u16)(r.length >> 3 | r.tag << 8);
    r.wide ^= (u64)r.value << 17;
    r.tag = (u8)-r.tag;
    out[n - 1 - i] = r;
}

// Seven points in three dimensions, zero outside.
__global__ void stencil(const i32 *in, i32 *out, i32 width, i32 height, i32 depth) {
    i32 x = (i32)GLOBAL_X, y = (i32)GLOBAL_Y, z = (i32)GLOBAL_Z;
    if (x >= width || y >= height || z >= depth) return;
    i32 sum = 0;
    const i32 steps[7][3] = {{0, 0, 0}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    for (i32 k = 0; k < 7; ++k) {
        i32 p = x + steps[k][0], q = y + steps[k][1], r = z + steps[k][2];
        if (p >= 0 && q >= 0 && r >= 0 && p < width && q < height && r < depth)
            sum += (k == 0 ? -6 : 1) * in[(r * height + q) * width + p];
    }
    out[(z * height + y) * width + x] = sum;
}

// Pointers of which the address space is known at run time only.
static __device__ __noinline u32 sum_through(const u32 *generic, u32 count) {
    u32 sum = 0;
    for (u32 k = 0; k < count; ++k) sum = sum * 7 + generic[k];
    return sum;
}
__global__ void generic_pointers(const u32 *in, u32 *out, u32 n) {
    __shared__ u32 tile[64];
    u32 i = GLOBAL_X, t = LOCAL_X, mine[4];
    tile[t] = in[i] ^ 0x55;
    for (u32 k = 0; k < 4; ++k) mine[k] = in[i] + k * i;
    barrier();
    const u32 *from = in[i] % 3 == 0 ? tile + (t & 56) : in[i] % 3 == 1 ? in + (i & 31) : mine;
    out[i] = sum_through(from, 4);
}

// A structure by value among other arguments.
struct Shape { u8 kind; double scale; i32 offset[3]; u16 mask; };
__global__ void structure_by_value(u8 first, Shape shape, const i32 *in, double *out, u16 last) {
    u32 i = GLOBAL_X;
    i32 x = in[i] + shape.offset[i % 3];
    out[i] = shape.kind == first ? x * shape.scale : (double)((u16)x & shape.mask) + last;
}
