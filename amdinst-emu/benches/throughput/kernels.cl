// The kernels of the throughput benchmark. `host.rs` has the same in Rust.

#define BARRIER \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup")

#define GLOBAL_ID (__builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x())

// The addition and subtraction that write no carry.
#ifdef __GFX9__
#define ADD "v_add_u32"
#define SUB "v_sub_u32"
#else
#define ADD "v_add_nc_u32"
#define SUB "v_sub_nc_u32"
#endif

// 32 VALU and 3 SALU instructions, exactly: 18 on integers (a comparison with its selection among them), 14 on floats
// (one conversion, four of them fused multiply-adds).
#define ALU_LOOP(n) \
    __asm__ volatile( \
        "s_mov_b32 s20, %[count]\n" \
        "loop%=:\n" \
        ADD " %[a], %[a], %[b]\n" \
        "v_xor_b32 %[b], %[b], %[a]\n" \
        "v_lshlrev_b32 %[t], 5, %[c]\n" \
        "v_lshrrev_b32 %[c], 3, %[c]\n" \
        "v_or_b32 %[c], %[c], %[t]\n" \
        "v_mul_lo_u32 %[d], %[d], %[a]\n" \
        ADD " %[d], 0x3c6ef35f, %[d]\n" \
        "v_lshl_add_u32 %[a], %[b], 2, %[a]\n" \
        "v_and_b32 %[t], %[a], %[d]\n" \
        ADD " %[b], %[b], %[t]\n" \
        "v_alignbit_b32 %[c], %[c], %[c], 7\n" \
        SUB " %[d], %[d], %[c]\n" \
        "v_cmp_gt_u32 " VCC ", %[a], %[d]\n" \
        "v_cndmask_b32 %[b], %[b], %[c], " VCC "\n" \
        "v_add3_u32 %[c], %[c], %[d], 1\n" \
        "v_bfe_u32 %[t], %[a], 8, 8\n" \
        "v_xor_b32 %[d], %[d], %[t]\n" \
        "v_min_u32 %[t], %[t], %[b]\n" \
        "v_cvt_f32_u32 %[x], %[t]\n" \
        "v_fma_f32 %[y], %[y], 0.5, %[x]\n" \
        "v_mul_f32 %[z], 0.5, %[z]\n" \
        "v_add_f32 %[z], %[z], %[y]\n" \
        "v_fmac_f32 %[w], %[x], %[y]\n" \
        "v_mul_f32 %[w], 0.5, %[w]\n" \
        "v_sub_f32 %[x], %[y], %[z]\n" \
        "v_max_f32 %[x], %[x], %[w]\n" \
        "v_fma_f32 %[z], %[z], 0.5, 1.0\n" \
        "v_add_f32 %[y], 1.0, %[y]\n" \
        "v_min_f32 %[y], %[y], %[w]\n" \
        "v_mul_f32 %[w], 0.5, %[w]\n" \
        "v_fma_f32 %[w], %[w], 0.5, %[x]\n" \
        "v_add_f32 %[x], %[x], %[z]\n" \
        "s_sub_u32 s20, s20, 1\n" \
        "s_cmp_lg_u32 s20, 0\n" \
        "s_cbranch_scc1 loop%=\n" \
        : [a] "+v"(a), [b] "+v"(b), [c] "+v"(c), [d] "+v"(d), [t] "+v"(t), [x] "+v"(x), [y] "+v"(y), [z] "+v"(z), \
          [w] "+v"(w) \
        : [count] "s"(__builtin_amdgcn_readfirstlane(n)) \
        : "s20", "vcc", "scc")

#define ALU_STATE(id) \
    uint a = (id), b = (id) * 3, c = 7, d = 1, t = 0; \
    float x = 0, y = 1, z = 2, w = 3

#define ALU_RESULT (a ^ b ^ c ^ d ^ as_uint(x) ^ as_uint(y) ^ as_uint(z) ^ as_uint(w))

kernel void alu(global uint *out, uint n) {
    uint id = GLOBAL_ID;
    ALU_STATE(id);
    ALU_LOOP(n);
    out[id] = ALU_RESULT;
}

// The same with every third work-item inactive.
kernel void alu_partial(global uint *out, uint n) {
    uint id = GLOBAL_ID;
    ALU_STATE(id);
    if (id % 3 != 0) ALU_LOOP(n);
    out[id] = ALU_RESULT;
}

