/* A loop that ends at a different time in each lane and in each wave, and a branch that half of the lanes take. */
#include "hip.h"

__global__ void branches(unsigned *p) {
    unsigned i = global_id();
    if (i % 2 == 0) p[i] = 1;
    for (unsigned k = 0; k < i % 8 + i / 64; ++k) p[i] += p[i] * k + 1;
}

int main(void) {
    unsigned *p;
    CHECK(hipMalloc((void **)&p, 4 * 256));
    CHECK(hipMemset(p, 0, 4 * 256));
    for (int launch = 0; launch < 3; ++launch) branches<<<4, 64>>>(p);
    CHECK(hipDeviceSynchronize());
    return 0;
}
