// Kernels of `tests/timing/vector_cache.rs`.
#define X __builtin_amdgcn_workitem_id_x()
kernel __attribute__((amdgpu_flat_work_group_size(256, 256)))
void sum(global float4 *out, global const float4 *in, ulong rounds, ulong step, ulong passes) {
    float4 sum = 0;
    for (ulong pass = 0; pass < passes; pass++) {
        global const float4 *p = in + X;
        #pragma unroll 32
        for (ulong round = 0; round < rounds; round++) {
            p += step;
            sum += *p;
            sum *= 1.3f;
        }
    }
    if (sum.x == 1233.0f) out[X] = sum;
}
kernel __attribute__((amdgpu_flat_work_group_size(1024, 1024)))
void strided(global float *out, global const float *in, ulong rounds, ulong zero, ulong stride) {
    float sum = 0;
    in += (X % 64) * stride;
    for (ulong n = 0; n < rounds; n++) {
        in += zero;
        sum += in[0] * in[4];
        sum += in[8] * in[12];
        sum += in[20] * in[16];
        sum += in[24] * in[28];
    }
    if (sum == 123123.23f) out[X] = sum;
}
