// Arithmetic: singles, doubles, halves, wide integers, register pressure.
#include "prelude.h"

// A tiled product of matrices whose sides are no multiples of the tile.
__global__ void matmul(const float *a, const float *b, float *c, u32 m, u32 n, u32 k) {
    __shared__ float left[16][16], right[16][16];
    u32 row = GROUP_Y * 16 + LOCAL_Y, column = GROUP_X * 16 + LOCAL_X;
    float sum = 0;
    for (u32 base = 0; base < k; base += 16) {
        left[LOCAL_Y][LOCAL_X] = row < m && base + LOCAL_X < k ? a[row * k + base + LOCAL_X] : 0;
        right[LOCAL_Y][LOCAL_X] = base + LOCAL_Y < k && column < n ? b[(base + LOCAL_Y) * n + column] : 0;
        barrier();
        for (u32 step = 0; step < 16; ++step)
            sum = __builtin_fmaf(left[LOCAL_Y][step], right[step][LOCAL_X], sum);
        barrier();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void gemm_of_doubles(const double *a, const double *b, double *c, u32 n, double alpha, double beta) {
    u32 i = GLOBAL_X, row = i / n, column = i % n;
    if (row >= n) return;
    double sum = 0;
    for (u32 k = 0; k < n; ++k) sum = __builtin_fma(a[row * n + k], b[k * n + column], sum);
    c[i] = alpha * sum + beta * c[i];
}

__global__ void mandelbrot(u32 *out, u32 width, u32 height, float scale) {
    u32 x = GLOBAL_X, y = GLOBAL_Y;
    if (x >= width || y >= height) return;
    float re = (float)x * scale - 2.0f, im = (float)y * scale - 1.25f, a = 0, b = 0;
    u32 steps = 0;
    while (a * a + b * b <= 4.0f && steps < 200) {
        float next = a * a - b * b + re;
        b = 2.0f * a * b + im;
        a = next;
        ++steps;
    }
    out[y * width + x] = steps;
}

// Roots and quotients, correctly rounded.
__global__ void gravity(const float *positions, float *forces, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    float x = positions[2 * i], y = positions[2 * i + 1], fx = 0, fy = 0;
    for (u32 k = 0; k < n; ++k) {
        float dx = positions[2 * k] - x, dy = positions[2 * k + 1] - y;
        float square = dx * dx + dy * dy + 0.01f;
        float force = 1.0f / (square * __builtin_sqrtf(square));
        fx = fx + force * dx;
        fy = fy + force * dy;
    }
    forces[2 * i] = fx;
    forces[2 * i + 1] = fy;
}

__global__ void quotients_of_doubles(const double *a, const double *b, double *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    out[3 * i] = a[i] / b[i];
    out[3 * i + 1] = __builtin_sqrt(a[i] < 0 ? -a[i] : a[i]);
    out[3 * i + 2] = __builtin_floor(a[i]) + __builtin_trunc(b[i]) * __builtin_rint(a[i]);
}

// More live numbers than registers.
__global__ __attribute__((amdgpu_num_vgpr(32))) void spills(const u32 *in, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 live[96];
#pragma unroll
    for (u32 k = 0; k < 96; ++k) live[k] = in[i * 96 + k];
    for (u32 round = 0; round < (in[i] & 3) + 2; ++round) {
#pragma unroll
        for (u32 k = 0; k < 96; ++k) live[k] = live[k] * 5 + live[(k * 7 + 1) % 96];
    }
#pragma unroll
    for (u32 k = 0; k < 96; ++k) out[i * 96 + k] = live[k];
}

__global__ void saxpy_of_halves(const _Float16 *x, _Float16 *y, _Float16 a, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    _Float16 product = a * x[i];
    y[i] = product + y[i];
}

__global__ void wide_integers(const u64 *a, const u64 *b, u64 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u64 x = a[i], y = b[i] | 1;
    unsigned __int128 product = (unsigned __int128)x * y;
    u64 *o = out + 8 * i;
    o[0] = x / y;
    o[1] = x % y;
    o[2] = (u64)((i64)x / (i64)(y >> 1 | 1));
    o[3] = (u64)((i64)x % (i64)(y >> 1 | 1));
    o[4] = (u64)(product >> 64);
    o[5] = (u64)product;
    o[6] = (u64)__builtin_clzll(y) << 32 | (u32)__builtin_popcountll(x) << 8 | (u32)__builtin_ctzll(y << 9);
    o[7] = (x << (y & 63)) ^ (u64)((i64)x >> (y >> 8 & 63));
}

__global__ void conversions(const i64 *in, u64 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    i64 x = in[i];
    double d = (double)x * 0.37;
    float f = (float)x;
    u64 *o = out + 6 * i;
    o[0] = __builtin_bit_cast(u64, (double)x);
    o[1] = __builtin_bit_cast(u32, f);
    o[2] = (u64)(i64)d;
    o[3] = __builtin_bit_cast(u32, (float)(u64)x);
    o[4] = __builtin_bit_cast(u64, (double)(u64)x);
    o[5] = __builtin_bit_cast(u16, (_Float16)(float)(i32)(x >> 44)) | (u64)(u8)(i32)(float)(x >> 57 & 255) << 32;
}

static __constant__ u32 round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};
static inline __device__ u32 right(u32 x, u32 by) { return x >> by | x << (32 - by); }

// SHA-256 of one block a lane: FIPS 180-4.
__global__ void sha256(const u32 *blocks, u32 *digests, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 w[64];
    for (u32 t = 0; t < 16; ++t) w[t] = blocks[i * 16 + t];
    for (u32 t = 16; t < 64; ++t)
        w[t] = (right(w[t - 2], 17) ^ right(w[t - 2], 19) ^ w[t - 2] >> 10) + w[t - 7]
             + (right(w[t - 15], 7) ^ right(w[t - 15], 18) ^ w[t - 15] >> 3) + w[t - 16];
    const u32 start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u32 s[8];
    for (u32 k = 0; k < 8; ++k) s[k] = start[k];
    for (u32 t = 0; t < 64; ++t) {
        u32 one = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6]))
                + round_constants[t] + w[t];
        u32 two = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (u32 k = 7; k > 0; --k) s[k] = s[k - 1];
        s[4] += one;
        s[0] = one + two;
    }
    for (u32 k = 0; k < 8; ++k) digests[i * 8 + k] = s[k] + start[k];
}

// CRC-32 of strings of different lengths.
__global__ void crc32(const u8 *text, const u32 *starts, u32 *out, u32 n) {
    u32 i = GLOBAL_X;
    if (i >= n) return;
    u32 crc = ~0u;
    for (u32 at = starts[i]; at < starts[i + 1]; ++at) {
        crc ^= text[at];
        for (u32 bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    out[i] = ~crc;
}
