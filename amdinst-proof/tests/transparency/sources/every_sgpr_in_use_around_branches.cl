#define TEN(M, k) M(k##0) M(k##1) M(k##2) M(k##3) M(k##4) M(k##5) M(k##6) M(k##7) M(k##8) M(k##9)
#define ALL(M) TEN(M, 1) TEN(M, 2) TEN(M, 3) TEN(M, 4) TEN(M, 5) TEN(M, 6) TEN(M, 7) TEN(M, 8) TEN(M, 9)
#define DEFINE(k) uint u##k = __builtin_amdgcn_readfirstlane(in[k] * n);
#define USE(k) __asm__ volatile("" :: "s"(u##k)); sum = sum * 3 + u##k;
kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0), sum = in[i], steps = 0;
    ALL(DEFINE)
    if (sum > 7) { if (sum & 1) { ALL(USE) } else out[i + 512] = sum + u10; }
    while (steps < (sum & 7) + 1) { sum += in[steps]; if (sum & 64) break; ++steps; USE(15) }
    if (sum & 4) sum ^= i;
    ALL(USE)
    out[i] = sum + steps;
}
