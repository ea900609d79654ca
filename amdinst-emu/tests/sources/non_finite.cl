// NaNs and infinities: in pairs, one kernel that makes one of numbers and stores what comes of it, and one
// that does not. `x` has 64 numbers: element i is i, as a float.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define GID __builtin_amdgcn_workitem_id_x()
#define INFINITY __builtin_inff()
#define exp __builtin_expf
#define log __builtin_logf
#define sqrt __builtin_sqrtf
#define fabs __builtin_fabsf
#define fmax __builtin_fmaxf
#define as_float(bits) __builtin_astype(bits, float)
#define as_uint(number) __builtin_astype(number, unsigned)
#define as_int(number) __builtin_astype(number, int)
typedef half half2_t __attribute__((ext_vector_type(2)));
#define BARRIER                                                \
    do {                                                       \
        __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
        __builtin_amdgcn_s_barrier();                          \
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
    } while (0)

kernel void zero_by_zero(global float *out, global const float *x) { out[GID] = x[GID] / (x[GID] * 0.0f); }
kernel void zero_by_zero_mended(global float *out, global const float *x)
{
    float divisor = x[GID] * 0.0f;
    out[GID] = divisor == 0.0f ? 0.0f : x[GID] / divisor;
}

// A softmax without the maximum, of numbers up to 63 * 4.
kernel void softmax(global float *out, global const float *x)
{
    float sum = 0.0f;
    for (int i = 0; i < 64; i++)
        sum += exp(4.0f * x[i]);
    out[GID] = exp(4.0f * x[GID]) / sum;
}
kernel void softmax_mended(global float *out, global const float *x)
{
    float sum = 0.0f;
    for (int i = 0; i < 64; i++)
        sum += exp(4.0f * (x[i] - x[63]));
    out[GID] = exp(4.0f * (x[GID] - x[63])) / sum;
}

kernel void root(global float *out, global const float *x) { out[GID] = sqrt(x[GID] - 32.0f); }
// A root of zero has NaNs on its way, and so has a quotient of an infinity.
kernel void root_mended(global float *out, global const float *x) { out[GID] = sqrt(fabs(x[GID] - 32.0f)); }

kernel void logarithm(global float *out, global const float *x) { out[GID] = log(x[GID]); }
kernel void logarithm_mended(global float *out, global const float *x) { out[GID] = log(x[GID] + 1.0f); }

kernel void narrowed(global half *out, global const float *x) { out[GID] = (half)(x[GID] * 2000.0f); }
kernel void narrowed_mended(global half *out, global const float *x) { out[GID] = (half)(x[GID] * 1000.0f); }

kernel void packed(global half2_t *out, global const float *x)
{
    half2_t both = {(half)(x[GID] * 1000.0f), (half)1.0f};
    out[GID] = both + both;
}
kernel void packed_mended(global half2_t *out, global const float *x)
{
    half2_t both = {(half)(x[GID] * 500.0f), (half)1.0f};
    out[GID] = both + both;
}

kernel void in_double(global double *out, global const float *x) { out[GID] = 1.0 / (double)(x[GID] - 7.0f); }
kernel void in_double_mended(global double *out, global const float *x)
{
    out[GID] = 1.0 / (double)(x[GID] + 7.0f);
}

// Through LDS, to another work-item.
kernel void through_lds(global float *out, global const float *x)
{
    local float tile[64];
    tile[GID] = 1.0f / x[GID];
    BARRIER;
    out[GID] = tile[63 - GID] * 2.0f;
}
// The element is read by nobody.
kernel void through_lds_mended(global float *out, global const float *x)
{
    local float tile[64];
    tile[GID] = 1.0f / x[GID];
    BARRIER;
    out[GID] = tile[63 - GID / 2] * 2.0f;
}

// Through private memory, by an index.
kernel void through_scratch(global float *out, global const float *x)
{
    float mine[16];
    for (int i = 0; i < 16; i++)
        mine[i] = 1.0f / (x[i] - 5.0f);
    out[GID] = mine[(int)x[GID] & 15];
}
kernel void through_scratch_mended(global float *out, global const float *x)
{
    float mine[16];
    for (int i = 0; i < 16; i++)
        mine[i] = 1.0f / (x[i] - 5.0f);
    out[GID] = mine[(int)x[GID] & 3];
}

// Of infinities, which are the program's own.
kernel void masked(global float *out, global const float *x)
{
    float score = x[GID] > 100.0f ? x[GID] : -INFINITY;
    out[GID] = score - fmax(-INFINITY, score);
}
kernel void masked_mended(global float *out, global const float *x)
{
    float score = x[GID] > 100.0f ? x[GID] : -INFINITY;
    out[GID] = score == -INFINITY ? 0.0f : score - fmax(-INFINITY, score);
}

// What is in the buffer is the host's.
kernel void passed_on_mended(global float *out, global const float *x)
{
    float given = as_float(0x7f800000u | (as_uint(x[GID]) >> 31));
    out[GID] = given + 1.0f;
}
// An infinity that a quotient makes zero of, and integers that look like NaNs.
kernel void gone_mended(global float *out, global const float *x)
{
    out[GID] = x[GID] / (1.0f / (x[0] * 0.0f)) + (as_int(x[GID]) == -1 ? 1.0f : 0.0f);
}
