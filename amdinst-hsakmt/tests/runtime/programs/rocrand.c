/* Numbers of rocRAND's Philox generator, through its host API, beside those of the algorithm: Salmon et al., "Parallel Random
   Numbers: As Easy as 1, 2, 3", Philox4x32-10. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct rocrand_generator_base_type *generator;
int rocrand_create_generator(generator *, int);
int rocrand_set_seed(generator, unsigned long long);
int rocrand_generate(generator, unsigned *, size_t);
int rocrand_destroy_generator(generator);
enum { PHILOX4_32_10 = 404 };

static uint32_t philox(uint32_t block, uint64_t key, int word) {
    uint32_t c[4] = {block, 0, 0, 0}, low = (uint32_t)key, high = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; ++round) {
        uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
        uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ low, (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ high, (uint32_t)a};
        for (int i = 0; i < 4; ++i) c[i] = next[i];
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    return c[word];
}

#define CHECK(call) if ((call) != 0) return printf("%s failed\n", #call), 1

int main(void) {
    const uint64_t seed = 0x123456789abcdefULL;
    const unsigned n = 100000;
    unsigned *device, *host = malloc(n * sizeof *host), wrong = 0;
    generator g;
    CHECK(hipMalloc((void **)&device, n * sizeof *host));
    CHECK(rocrand_create_generator(&g, PHILOX4_32_10));
    CHECK(rocrand_set_seed(g, seed));
    CHECK(rocrand_generate(g, device, n));
    CHECK(hipMemcpy(host, device, n * sizeof *host, hipMemcpyDeviceToHost));
    for (unsigned i = 0; i < n; ++i) wrong += host[i] != philox(i / 4, seed, i % 4);
    printf("%u numbers, %u wrong\n", n, wrong);
    return rocrand_destroy_generator(g);
}
