/* Cooperative launches: workgroups that ask for each other, barriers of the grid, one that does not come, and more than there is room for. */
#include <string.h>
#include "hip.h"
#define A(x) __hip_atomic_##x
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define ITEM __builtin_amdgcn_workitem_id_x()

__global__ void together(unsigned *count, unsigned *out, unsigned groups) {
    if (ITEM == 0) {
        A(fetch_add)(count, 1u, __ATOMIC_ACQ_REL, __HIP_MEMORY_SCOPE_AGENT);
        while (A(load)(count, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) != groups) __builtin_amdgcn_s_sleep(1);
        out[GROUP] = A(load)(count, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    }
}

/* As grid.sync() does. */
static __device__ void meet(unsigned groups) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    __builtin_amdgcn_s_barrier();
    if (ITEM == 0) __builtin_amdgcn_ds_gws_barrier(groups - 1, 0);
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

__global__ void rounds(unsigned *count, unsigned *out, unsigned groups) {
    for (unsigned round = 0; round < 100; round++) {
        unsigned neighbour = out[(GROUP + 1) % groups];
        meet(groups);
        if (ITEM == 0) out[GROUP] = neighbour + 1;
        meet(groups);
    }
}

__global__ void misses(unsigned *count, unsigned *out, unsigned groups) { if (GROUP) meet(groups); }

int main(int argc, char **argv) {
    unsigned *count, *out, host[64], groups = argc > 2 ? atoi(argv[2]) : 4;
    const void *kernel = !strcmp(argv[1], "rounds") ? (const void *)rounds : !strcmp(argv[1], "misses") ? (const void *)misses : (const void *)together;
    CHECK(hipMalloc((void **)&count, 4));
    CHECK(hipMalloc((void **)&out, sizeof host));
    for (int launch = 0; launch < 2; launch++) {
        CHECK(hipMemset(count, 0, 4));
        CHECK(hipMemset(out, 0, sizeof host));
        void *args[] = {&count, &out, &groups};
        CHECK(hipLaunchCooperativeKernel(kernel, dim3(groups), dim3(64), args, 0, 0));
        CHECK(hipDeviceSynchronize());
        CHECK(hipMemcpy(host, out, sizeof host, hipMemcpyDeviceToHost));
        for (unsigned group = 0; group < groups; group++) printf("%u ", host[group]);
        puts("");
    }
    return 0;
}
