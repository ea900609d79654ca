/* A loop that the line table has at line 2 of the file SHOWN, and its body at line 4. */
#include "hip.h"

__global__ void halve(unsigned *p) {
    unsigned i = global_id();
    unsigned x = p[i];
#line 2 SHOWN
    while (x > 1) {
#line 4 SHOWN
        x = x >> 1;
#line 2 SHOWN
    }
    p[i] = x;
}

int main(void) {
    unsigned *p;
    CHECK(hipMalloc((void **)&p, 4 * 64));
    CHECK(hipMemset(p, 1, 4 * 64));
    halve<<<1, 64>>>(p);
    CHECK(hipDeviceSynchronize());
    return 0;
}
