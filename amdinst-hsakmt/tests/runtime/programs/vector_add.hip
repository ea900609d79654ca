/* Adds two vectors on each device, then scales what lies in memory that the host has pinned. */
#include "hip.h"

__global__ void add(const float *a, const float *b, float *c, unsigned n) {
    unsigned i = global_id();
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void scale(int *pinned, unsigned n) {
    unsigned i = global_id();
    if (i < n) pinned[i] *= 3;
}

int main(void) {
    int devices;
    CHECK(hipGetDeviceCount(&devices));
    for (int device = 0; device < devices; ++device) {
        hipDeviceProp_t properties;
        CHECK(hipSetDevice(device));
        CHECK(hipGetDeviceProperties(&properties, device));
        printf("%s, %s, %d CUs, memory %zu\n", properties.name, properties.gcnArchName, properties.multiProcessorCount,
               properties.totalGlobalMem);
        const unsigned n = 100003, bytes = n * sizeof(float);
        float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *c = (float *)malloc(bytes);
        for (unsigned i = 0; i < n; ++i) a[i] = i, b[i] = 2.0f * i;
        float *da, *db, *dc;
        CHECK(hipMalloc((void **)&da, bytes));
        CHECK(hipMalloc((void **)&db, bytes));
        CHECK(hipMalloc((void **)&dc, bytes));
        CHECK(hipMemcpy(da, a, bytes, hipMemcpyHostToDevice));
        CHECK(hipMemcpy(db, b, bytes, hipMemcpyHostToDevice));
        add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
        CHECK(hipGetLastError());
        CHECK(hipMemcpy(c, dc, bytes, hipMemcpyDeviceToHost));
        int *pinned = (int *)malloc(1000 * sizeof(int)), *mapped, wrong = 0;
        for (int i = 0; i < 1000; ++i) pinned[i] = i;
        CHECK(hipHostRegister(pinned, 1000 * sizeof(int), hipHostRegisterMapped));
        CHECK(hipHostGetDevicePointer((void **)&mapped, pinned, 0));
        scale<<<4, 256>>>(mapped, 1000);
        CHECK(hipDeviceSynchronize());
        CHECK(hipHostUnregister(pinned));
        for (unsigned i = 0; i < n; ++i) wrong += c[i] != 3.0f * i;
        for (int i = 0; i < 1000; ++i) wrong += pinned[i] != 3 * i;
        printf("%d wrong\n", wrong);
        CHECK(hipFree(da));
        CHECK(hipFree(db));
        CHECK(hipFree(dc));
    }
    return 0;
}
