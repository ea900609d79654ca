//! Occupancy, compared with the figure that the compiler gives in its remarks.

use amdgpu_object::CodeObject;
use amdgpu_object::{Limiter, Resources, occupancy};

use crate::require_tools;
use crate::tools::hip_with_messages;

/// What kernels take: values in registers, bytes of LDS, and work-items of a workgroup.
const KERNELS: [(usize, usize, usize); 8] = [
    (4, 256, 256),
    (60, 512, 64),
    (100, 4096, 128),
    (180, 512, 64),
    (8, 65536, 128),
    (8, 32768, 256),
    (8, 2048, 64),
    (8, 512, 128),
];

/// Kernel number `number`, which takes as much.
fn source(number: usize, (live, lds, workgroup): (usize, usize, usize)) -> String {
    let indices = 0..live;
    let loads: String = indices.clone().map(|i| format!("float x{i} = a[t + {i} * 64];\n")).collect();
    let sums: String =
        indices.map(|i| format!("a[t + {i} * 128] = x{i} * x{};\n", (i + live / 2) % live)).collect();
    format!(
        "extern \"C\" __attribute__((global)) void __attribute__((amdgpu_flat_work_group_size({workgroup}, {workgroup})))
        k{number}(volatile float *a) {{
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
    let source: String =
        KERNELS.into_iter().enumerate().map(|(number, kernel)| source(number, kernel)).collect();
    for (arch, option) in gfx9.into_iter().chain(rdna) {
        let options: Vec<&str> =
            ["-Rpass-analysis=kernel-resource-usage"].into_iter().chain(option).collect();
        let (bytes, messages) = hip_with_messages(&source, arch, 5, &options);
        let object = CodeObject::parse(bytes).expect("it parses");
        assert_eq!(object.kernels.len(), KERNELS.len());
        for kernel in &object.kernels {
            let theirs = remark(&messages, &kernel.name, "Occupancy [waves/SIMD]: ");
            let ours = occupancy(object.target.arch, &Resources::of(object.target.arch, &kernel.metadata));
            let case = format!("{arch} {option:?} {}: {ours:?}, not {theirs}", kernel.name);
            // LLVM divides LDS by its size in bytes, the hardware allots blocks: on gfx950, where they are
            // large and no power of two, fewer workgroups fit.
            if arch == "gfx950" && ours.limiter == Limiter::Lds {
                assert!(ours.waves_per_simd <= theirs && theirs - ours.waves_per_simd <= 1, "{case}");
            } else {
                assert_eq!(ours.waves_per_simd, theirs, "{case}");
            }
        }
    }
}

/// A figure of the compiler's remarks on a kernel.
fn remark(messages: &str, kernel: &str, name: &str) -> u32 {
    let of_kernel =
        messages.split("Function Name: ").find(|part| part.split_whitespace().next() == Some(kernel));
    let figure = of_kernel.and_then(|part| part.split_once(name)?.1.split_whitespace().next()?.parse().ok());
    figure.unwrap_or_else(|| panic!("no {name} of {kernel} in\n{messages}"))
}
