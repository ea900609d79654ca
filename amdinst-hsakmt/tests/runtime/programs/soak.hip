/* Mixed work for as long as asked: launches on streams, memory that comes and goes, timer signals, forked children, and children whose
   kernels go wrong or are interrupted. Every result is compared with the host's. */
#include "hip.h"
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef unsigned u32;
enum { STREAMS = 3, MOST = 6000, BINS = 64, BLOCK = 128 };
#define LOCAL __builtin_amdgcn_workitem_id_x()

__global__ void affine(u32 *out, const u32 *in, u32 n, u32 factor) {
    u32 i = global_id();
    if (i < n) out[i] = in[i] * factor + i;
}
__global__ void steps(u32 *out, const u32 *in, u32 n) {
    u32 i = global_id();
    if (i >= n) return;
    u32 value = in[i] % 1000 + 1, count = 0;
    while (value != 1) {
        value = value & 1 ? 3 * value + 1 : value / 2;
        count++;
    }
    out[i] = count;
}
__global__ void histogram(u32 *bins, const u32 *in, u32 n) {
    u32 i = global_id();
    if (i < n) __atomic_fetch_add(&bins[in[i] % BINS], 1, __ATOMIC_RELAXED);
}
__global__ void sums(u32 *out, const u32 *in, u32 n) {
    __attribute__((shared)) static u32 tile[BLOCK];
    u32 i = global_id();
    tile[LOCAL] = i < n ? in[i] : 0;
    for (u32 half = BLOCK / 2; half > 0; half /= 2) {
        __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
        __builtin_amdgcn_s_barrier();
        if (LOCAL < half) tile[LOCAL] += tile[LOCAL + half];
    }
    if (LOCAL == 0) out[__builtin_amdgcn_workgroup_id_x()] = tile[0];
}
__global__ void stray(u32 *p) { p[1 << 20] = 1; }
__global__ void trap(u32 *p) {
    if (p[0] == 0) __builtin_trap();
}
__global__ void endless(volatile u32 *p) {
    while (p[0] == 0) {
    }
}

static u32 state = 1;
static u32 dice(u32 sides) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % sides;
}

/* One stream's work, and what the host makes of it. */
static u32 wrong_of(hipStream_t stream) {
    static u32 in[MOST], out[MOST], bins[BINS];
    u32 n = 1 + dice(MOST), factor = dice(1000), wrong = 0, groups = (n + BLOCK - 1) / BLOCK;
    u32 *from, *to, *counts;
    for (u32 i = 0; i < n; ++i) in[i] = dice(1 << 20);
    CHECK(hipMalloc((void **)&from, n * sizeof *from));
    CHECK(hipMalloc((void **)&to, n * sizeof *to));
    CHECK(hipMalloc((void **)&counts, sizeof bins));
    CHECK(hipMemcpyAsync(from, in, n * sizeof *in, hipMemcpyHostToDevice, stream));
    CHECK(hipMemsetAsync(counts, 0, sizeof bins, stream));
    affine<<<groups, BLOCK, 0, stream>>>(to, from, n, factor);
    CHECK(hipMemcpyAsync(out, to, n * sizeof *out, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));
    for (u32 i = 0; i < n; ++i) wrong += out[i] != in[i] * factor + i;
    steps<<<groups, BLOCK, 0, stream>>>(to, from, n);
    histogram<<<groups, BLOCK, 0, stream>>>(counts, from, n);
    CHECK(hipMemcpyAsync(out, to, n * sizeof *out, hipMemcpyDeviceToHost, stream));
    CHECK(hipMemcpyAsync(bins, counts, sizeof bins, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));
    for (u32 i = 0; i < n; ++i) {
        u32 value = in[i] % 1000 + 1, count = 0;
        for (; value != 1; ++count) value = value & 1 ? 3 * value + 1 : value / 2;
        wrong += out[i] != count;
        bins[in[i] % BINS]--;
    }
    for (u32 bin = 0; bin < BINS; ++bin) wrong += bins[bin] != 0;
    sums<<<groups, BLOCK, 0, stream>>>(to, from, n);
    CHECK(hipMemcpyAsync(out, to, groups * sizeof *out, hipMemcpyDeviceToHost, stream));
    CHECK(hipStreamSynchronize(stream));
    for (u32 group = 0; group < groups; ++group) {
        u32 sum = 0;
        for (u32 i = group * BLOCK; i < n && i < (group + 1) * BLOCK; ++i) sum += in[i];
        wrong += out[group] != sum;
    }
    CHECK(hipFree(from));
    CHECK(hipFree(to));
    CHECK(hipFree(counts));
    return wrong;
}

