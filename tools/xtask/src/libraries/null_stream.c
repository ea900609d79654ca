// HIP 5.2 of Debian 12 dereferences the null stream in these two. Later versions take it for the device's own stream, and Debian 13's
// libraries pass it. It is loaded before the runtime.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int hipMalloc(void **memory, size_t size);
int hipFree(void *memory);

int hipMallocAsync(void **memory, size_t size, void *stream) {
    if (!stream)
        return hipMalloc(memory, size);
    int (*runtime)(void **, size_t, void *) = dlsym(RTLD_NEXT, "hipMallocAsync");
    return runtime(memory, size, stream);
}

int hipFreeAsync(void *memory, void *stream) {
    if (!stream)
        return hipFree(memory);
    int (*runtime)(void *, void *) = dlsym(RTLD_NEXT, "hipFreeAsync");
    return runtime(memory, stream);
}