kernel void vector_add(global const float *a, global const float *b, global float *out, uint n) {
    uint id = GLOBAL_ID;
    if (id < n) out[id] = a[id] + b[id];
}

// Steps until 1 is reached, from the work-item's number on.
kernel void collatz(global uint *out, uint n) {
    uint id = GLOBAL_ID;
    uint value = id + 1, steps = 0;
    while (value != 1) {
        value = value & 1 ? 3 * value + 1 : value / 2;
        ++steps;
    }
    out[id] = steps;
}

// Tiles of 32 x 32 through LDS, by workgroups of 32 x 8; n is a multiple of 32. A column of padding, as is customary.
kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void transpose(global const uint *in, global uint *out, uint n) {
    local uint tile[32][33];
    uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    uint column = __builtin_amdgcn_workgroup_id_x() * 32, row = __builtin_amdgcn_workgroup_id_y() * 32;
    for (uint i = 0; i < 32; i += 8) tile[y + i][x] = in[(row + y + i) * n + column + x];
    BARRIER;
    for (uint i = 0; i < 32; i += 8) out[(column + y + i) * n + row + x] = tile[x][y + i];
}

// Square matrices, tiles of 16 x 16 in LDS; n is a multiple of 16.
kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void matmul(global const float *a, global const float *b, global float *out, uint n) {
    local float left[16][16], right[16][16];
    uint x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
    uint column = __builtin_amdgcn_workgroup_id_x() * 16 + x, row = __builtin_amdgcn_workgroup_id_y() * 16 + y;
    float sum = 0;
    for (uint k = 0; k < n; k += 16) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + column];
        BARRIER;
        for (uint i = 0; i < 16; ++i) sum += left[y][i] * right[i][x];
        __builtin_amdgcn_s_barrier();
    }
    out[row * n + column] = sum;
}

#ifdef __gfx90a__
// Square matrices by v_mfma_f32_16x16x4f32, a wave for each 16 x 16 tile; n is a multiple of 16.
kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void mfma_gemm(global const float *a, global const float *b, global float *out, uint n) {
    uint lane = __builtin_amdgcn_workitem_id_x(), inner = lane / 16, outer = lane % 16;
    uint column = __builtin_amdgcn_workgroup_id_x() * 16, row = __builtin_amdgcn_workgroup_id_y() * 16;
    float4 sum = 0;
    for (uint k = 0; k < n; k += 4) {
        float left = a[(row + outer) * n + k + inner], right = b[(k + inner) * n + column + outer];
        sum = __builtin_amdgcn_mfma_f32_16x16x4f32(left, right, sum, 0, 0, 0);
    }
    for (uint i = 0; i < 4; ++i) out[(row + 4 * inner + i) * n + column + outer] = sum[i];
}
#endif

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

// Halves, one a register and two: 6 operations on single ones and conversions, 4 on pairs.
kernel void half_alu(global uint *out, uint n) {
    uint id = GLOBAL_ID;
    half a = (half)(id & 63), b = 1;
    half2 p = (half2)(a, b), q = (half2)(2, (half)0.25f);
    for (uint i = 0; i < n; i++) {
        a = __builtin_elementwise_fma(a, (half)0.5f, b);
        b = b * (half)0.75f;
        b = b + a;
        b = __builtin_elementwise_min(b, (half)3);
        p = __builtin_elementwise_fma(p, (half2)(half)0.5f, q);
        q = q * p;
        q = q + (half2)(half)0.125f;
        q = __builtin_elementwise_min(q, (half2)2);
        a = (half)((float)a * 0.5f + (float)q.x);
    }
    out[id] = as_uint(p) ^ as_uint(q) ^ as_ushort(a) ^ (uint)as_ushort(b) << 16;
}

// A half a work-item, read and written by itself.
kernel void half_axpy(global const half *x, global const half *y, global half *out, uint n) {
    uint id = GLOBAL_ID;
    if (id < n) out[id] = __builtin_elementwise_fma(x[id], (half)3, y[id]);
}

// Elements from places that are not side by side.
kernel void gather(global const float *in, global const uint *places, global float *out, uint n) {
    uint id = GLOBAL_ID;
    if (id < n) out[id] = in[places[id]];
}

