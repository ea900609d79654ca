/* A kernel that calls a function by its address, which another code object tells: as load and store callbacks of rocFFT do. One program is
   compiled three times: with FUNCTION and with KERNEL for the device, to a file each, and without either for the host. */
#include "hip.h"
typedef float (*function)(float);
#if defined FUNCTION
__device__ __attribute__((noinline)) float twice(float x) { return 2 * x; }
extern "C" __device__ function table = twice;
#elif defined KERNEL
extern "C" __global__ void call(float *out, function f) {
    unsigned i = __builtin_amdgcn_workitem_id_x();
    out[i] = f(i);
}
#else
int main(int argc, char **argv) {
    hipModule_t functions, kernels;
    CHECK(hipModuleLoad(&kernels, argv[1]));
    hipFunction_t call;
    CHECK(hipModuleGetFunction(&call, kernels, "call"));
    float *out, host[64];
    CHECK(hipMalloc((void **)&out, sizeof host));
    for (int round = 0; round < 2; round++) {
        /* It may be at another address the second time. */
        CHECK(hipModuleLoad(&functions, argv[2]));
        hipDeviceptr_t table;
        size_t size;
        CHECK(hipModuleGetGlobal(&table, &size, functions, "table"));
        function f;
        CHECK(hipMemcpy(&f, table, sizeof f, hipMemcpyDeviceToHost));
        void *args[] = {&out, &f};
        CHECK(hipModuleLaunchKernel(call, 1, 1, 1, 64, 1, 1, 0, 0, args, 0));
        CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
        printf("%g %g\n", host[1], host[63]);
        CHECK(hipModuleUnload(functions));
    }
    return 0;
}
#endif
