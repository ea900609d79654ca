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

/// A kernel whose pointers may point to private memory, so that it sets FLAT_SCRATCH where hardware does not;
/// `first` is its first statement.
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

/// A kernel with more private memory than the offsets of instructions reach.
pub(crate) const MUCH_SCRATCH: &str = "kernel void test(global uint *out, global const uint *in, uint n) {
        uint i = get_global_id(0);
        volatile uint stack[1500];
        for (uint k = 0; k < 1500; k += 100) stack[k + (in[i] & 63)] = in[i] + k;
        uint sum = 0;
        for (uint k = 0; k < 1500; k += 100) if (stack[k + (in[i] & 63)] & 4) sum += stack[k + (in[i] & 63)];
        if (in[i] & 1) sum ^= i;
        out[i] = sum;
    }";

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
        source: include_str!("sources/vector_add_with_a_tail.cl"),
    },
    Kernel {
        name: "nested if and else",
        geometry: flat(2, 128),
        source: include_str!("sources/nested_if_and_else.cl"),
    },
    Kernel {
        name: "loop with data-dependent trip count",
        geometry: flat(2, 100),
        source: include_str!("sources/loop_with_data_dependent_trip_count.cl"),
    },
    Kernel {
        name: "break and continue",
        geometry: flat(2, 70),
        source: include_str!("sources/break_and_continue.cl"),
    },
    Kernel {
        name: "early return and switch",
        geometry: flat(2, 128),
        source: include_str!("sources/early_return_and_switch.cl"),
    },
    Kernel { name: "calls", geometry: flat(2, 96), source: include_str!("sources/calls.cl") },
    Kernel {
        name: "reduction in LDS with barriers",
        geometry: flat(3, 256),
        source: include_str!("sources/reduction_in_lds_with_barriers.cl"),
    },
    Kernel {
        name: "dynamic LDS after static",
        geometry: Geometry { grid: [2, 1, 1], block: [150, 1, 1], dynamic_lds: 602 },
        source: include_str!("sources/dynamic_lds_after_static.cl"),
    },
    Kernel {
        name: "two dimensions with partial waves",
        geometry: Geometry::new([2, 3, 1], [10, 7, 1]),
        source: include_str!("sources/two_dimensions_with_partial_waves.cl"),
    },
    Kernel {
        name: "three dimensions",
        geometry: Geometry::new([2, 2, 2], [5, 4, 5]),
        source: include_str!("sources/three_dimensions.cl"),
    },
    Kernel {
        name: "only x of three dimensions",
        geometry: Geometry::new([2, 2, 2], [8, 4, 4]),
        source: include_str!("sources/only_x_of_three_dimensions.cl"),
    },
    Kernel {
        name: "no arguments but the output in a loop of one lane",
        geometry: flat(1, 64),
        source: include_str!("sources/no_arguments_but_the_output_in_a_loop_of_one_lane.cl"),
    },
    Kernel {
        // Masks that are set around single instructions, without a branch, as in kernels written by hand. The
        // first does not lie within the lanes that the partial wave was started with, and has as many.
        name: "predicated by hand",
        geometry: flat(2, 100),
        source: include_str!("sources/predicated_by_hand.cl"),
    },
    Kernel { name: "scratch", geometry: flat(2, 64), source: include_str!("sources/scratch.cl") },
    Kernel {
        name: "many branches, more than SGPRs hold counters for",
        geometry: flat(2, 64),
        source: include_str!("sources/many_branches_more_than_sgprs_hold_counters_for.cl"),
    },
    Kernel {
        name: "every SGPR in use around branches",
        geometry: flat(2, 96),
        source: include_str!("sources/every_sgpr_in_use_around_branches.cl"),
    },
    Kernel {
        name: "uniform branches",
        geometry: flat(3, 64),
        source: include_str!("sources/uniform_branches.cl"),
    },
];
