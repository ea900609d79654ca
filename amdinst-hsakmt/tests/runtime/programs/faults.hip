/* Kernels that go wrong, by name. */
#include "hip.h"
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

__global__ void stray(int *p) { p[1 << 20] = 1; }
__global__ void host(int *p, const int *of_host) { p[0] = *of_host; }
__global__ void endless(volatile int *p) {
    while (p[0] == 0) {
    }
}
__global__ void trap(int *p) {
    if (p[0] == 0) __builtin_trap();
}

__global__ void slow(unsigned *p) {
    for (unsigned i = 0; i < 1000000; ++i) p[0] = p[0] * 3 + 1;
}

#define LOCAL __builtin_amdgcn_workitem_id_x()
/* What hardware lets pass. */
__global__ void race(int *p) {
    __attribute__((shared)) static volatile int tile[128];
    tile[LOCAL] = LOCAL;
    p[LOCAL] = tile[127 - LOCAL];
}
__global__ void barrier(int *p) {
    if (LOCAL < 100) __builtin_amdgcn_s_barrier();
    p[LOCAL] = 1;
}
__global__ void beyond(int *p) {
    __attribute__((shared)) static volatile int tile[128];
    tile[LOCAL] = LOCAL;
    p[LOCAL] = tile[1000 + p[0]];
}
__global__ void early(int *p) {
#ifdef __AMDGCN__
    int x;
    __asm__ volatile("global_load_dword %0, %1, off" : "=v"(x) : "v"(p + LOCAL));
    p[LOCAL] = 3 * x;
#endif
}

/* Registered before HIP is used, so it runs after whatever HIP has registered: as a destructor of a global object does. */
static unsigned *late_memory;
static void late(void) {
    unsigned value = 0;
    CHECK(hipMemcpy(&value, late_memory, sizeof value, hipMemcpyDeviceToHost));
    printf("late: %u\n", value);
}

/* A forked process has none of the kernels, whatever runs: it need not wait for them when it ends. */
static void fork_and_wait(void) {
    int late = 0, ill = 0, status;
    /* On a busy machine one of them may be late. */
    for (int i = 0; i < 3; ++i) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        if (fork() == 0) exit(7);
        wait(&status);
        ill += !(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        clock_gettime(CLOCK_MONOTONIC, &end);
        late += end.tv_sec - begin.tv_sec >= 2;
    }
    printf("forked: %s%s\n", late < 3 ? "at once" : "late", ill ? ", with another status" : "");
    fflush(stdout);
}

static void handler(int signal) {
    (void)signal;
    _exit(3);
}

int main(int count, char **names) {
    int *p, on_stack = 3;
    if (count != 2) return 2;
    const char *name = names[1];
    if (!strcmp(name, "handler")) signal(SIGINT, handler);
    if (!strcmp(name, "late")) atexit(late);
    CHECK(hipMalloc((void **)&p, 4096));
    CHECK(hipMemset(p, 0, 4096));
    printf("ready\n");
    fflush(stdout);
    if (!strcmp(name, "stray")) stray<<<1, 64>>>(p);
    if (!strcmp(name, "host")) host<<<1, 64>>>(p, &on_stack);
    if (!strcmp(name, "endless") || !strcmp(name, "handler") || !strcmp(name, "leave") || !strcmp(name, "forked"))
        endless<<<1, 64>>>(p);
    if (!strcmp(name, "trap")) trap<<<1, 64>>>(p);
    if (!strcmp(name, "race")) race<<<1, 128>>>(p);
    if (!strcmp(name, "barrier")) barrier<<<1, 128>>>(p);
    if (!strcmp(name, "beyond")) {
        beyond<<<1, 64>>>(p);
        beyond<<<2, 64>>>(p);
    }
    if (!strcmp(name, "early")) {
        early<<<1, 64>>>(p);
        early<<<1, 64>>>(p);
    }
    if (!strcmp(name, "large")) stray<<<1, 2048>>>(p);
    CHECK(hipGetLastError());
    if (!strcmp(name, "late")) {
        late_memory = (unsigned *)p;
        slow<<<1, 1>>>(late_memory);
        return 0;
    }
    if (!strcmp(name, "leave")) {
        usleep(200000);
        return 0;
    }
    if (!strcmp(name, "forked")) {
        usleep(200000);
        fork_and_wait();
        _exit(0);
    }
    CHECK(hipDeviceSynchronize());
    printf("ended well\n");
    return 0;
}
