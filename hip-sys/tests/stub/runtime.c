/* A HIP runtime without a GPU: what the versions differ in, and memory of the host's for that of a device.
   VERSION is its HIP_VERSION. Which of the two functions describe a device is up to OLD and NEW, the target each one names. */
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_DEVICE = 101, NO_BINARY = 209 };
#ifndef DEVICES
#define DEVICES 1
#endif

/* The structures: their sizes, and where the target's name stands (hip_deprecated.h and hip_runtime_api.h of HIP 6). Whatever
   else they hold is no text. */
#ifdef OLD
int hipGetDeviceProperties(char *properties, int device) {
    if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
    memset(properties, 0xaa, 792);
    strcpy(properties + 396, OLD);
    return SUCCESS;
}
#endif
#ifdef NEW
int hipGetDevicePropertiesR0600(char *properties, int device) {
    if (device < 0 || device >= DEVICES) return INVALID_DEVICE;
    memset(properties, 0xaa, 1472);
    strcpy(properties + 1160, NEW);
    return SUCCESS;
}
#endif
#ifdef VERSION
int hipRuntimeGetVersion(int *version) { return *version = VERSION, SUCCESS; }
#endif

int hipInit(unsigned flags) { return flags ? INVALID_VALUE : DEVICES ? SUCCESS : NO_DEVICE; }
int hipGetDeviceCount(int *count) { return *count = DEVICES, DEVICES ? SUCCESS : NO_DEVICE; }
int hipSetDevice(int device) { return device >= 0 && device < DEVICES ? SUCCESS : INVALID_DEVICE; }

const char *hipGetErrorName(int error) {
    switch (error) {
    case SUCCESS: return "hipSuccess";
    case INVALID_VALUE: return "hipErrorInvalidValue";
    case NO_DEVICE: return "hipErrorNoDevice";
    case INVALID_DEVICE: return "hipErrorInvalidDevice";
    case NO_BINARY: return "hipErrorNoBinaryForGpu";
    default: return "hipErrorUnknown";
    }
}
const char *hipGetErrorString(int error) { return error == NO_DEVICE ? "no ROCm-capable device is detected" : hipGetErrorName(error); }

int hipMalloc(void **memory, size_t bytes) { return (*memory = malloc(bytes)) ? SUCCESS : 2; }
int hipFree(void *memory) { return free(memory), SUCCESS; }
int hipMemset(void *memory, int value, size_t bytes) { return memset(memory, value, bytes), SUCCESS; }
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
    (void)kind, (void)stream;
    return memcpy(to, from, bytes), SUCCESS;
}
int hipStreamCreate(void **stream) { return *stream = malloc(1), SUCCESS; }
int hipStreamSynchronize(void *stream) { return stream ? SUCCESS : INVALID_VALUE; }
int hipStreamDestroy(void *stream) { return free(stream), SUCCESS; }

/* It reads no code object that is newer than NEWEST; the byte behind "ELF"'s class, order, version and system says which it is. */
#ifndef NEWEST
#define NEWEST 6
#endif
int hipModuleLoadData(void **module, const unsigned char *image) {
    *module = NULL;
    return image[8] + 2 > NEWEST ? NO_BINARY : SUCCESS;
}
int hipModuleUnload(void *module) { return (void)module, SUCCESS; }
