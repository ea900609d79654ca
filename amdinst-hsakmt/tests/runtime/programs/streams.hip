/* A thousand launches on four streams, which wait for each other's events, and the time of one between two events. */
#include "hip.h"

__global__ void add(unsigned *p, unsigned n) {
    unsigned i = global_id();
    if (i < n) p[i] += i;
}

int main(void) {
    enum { STREAMS = 4, LAUNCHES = 250, N = 1000 };
    hipStream_t streams[STREAMS];
    hipEvent_t events[STREAMS], start, end;
    unsigned *memory[STREAMS], host[N], wrong = 0;
    for (int s = 0; s < STREAMS; ++s) {
        CHECK(hipStreamCreate(&streams[s]));
        CHECK(hipEventCreate(&events[s]));
        CHECK(hipMalloc((void **)&memory[s], sizeof host));
        CHECK(hipMemsetAsync(memory[s], 0, sizeof host, streams[s]));
    }
    for (int launch = 0; launch < LAUNCHES; ++launch)
        for (int s = 0; s < STREAMS; ++s) {
            add<<<(N + 63) / 64, 64, 0, streams[s]>>>(memory[s], N);
            if (launch % 50 == 0) {
                CHECK(hipEventRecord(events[s], streams[s]));
                CHECK(hipStreamWaitEvent(streams[(s + 1) % STREAMS], events[s], 0));
            }
        }
    for (int s = 0; s < STREAMS; ++s) {
        CHECK(hipMemcpyAsync(host, memory[s], sizeof host, hipMemcpyDeviceToHost, streams[s]));
        CHECK(hipStreamSynchronize(streams[s]));
        for (unsigned i = 0; i < N; ++i) wrong += host[i] != i * LAUNCHES;
    }
    float milliseconds = -1;
    CHECK(hipEventCreate(&start));
    CHECK(hipEventCreate(&end));
    CHECK(hipEventRecord(start, streams[0]));
    add<<<1, 64, 0, streams[0]>>>(memory[0], N);
    CHECK(hipEventRecord(end, streams[0]));
    CHECK(hipEventSynchronize(end));
    CHECK(hipEventElapsedTime(&milliseconds, start, end));
    printf("%u wrong, time %s\n", wrong, milliseconds >= 0 && milliseconds < 60000 ? "is plausible" : "is not");
    return 0;
}