// The smallest number of those with one key, by atomics in device memory. (To run it twice is to run it once.)
kernel void smallest_of_key(global const uint *keys, global const uint *numbers, global uint *out, uint n) {
    uint id = GLOBAL_ID;
    if (id < n) __opencl_atomic_fetch_min((global atomic_uint *)&out[keys[id]], numbers[id], memory_order_relaxed, memory_scope_device);
}

// Bodies in a plane, in doubles: each pulls at each. A row of `in` is x, y, mass; the result is the acceleration's x.
kernel void n_body(global const double *in, global double *out, uint n) {
    uint id = GLOBAL_ID;
    double x = in[3 * id], y = in[3 * id + 1], pull = 0;
    for (uint other = 0; other < n; ++other) {
        double dx = in[3 * other] - x, dy = in[3 * other + 1] - y;
        double square = __builtin_fma(dx, dx, __builtin_fma(dy, dy, 0.0625));
        double distance = __builtin_sqrt(square);
        pull = __builtin_fma(dx, in[3 * other + 2] / (square * distance), pull);
    }
    out[id] = pull;
}

// A row of 256 numbers a workgroup: 2 to the power of each less the largest, over the sum of those.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void softmax(global const float *in, global float *out, uint n) {
    local float shared[256];
    uint lane = __builtin_amdgcn_workitem_id_x(), id = GLOBAL_ID;
    float number = in[id];
    shared[lane] = number;
    for (uint half_way = 128; half_way > 0; half_way /= 2) {
        BARRIER;
        if (lane < half_way) shared[lane] = __builtin_fmaxf(shared[lane], shared[lane + half_way]);
    }
    BARRIER;
    float power = __builtin_amdgcn_exp2f(number - shared[0]);
    BARRIER;
    shared[lane] = power;
    for (uint half_way = 128; half_way > 0; half_way /= 2) {
        BARRIER;
        if (lane < half_way) shared[lane] += shared[lane + half_way];
    }
    BARRIER;
    out[id] = power * __builtin_amdgcn_rcpf(shared[0]);
}

// Fourier transforms of 256 complex numbers a workgroup, in LDS: eight rounds of butterflies, 128 work-items. `turns` has the powers of
// the 256th root of one.
kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void fft(global const float2 *in, global const float2 *turns, global float2 *out, uint n) {
    local float2 points[256];
    uint lane = __builtin_amdgcn_workitem_id_x(), first = __builtin_amdgcn_workgroup_id_x() * 256;
    for (uint at = lane; at < 256; at += 128) points[at] = in[first + (__builtin_bitreverse32(at) >> 24)];
    for (uint width = 1; width < 256; width *= 2) {
        BARRIER;
        uint within = lane & (width - 1), low = 2 * (lane - within) + within, high = low + width;
        float2 turn = turns[within * (128 / width)], a = points[low], b = points[high];
        float2 turned = (float2)(b.x * turn.x - b.y * turn.y, b.x * turn.y + b.y * turn.x);
        points[low] = a + turned;
        points[high] = a - turned;
    }
    BARRIER;
    for (uint at = lane; at < 256; at += 128) out[first + at] = points[at];
}

#ifdef __GFX11__
// Square matrices of halves by v_wmma_f32_16x16x16_f16, a wave for each 16 x 16 tile; n is a multiple of 16. The second is there by columns.
kernel void wmma_gemm(global const half *a, global const half *b, global float *out, uint n) {
    typedef half half16_t __attribute__((ext_vector_type(16)));
#if LANES == 32
    typedef float sums_t __attribute__((ext_vector_type(8)));
#define WMMA __builtin_amdgcn_wmma_f32_16x16x16_f16_w32
#define SUMS 8
#else
    typedef float sums_t __attribute__((ext_vector_type(4)));
#define WMMA __builtin_amdgcn_wmma_f32_16x16x16_f16_w64
#define SUMS 4
#endif
    uint lane = __builtin_amdgcn_workitem_id_x(), inner = lane % 16;
    uint column = __builtin_amdgcn_workgroup_id_x() * 16, row = __builtin_amdgcn_workgroup_id_y() * 16;
    sums_t sum = 0;
    for (uint k = 0; k < n; k += 16) {
        half16_t left = *(global const half16_t *)(a + (row + inner) * n + k);
        half16_t right = *(global const half16_t *)(b + (column + inner) * n + k);
        sum = WMMA(left, right, sum);
    }
    for (uint i = 0; i < SUMS; ++i) out[(row + (16 / SUMS) * i + lane / 16) * n + column + inner] = sum[i];
}
#endif
