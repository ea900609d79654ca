#define STEP(k) if (in[i + k] > (k & 15) + 3) { sum += in[i + 2 * k] * k; if (sum & 1) out[i + 512] += k; }
#define FOUR(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
kernel void test(global uint *out, global const uint *in, uint n) {
    uint i = get_global_id(0), sum = 0;
    FOUR(1) FOUR(5) FOUR(9) FOUR(13) FOUR(17) FOUR(21)
    out[i] = sum;
}
