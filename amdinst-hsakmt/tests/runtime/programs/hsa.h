/* What programs here need of the HSA API: the GPU, its kernels, packets, and waiting that ends. */
#pragma once
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        hsa_status_t status = (call);                                      \
        if (status != HSA_STATUS_SUCCESS) {                                \
            printf("%s: %#x\n", #call, status);                            \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static hsa_agent_t gpu;
static hsa_executable_t executable;

static inline double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

static hsa_status_t find_gpu(hsa_agent_t agent, void *data) {
    (void)data;
    hsa_device_type_t type;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
    gpu = agent;
    return HSA_STATUS_INFO_BREAK;
}

/* Begin, with the kernels of a code object's file. */
static inline void begin(const char *file) {
    hsa_code_object_reader_t reader;
    CHECK(hsa_init());
    if (hsa_iterate_agents(find_gpu, NULL) != HSA_STATUS_INFO_BREAK) printf("no GPU\n"), exit(1);
    CHECK(hsa_code_object_reader_create_from_file(open(file, O_RDONLY), &reader));
    CHECK(hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, NULL, &executable));
    CHECK(hsa_executable_load_agent_code_object(executable, gpu, reader, NULL, NULL));
    CHECK(hsa_executable_freeze(executable, NULL));
}

static inline uint64_t kernel(const char *name) {
    hsa_executable_symbol_t symbol;
    uint64_t object;
    CHECK(hsa_executable_get_symbol_by_name(executable, name, &gpu, &symbol));
    CHECK(hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    return object;
}

static hsa_status_t find_pool(hsa_amd_memory_pool_t pool, void *data) {
    hsa_amd_segment_t segment;
    uint32_t flags = 0;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if (!(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT)) return HSA_STATUS_SUCCESS;
    *(hsa_amd_memory_pool_t *)data = pool;
    return HSA_STATUS_INFO_BREAK;
}

static hsa_status_t find_host_memory(hsa_agent_t agent, void *data) {
    hsa_device_type_t type;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    return type == HSA_DEVICE_TYPE_CPU ? hsa_amd_agent_iterate_memory_pools(agent, find_pool, data) : HSA_STATUS_SUCCESS;
}

/* Zeroed memory of the host that the GPU sees, kernels' arguments included. */
static inline void *shared(size_t bytes) {
    static hsa_amd_memory_pool_t pool;
    void *memory;
    if (!pool.handle) hsa_iterate_agents(find_host_memory, &pool);
    CHECK(hsa_amd_memory_pool_allocate(pool, bytes, 0, &memory));
    CHECK(hsa_amd_agents_allow_access(1, &gpu, NULL, memory));
    return memset(memory, 0, bytes);
}

static inline hsa_queue_t *new_queue(uint32_t packets) {
    hsa_queue_t *queue;
    CHECK(hsa_queue_create(gpu, packets, HSA_QUEUE_TYPE_MULTI, NULL, NULL, UINT32_MAX, UINT32_MAX, &queue));
    return queue;
}

static hsa_signal_t signals[100];
static int signal_count;

static inline hsa_signal_t new_signal(hsa_signal_value_t value) {
    hsa_signal_t *signal = &signals[signal_count++];
    CHECK(hsa_signal_create(value, 0, NULL, signal));
    return *signal;
}

/* End. The queues have ended, or nothing is in them. */
static inline void finish(void) {
    while (signal_count) CHECK(hsa_signal_destroy(signals[--signal_count]));
    CHECK(hsa_shut_down());
}

/* Reserve a slot, waiting for room. */
static inline uint64_t reserve(hsa_queue_t *queue) {
    uint64_t number = hsa_queue_add_write_index_screlease(queue, 1);
    while (number - hsa_queue_load_read_index_scacquire(queue) >= queue->size) {
    }
    return number;
}

static inline void ring(hsa_queue_t *queue, uint64_t number) {
    hsa_signal_store_screlease(queue->doorbell_signal, (hsa_signal_value_t)number);
}

/* Fill a slot with all but its header, then that. */
static inline void put(hsa_queue_t *queue, uint64_t number, const void *packet) {
    unsigned char *slot = (unsigned char *)queue->base_address + 64 * (number % queue->size);
    memcpy(slot + 4, (const unsigned char *)packet + 4, 60);
    uint32_t header;
    memcpy(&header, packet, 4);
    __atomic_store_n((uint32_t *)slot, header, __ATOMIC_RELEASE);
}

static inline void put_dispatch(hsa_queue_t *queue, uint64_t number, uint64_t kernel, void *arguments, hsa_signal_t completion) {
    hsa_kernel_dispatch_packet_t packet = {.header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 2 << 9 | 2 << 11, .setup = 1};
    packet.workgroup_size_x = packet.grid_size_x = 64;
    packet.workgroup_size_y = packet.workgroup_size_z = packet.grid_size_y = packet.grid_size_z = 1;
    packet.kernel_object = kernel;
    packet.kernarg_address = arguments;
    packet.completion_signal = completion;
    put(queue, number, &packet);
}

/* A barrier packet for up to five signals: all of them, or one. */
static inline void put_barrier(hsa_queue_t *queue, uint64_t number, int all, int count, const hsa_signal_t *signals, hsa_signal_t completion) {
    hsa_barrier_and_packet_t packet = {.header = (all ? HSA_PACKET_TYPE_BARRIER_AND : HSA_PACKET_TYPE_BARRIER_OR) | 1 << 8};
    for (int i = 0; i < count; ++i) packet.dep_signal[i] = signals[i];
    packet.completion_signal = completion;
    put(queue, number, &packet);
}

/* Whether a signal becomes 0 within that many seconds. */
static inline int ends(hsa_signal_t signal, double limit) {
    for (double begin = seconds(); seconds() - begin < limit;)
        if (hsa_signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_EQ, 0, 1000000, HSA_WAIT_STATE_BLOCKED) == 0) return 1;
    return 0;
}
