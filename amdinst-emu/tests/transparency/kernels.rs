//! Kernels with one kind of control flow each.

use std::ops::RangeInclusive;

use super::proof::Geometry;

/// A loop around so many branches that those around them do not reach over the instrumented body.
pub(crate) fn huge(branches: u32) -> String {
    let body: String = (0..branches)
        .map(|k| format!("if (x + {k} & {}) out[i + 512] = sum += in[x + {k} & 511];\n", 1 << (k % 6)))
        .collect();
    format!(
        "kernel void test(global uint *out, global const uint *in, uint n) {{
            uint i = get_global_id(0), x = in[i], sum = 0;
            for (uint k = 0; k < (x & 1) + 1; ++k) {{
                if (x > 3) {{\n{body}}} else sum += in[k] + 1;
                x += in[i + k];
                if (sum == 12345) break;
            }}
            out[i] = sum;
        }}"
    )
}

/// Instructions that clear these VGPRs, for inline assembly, and the list of what they write.
pub(crate) fn zeroed_vgprs(registers: RangeInclusive<u32>) -> (String, String) {
    let moves = registers.clone().map(|register| format!("v_mov_b32 v{register}, 0\\n")).collect();
    let written: Vec<String> = registers.map(|register| format!("\"v{register}\"")).collect();
    (moves, written.join(", "))
}

/// A kernel that writes every VGPR but those that it has values in, between two branches, and s92 and s93.
pub(crate) fn every_vgpr() -> String {
    let (moves, written) = zeroed_vgprs(8..=254);
    format!(
        "kernel void test(global uint *out, global const uint *in, uint n) {{
            uint i = get_global_id(0), x = in[i];
            if (x > 7) out[i + 512] = x;
            __asm__ volatile(\"{moves} v_mov_b32 v255, 0\\n s_mov_b64 s[92:93], 0\" ::: \"s92\", \"s93\", {written});
            if (x & 1) out[i] = x; else if (i < n) out[i] = in[i + 1];
        }}"
    )
}

/// A kernel whose pointers may point to private memory, so that it sets FLAT_SCRATCH where hardware does not; `first` is its first
/// statement.
pub(crate) fn generic_pointers(first: &str) -> String {
    format!(
        "__attribute__((noinline)) void add(uint *to, uint what) {{ if (what & 3) *to += what; }}
        kernel void test(global uint *out, global const uint *in, uint n) {{
            {first}
            uint i = get_global_id(0);
            uint stack[8];
            for (uint k = 0; k < 8; ++k) stack[k] = in[i + k];
            volatile uint at = in[i] & 7;
            uint *chosen = in[i] & 8 ? (uint *)&stack[at] : (uint *)&out[i + 512];
            add(chosen, in[i + 1]);
            if (in[i] & 1) add(&stack[(at + 1) & 7], i);
            out[i] = stack[at] + stack[(at + 1) & 7];
        }}"
    )
}

/// A kernel `test(out, in, n)` in OpenCL C.
pub(crate) struct Kernel {
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    pub(crate) geometry: Geometry,
}

const fn flat(grid: u32, block: u32) -> Geometry {
    Geometry::new([grid, 1, 1], [block, 1, 1])
}

