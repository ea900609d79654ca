// Kernels of `tests/gemm.rs`.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i16v __attribute__((ext_vector_type(16)));
typedef int i8v __attribute__((ext_vector_type(8)));
typedef half h4 __attribute__((ext_vector_type(4)));
typedef half h8 __attribute__((ext_vector_type(8)));
typedef short s2 __attribute__((ext_vector_type(2)));
typedef short s4 __attribute__((ext_vector_type(4)));

// EACH elements of A and B a lane, tiles of TILE rows and columns and DEPTH.
#define GEMM(name, element, packed, each, TILE, DEPTH, result, accumulator, row_of, multiply) \
    __attribute__((reqd_work_group_size(64, 1, 1))) \
    kernel void name(global const element *a, global const element *b, global result *d) { \
        const int n = 64; \
        const int lane = __builtin_amdgcn_workitem_id_x(); \
        const int top = __builtin_amdgcn_workgroup_id_x() / (n / TILE) * TILE, left = __builtin_amdgcn_workgroup_id_x() % (n / TILE) * TILE; \
        const int at = lane % TILE, group = lane / TILE; \
        accumulator sum = 0; \
        for (int k = 0; k < n; k += DEPTH) { \
            union { element e[each]; packed p; } x, y; \
            for (int t = 0; t < each; t++) { \
                x.e[t] = a[(top + at) * n + k + group * each + t]; \
                y.e[t] = b[(k + group * each + t) * n + left + at]; \
            } \
            sum = multiply(x.p, y.p, sum, 0, 0, 0); \
        } \
        union { accumulator v; result e[sizeof(accumulator) / sizeof(result)]; } out; \
        out.v = sum; \
        for (int r = 0; r < sizeof(accumulator) / sizeof(result); r++) \
            d[(top + row_of) * n + left + at] = out.e[r]; \
    }
#define ROWS32 (r % 4 + 8 * (r / 4) + 4 * group)
#define ROWS16 (r + 4 * group)
#define ROWS16_DOUBLE (4 * r + group)

#if defined(__gfx908__) || defined(__gfx90a__)
GEMM(half_gemm, half, h4, 4, 32, 8, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x8f16)
GEMM(single_gemm, float, float, 1, 16, 4, float, f4, ROWS16, __builtin_amdgcn_mfma_f32_16x16x4f32)
GEMM(byte_gemm, char, int, 4, 32, 8, int, i16v, ROWS32, __builtin_amdgcn_mfma_i32_32x32x8i8)
#else
GEMM(single_gemm, float, float, 1, 16, 4, float, f4, ROWS16, __builtin_amdgcn_mfma_f32_16x16x4f32)
GEMM(byte_gemm, char, long, 8, 32, 16, int, i16v, ROWS32, __builtin_amdgcn_mfma_i32_32x32x16_i8)
GEMM(fp8_gemm, uchar, long, 8, 16, 32, float, f4, ROWS16, __builtin_amdgcn_mfma_f32_16x16x32_fp8_fp8)
#endif
#if defined(__gfx908__)
GEMM(bf16_gemm, short, s2, 2, 32, 4, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x4bf16)
#else
GEMM(bf16_gemm, short, s4, 4, 32, 8, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x8bf16_1k)
GEMM(double_gemm, double, double, 1, 16, 4, double, d4, ROWS16_DOUBLE, __builtin_amdgcn_mfma_f64_16x16x4f64)
#endif
#if defined(__gfx942__)
GEMM(half_gemm, half, h4, 4, 32, 8, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x8f16)
#endif
#if defined(__gfx950__)
GEMM(half_gemm, half, h8, 8, 32, 16, float, f16v, ROWS32, __builtin_amdgcn_mfma_f32_32x32x16_f16)
#endif
