//! Occupancy, compared with the figure that the compiler gives in its remarks.

use amdgpu_object::CodeObject;
use amdgpu_object::{Limiter, Resources, occupancy};

use crate::require_tools;
use crate::tools::hip_with_messages;

/// A kernel that keeps `live` values in registers and `lds` bytes of LDS.
fn source(live: usize, lds: usize, workgroup: usize) -> String {
    let indices = 0..live;
    let loads: String = indices.clone().map(|i| format!("float x{i} = a[t + {i} * 64];\n")).collect();
    let sums: String =
        indices.map(|i| format!("a[t + {i} * 128] = x{i} * x{};\n", (i + live / 2) % live)).collect();
    format!(
        "extern \"C\" __attribute__((global)) void __attribute__((amdgpu_flat_work_group_size({workgroup}, {workgroup})))
        k(volatile float *a) {{
            __attribute__((shared)) static volatile float tile[{}];
            int t = __builtin_amdgcn_workitem_id_x();
            tile[t & {}] = t;
            {loads} {sums}
        }}",
        lds / 4,
        lds / 4 - 1,
    )
}

#[test]
fn the_compiler_counts_the_same_waves() {
    require_tools!("clang-22");
    let gfx9 = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx950"].map(|arch| (arch, None));
    // Both sizes of waves, both modes, and both numbers of registers.
    let rdna = ["gfx1010", "gfx1030", "gfx1100", "gfx1102", "gfx1150", "gfx1151"]
        .into_iter()
        .flat_map(|arch| [None, Some("-mwavefrontsize64"), Some("-mcumode")].map(|option| (arch, option)));
    for (arch, option) in gfx9.into_iter().chain(rdna) {
        for (live, lds, workgroup) in [
            (4, 256, 256),
            (60, 512, 64),
            (100, 4096, 128),
            (180, 512, 64),
            (8, 65536, 128),
            (8, 32768, 256),
            (8, 2048, 64),
            (8, 512, 128),
        ] {
            let options: Vec<&str> =
                ["-Rpass-analysis=kernel-resource-usage"].into_iter().chain(option).collect();
            let (bytes, messages) = hip_with_messages(&source(live, lds, workgroup), arch, 5, &options);
            let figure = |name: &str| -> u32 {
                let rest = messages.split(name).nth(1).unwrap_or_else(|| panic!("no {name} in\n{messages}"));
                rest.trim_start_matches([':', ' '])
                    .split_whitespace()
                    .next()
                    .expect("a word")
                    .parse()
                    .expect("a number")
            };
            let object = CodeObject::parse(bytes).expect("it parses");
            let kernel = &object.kernels[0];
            let ours = occupancy(object.target.arch, &Resources::of(object.target.arch, &kernel.metadata));
            let theirs = figure("Occupancy [waves/SIMD]");
            let case = format!("{arch} {option:?} {live} {lds} {workgroup}: {ours:?}\n{messages}");
            // LLVM divides LDS by its size in bytes, the hardware allots blocks: on gfx950, where they are large and no
            // power of two, fewer workgroups fit.
            if arch == "gfx950" && ours.limiter == Limiter::Lds {
                assert!(ours.waves_per_simd <= theirs && theirs - ours.waves_per_simd <= 1, "{case}");
            } else {
                assert_eq!(ours.waves_per_simd, theirs, "{case}");
            }
        }
    }
}
