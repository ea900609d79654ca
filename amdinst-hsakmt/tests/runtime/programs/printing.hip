/* Variables that Rust kernels share with whoever launches them, as `amdinst_format::printed` and `heap` describe them: a kernel adds lines
   to the one, and counts what it takes of the other. */
#include "hip.h"

extern "C" {
__attribute__((device, used, visibility("protected"))) unsigned __amdinst_printed[2 + 16384];
__attribute__((device, used, visibility("protected"), aligned(16))) unsigned long __amdinst_heap[4];
}

/* The first work-item of each workgroup prints which one it is and how many bytes it found taken; or it goes astray then. */
__global__ void tell(unsigned *astray) {
    if (__builtin_amdgcn_workitem_id_x() != 0) return;
    unsigned long taken = __atomic_fetch_add(__amdinst_heap, 16, __ATOMIC_RELAXED);
    unsigned begin = __atomic_fetch_add(&__amdinst_printed[0], 28 + 8, __ATOMIC_RELAXED);
    unsigned *line = &__amdinst_printed[2 + begin / 4];
    line[0] = 7;
    line[1] = __builtin_amdgcn_workgroup_id_x();
    line[2] = line[3] = line[4] = line[5] = line[6] = 0;
    /* "taken " and a digit. */
    line[7] = 0x656b6174;
    line[8] = 0x00206e | (unsigned)('0' + taken / 16) << 16;
    if (astray) *astray = 1;
}

int main(int count, char **arguments) {
    CHECK(hipSetDevice(0));
    for (int i = 0; i < 2; ++i) {
        tell<<<1, 64>>>(NULL);
        CHECK(hipDeviceSynchronize());
        puts("launched");
        fflush(stdout);
    }
    tell<<<2, 64>>>(count > 1 ? (unsigned *)4096 : NULL);
    CHECK(hipDeviceSynchronize());
    return 0;
}