pub(crate) const ALL: &[Kernel] = &[
    Kernel {
        name: "vector add with a tail",
        geometry: flat(3, 64),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0);
            if (i < n) out[i] = in[i] + i;
        }",
    },
    Kernel {
        name: "nested if and else",
        geometry: flat(2, 128),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0);
            uint x = in[i];
            if (x > 7) { if (x & 1) out[i] = x * 3; else { out[i] = x ^ 5; out[i + 512] = 1; } }
            else if (i < n) { out[i] = 77; if (x == 3) out[i + 512] = in[i + 1]; }
        }",
    },
    Kernel {
        name: "loop with data-dependent trip count",
        geometry: flat(2, 100),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0);
            uint x = in[i] + i + 1, steps = 0;
            while (x != 1) { x = x & 1 ? 3 * x + 1 : x / 2; ++steps; }
            out[i] = steps;
        }",
    },
    Kernel {
        name: "break and continue",
        geometry: flat(2, 70),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0), sum = 0;
            for (uint k = 0; k < 40; ++k) {
                uint x = in[(i + k) & 1023];
                if (x == 9) continue;
                if (x > 28) break;
                sum += x;
                if (sum > n) { out[i + 512] = k; break; }
            }
            out[i] = sum;
        }",
    },
    Kernel {
        name: "early return and switch",
        geometry: flat(2, 128),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0);
            if (in[i] == 4) return;
            switch (in[i] & 7) {
                case 0: out[i] = 1; break;
                case 1: out[i] = in[i] * in[i + 1];
                case 2: out[i + 512] = 5; break;
                case 5: if (i > n) return; out[i] = 6; break;
                default: out[i] = 99;
            }
        }",
    },
    Kernel {
        name: "calls",
        geometry: flat(2, 96),
        source: "__attribute__((noinline)) uint inner(uint x, global const uint *in) {
                uint s = 0;
                for (uint k = 0; k < (x & 15); ++k) { if (in[k + x] > 12) s += in[k]; else s ^= k; }
                return s;
            }
            __attribute__((noinline)) uint outer(uint x, global const uint *in) {
                if (x > 20) return inner(x, in) + 1;
                if (x == 2) return 0;
                return inner(x + 1, in);
            }
            kernel void other(global uint *out, global const uint *in, uint n) {
                uint i = get_global_id(0);
                if (i < n) out[i] = outer(i, in);
            }
            kernel void test(global uint *out, global const uint *in, uint n) {
                uint i = get_global_id(0);
                if (i & 2) out[i] = inner(in[i], in);
                else out[i] = outer(in[i], in);
            }",
    },
    Kernel {
        name: "reduction in LDS with barriers",
        geometry: flat(3, 256),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            local uint tile[256];
            uint t = get_local_id(0);
            tile[t] = in[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint s = 128; s > 0; s >>= 1) {
                if (t < s) tile[t] += tile[t + s];
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            if (t == 0) out[get_group_id(0)] = tile[0];
        }",
    },
    Kernel {
        name: "dynamic LDS after static",
        geometry: Geometry { grid: [2, 1, 1], block: [150, 1, 1], dynamic_lds: 602 },
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            local uint tile[150];
            local uint *pool = (local uint *)600;
            uint t = get_local_id(0), i = get_global_id(0), sum = 0;
            tile[t] = in[i];
            pool[t] = in[i + 300];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint k = 0; k < (tile[149 - t] & 7); ++k) { if (pool[(t + k) % 150] > 12) sum += pool[t] + tile[k]; }
            uint odd = pool[149 - t] & 1;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (odd) pool[t] = sum;
            barrier(CLK_LOCAL_MEM_FENCE);
            out[i] = pool[149 - t] + sum;
        }",
    },
    Kernel {
        name: "two dimensions with partial waves",
        geometry: Geometry::new([2, 3, 1], [10, 7, 1]),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint x = get_global_id(0), y = get_global_id(1), w = get_global_size(0);
            uint i = y * w + x;
            if (x > 0 && y > 0 && x + 1 < w && y + 1 < get_global_size(1))
                out[i] = in[i - 1] + in[i + 1] + in[i - w] + in[i + w];
            else if (in[i] > 10) out[i] = in[i];
        }",
    },
    Kernel {
        name: "three dimensions",
        geometry: Geometry::new([2, 2, 2], [5, 4, 5]),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = (get_global_id(2) * 8 + get_global_id(1)) * 10 + get_global_id(0);
            if (get_local_id(2) > 2) out[i] = in[i] + get_group_id(2);
            else if (get_local_id(1) == get_group_id(1)) out[i] = 1000 + get_local_id(0);
        }",
    },
    Kernel {
        name: "only x of three dimensions",
        geometry: Geometry::new([2, 2, 2], [8, 4, 4]),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_local_id(0) * 16 + get_group_id(0);
            if (in[i] > 8) atomic_inc(out + i);
        }",
    },
    Kernel {
        name: "no arguments but the output in a loop of one lane",
        geometry: flat(1, 64),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            if (get_local_id(0) == 5) { for (uint k = 0; k < in[3] + 2; ++k) out[k] = k; }
        }",
    },
    Kernel {
        // Masks that are set around single instructions, without a branch, as in kernels written by hand. The first does not
        // lie within the lanes that the partial wave was started with, and has as many.
        name: "predicated by hand",
        geometry: flat(2, 100),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0), x = in[i], sum = 0;
            __asm__ volatile(
                \"s_mov_b64 s[28:29], exec\\n v_cmp_lt_u32 s[20:21], 7, %1\\n\"
                \"v_readfirstlane_b32 s19, %2\\n s_cmp_lt_u32 s19, 200\\n s_cselect_b64 s[22:23], -1, 0\\n\"
                \"s_cmp_lt_u32 s19, 100\\n s_cselect_b32 s24, -1, 0\\n s_cselect_b32 s25, 0, -1\\n\"
                \"s_bfm_b64 exec, 36, 4\\n v_add_u32 %0, 1, %0\\n s_mov_b64 exec, -1\\n\"
                \"s_mov_b64 exec, s[20:21]\\n v_add_u32 %0, 2, %0\\n s_mov_b64 exec, -1\\n\"
                \"s_mov_b64 exec, s[20:21]\\n v_add_u32 %0, 4, %0\\n s_mov_b64 exec, -1\\n\"
                \"s_mov_b64 exec, s[22:23]\\n v_add_u32 %0, 8, %0\\n s_mov_b64 exec, -1\\n\"
                \"s_mov_b64 exec, s[24:25]\\n v_add_u32 %0, 16, %0\\n s_mov_b64 exec, -1\\n\"
                \"s_add_u32 s26, s19, 0x4d\\n s_addc_u32 s27, s19, 0x51\\n\"
                \"s_mov_b64 exec, s[26:27]\\n v_add_u32 %0, 32, %0\\n s_mov_b64 exec, -1\\n\"
                \"s_lshl_b32 s26, 0xff, 8\\n s_mov_b32 s27, 3\\n\"
                \"s_mov_b64 exec, s[26:27]\\n v_add_u32 %0, 64, %0\\n s_mov_b64 exec, s[28:29]\\n\"
                : \"+v\"(sum) : \"v\"(x), \"v\"(n)
                : \"s19\", \"s20\", \"s21\", \"s22\", \"s23\", \"s24\", \"s25\", \"s26\", \"s27\", \"s28\", \"s29\", \"scc\");
            if (sum & 2) out[i] = sum; else out[i + 512] = sum;
        }",
    },
    Kernel {
        name: "scratch",
        geometry: flat(2, 64),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0);
            volatile uint stack[16];
            for (uint k = 0; k < 16; ++k) stack[k] = in[i + k];
            uint at = in[i] & 15, sum = 0;
            while (at > 0 && sum < 60) { sum += stack[at]; at = stack[at] & (at - 1); }
            out[i] = sum;
        }",
    },
    Kernel {
        name: "many branches, more than SGPRs hold counters for",
        geometry: flat(2, 64),
        source: "#define STEP(k) if (in[i + k] > (k & 15) + 3) { sum += in[i + 2 * k] * k; if (sum & 1) out[i + 512] += k; }
        #define FOUR(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
        kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0), sum = 0;
            FOUR(1) FOUR(5) FOUR(9) FOUR(13) FOUR(17) FOUR(21)
            out[i] = sum;
        }",
    },
    Kernel {
        name: "every SGPR in use around branches",
        geometry: flat(2, 96),
        source: "#define TEN(M, k) M(k##0) M(k##1) M(k##2) M(k##3) M(k##4) M(k##5) M(k##6) M(k##7) M(k##8) M(k##9)
        #define ALL(M) TEN(M, 1) TEN(M, 2) TEN(M, 3) TEN(M, 4) TEN(M, 5) TEN(M, 6) TEN(M, 7) TEN(M, 8) TEN(M, 9)
        #define DEFINE(k) uint u##k = __builtin_amdgcn_readfirstlane(in[k] * n);
        #define USE(k) __asm__ volatile(\"\" :: \"s\"(u##k)); sum = sum * 3 + u##k;
        kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0), sum = in[i], steps = 0;
            ALL(DEFINE)
            if (sum > 7) { if (sum & 1) { ALL(USE) } else out[i + 512] = sum + u10; }
            while (steps < (sum & 7) + 1) { sum += in[steps]; if (sum & 64) break; ++steps; USE(15) }
            if (sum & 4) sum ^= i;
            ALL(USE)
            out[i] = sum + steps;
        }",
    },
    Kernel {
        name: "uniform branches",
        geometry: flat(3, 64),
        source: "kernel void test(global uint *out, global const uint *in, uint n) {
            uint i = get_global_id(0), sum = 0;
            if (get_group_id(0) == 1) sum = 4;
            for (uint k = 0; k < n; ++k) sum += in[k];
            if (n > 100) { if (in[i] > 5) out[i] = sum; } else out[i] = 3;
        }",
    },
];