/* A process of its own whose kernel goes wrong; an endless one is interrupted. 1 if it ends otherwise than it must. */
static u32 child_with(const char *name, int end) {
    int pipes[2], status;
    char ready;
    if (pipe(pipes) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(9);
        /* A shell's job in the background ignores interrupts. */
        signal(SIGINT, SIG_DFL);
        execl("/proc/self/exe", "soak", name, (char *)NULL);
        _exit(9);
    }
    close(pipes[1]);
    while (read(pipes[0], &ready, 1) < 0) {
    }
    close(pipes[0]);
    if (end == SIGINT) {
        usleep(100000);
        kill(child, SIGINT);
    }
    while (waitpid(child, &status, 0) < 0) {
    }
    return !(WIFSIGNALED(status) && WTERMSIG(status) == end);
}

/* A copy of this process, which has nothing to do with the GPU. 1 if it does not end as it must. It ends without destructors: those of
   Debian's runtime stop a copy that gives memory back, whatever driver there is. */
static u32 plain_child(void) {
    int status;
    pid_t child = fork();
    if (child == 0) _exit(7);
    while (waitpid(child, &status, 0) < 0) {
    }
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static volatile sig_atomic_t ticks;
static void tick(int signal) {
    (void)signal;
    ticks++;
}

static long resident(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%*ld %ld", &pages) != 1) exit(4);
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int fault(const char *name) {
    u32 *p;
    CHECK(hipMalloc((void **)&p, 4096));
    CHECK(hipMemset(p, 0, 4096));
    if (!strcmp(name, "stray")) stray<<<1, 64>>>(p);
    if (!strcmp(name, "trap")) trap<<<1, 64>>>(p);
    if (!strcmp(name, "endless")) endless<<<1, 64>>>(p);
    putchar('r');
    fflush(stdout);
    CHECK(hipDeviceSynchronize());
    return 0;
}

int main(int count, char **words) {
    if (count != 2) return 2;
    double seconds = atof(words[1]);
    if (seconds <= 0) return fault(words[1]);
    struct sigaction action = {0};
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 3000}, {0, 3000}};
    setitimer(ITIMER_REAL, &often, NULL);
    hipStream_t streams[STREAMS];
    for (u32 s = 0; s < STREAMS; ++s) CHECK(hipStreamCreate(&streams[s]));
    double begin = now(), told = begin;
    u32 rounds = 0, wrong = 0, children = 0;
    long first = 0;
    while (now() - begin < seconds) {
        wrong += wrong_of(streams[rounds % STREAMS]);
        rounds++;
        if (rounds % 50 == 3) {
            CHECK(hipStreamDestroy(streams[0]));
            CHECK(hipStreamCreate(&streams[0]));
            wrong += plain_child();
            children++;
        }
        if (rounds % 200 == 5) {
            static const char *const names[] = {"stray", "trap", "endless"};
            u32 which = rounds / 200 % 3;
            wrong += child_with(names[which], which == 2 ? SIGINT : SIGABRT);
            children++;
        }
        /* What is taken once has been taken by then. */
        if (first == 0 && now() - begin > seconds / 10) first = resident();
        if (now() - told >= 60) {
            printf("%.0f s: %u rounds, %u children, %ld kB, %u wrong\n", now() - begin, rounds, children, resident(), wrong);
            fflush(stdout);
            told = now();
        }
    }
    printf("%u rounds, %u children, %s, %ld kB after a tenth of the time, %ld kB at the end, %u wrong\n", rounds, children,
           ticks > 0 ? "signals" : "no signals", first, resident(), wrong);
    return 0;
}
