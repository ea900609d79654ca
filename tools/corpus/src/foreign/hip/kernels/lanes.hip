// What lanes of a wave do together.
#include "prelude.h"

// Places the numbers that pass in a row, by ballot and count of the lanes below.
__global__ void compaction(const u32 *in, u32 *out, u32 *counts) {
    u32 i = GLOBAL_X, wave = i / 64;
    bool keep = in[i] % 3 != 0;
    u64 mask = __builtin_amdgcn_ballot_w64(keep);
    u32 below = __builtin_amdgcn_mbcnt_hi((u32)(mask >> 32), __builtin_amdgcn_mbcnt_lo((u32)mask, 0));
    if (keep) out[wave * 64 + below] = in[i];
    counts[wave] = (u32)__builtin_popcountll(mask);
}

// Sums over a wave: neighbours by DPP, rows by readlane.
__global__ void sum_by_dpp(const u32 *in, u32 *out) {
    u32 i = GLOBAL_X, x = in[i];
    x += (u32)__builtin_amdgcn_update_dpp(0, (i32)x, 0xb1, 15, 15, false);  // quad_perm:[1,0,3,2]
    x += (u32)__builtin_amdgcn_update_dpp(0, (i32)x, 0x4e, 15, 15, false);  // quad_perm:[2,3,0,1]
    x += (u32)__builtin_amdgcn_update_dpp(0, (i32)x, 0x124, 15, 15, false); // row_ror:4
    x += (u32)__builtin_amdgcn_update_dpp(0, (i32)x, 0x128, 15, 15, false); // row_ror:8
    u32 sum = 0;
    for (u32 row = 0; row < 4; ++row) sum += (u32)__builtin_amdgcn_readlane((i32)x, (i32)(16 * row));
    out[i] = sum;
}

// A butterfly through the LDS crossbar, then a rotation by any distance.
__global__ void permutations(const u32 *in, u32 *out, u32 distance) {
    u32 i = GLOBAL_X, lane = i % 64, x = in[i];
    x ^= (u32)__builtin_amdgcn_ds_swizzle((i32)x, 0x401f);
    u32 rotated = (u32)__builtin_amdgcn_ds_bpermute((i32)((lane + distance) * 4), (i32)x);
    u32 pushed = (u32)__builtin_amdgcn_ds_permute((i32)((lane * 5) * 4), (i32)x);
    out[2 * i] = rotated;
    out[2 * i + 1] = pushed;
}

// The first lane that still waits speaks for all that hold the same number.
__global__ void waterfall(const u32 *in, u32 *out) {
    u32 i = GLOBAL_X, x = in[i], rounds = 0;
    for (;;) {
        ++rounds;
        u32 first = (u32)__builtin_amdgcn_readfirstlane((i32)x);
        if (first == x) { out[i] = first * 100 + rounds; break; }
    }
}
