//! The proof that probes change nothing and count right.
//!
//! Every kernel is compiled by clang, run as it is and instrumented in each way, and compared: memory must be equal, and
//! the counters of every site, wave by wave, must equal what the emulator itself saw of EXEC in the original. A pc at
//! which the emulator saw lanes go away must be a site, or be explained by the analysis.

mod support;
#[path = "../../amdinst-core/tests/support/version2.rs"]
mod version2;
mod transparency {
    pub(crate) mod cost;
    pub(crate) mod generator;
    pub(crate) mod kernels;
    pub(crate) mod overflow;
    pub(crate) mod prelude;
    pub(crate) mod proof;
}

use amdinst_core::instrument::{Counters, Options, Reason, apply, plan};
use amdinst_core::object::CodeObject;
use transparency::proof::Ways;
use transparency::{cost, generator, kernels, overflow, proof};

/// Processors of each generation: other work-item ids, AGPRs or none, other scratch.
const CPUS: [&str; 5] = ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"];

#[test]
fn hand_written_kernels_at_every_level() {
    if !support::tools("hand_written_kernels_at_every_level") {
        return;
    }
    let mut proved = proof::Totals::default();
    for kernel in kernels::ALL {
        for level in support::LEVELS {
            proved.add(proof::prove(
                kernel.name,
                kernel.source,
                "gfx90a",
                level,
                kernel.geometry,
                Ways::Every,
            ));
        }
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.timed > 500, "only {} waves were timed", proved.timed);
    assert!(proved.left_out > 50, "only {} sites were left out", proved.left_out);
    assert!(proved.sites > 200, "only {} sites were counted", proved.sites);
    for vgprs in [1, 2] {
        let runs = proved.lent.get(&vgprs).copied().unwrap_or(0);
        assert!(runs > 50, "only {runs} runs in which sites borrowed lanes of {vgprs} VGPRs");
    }
}

#[test]
fn hand_written_kernels_on_every_processor() {
    if !support::tools("hand_written_kernels_on_every_processor") {
        return;
    }
    let mut proved = proof::Totals::default();
    for cpu in CPUS {
        for (number, kernel) in kernels::ALL.iter().enumerate() {
            for (turn, level) in (number..).zip(["-O0", "-O2"]) {
                let ways = Ways::Turn(turn);
                proved.add(proof::prove(kernel.name, kernel.source, cpu, level, kernel.geometry, ways));
            }
        }
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.borrowing > 0, "no kernel was short of SGPRs");
    assert!(proved.through_scratch > 0, "no kernel had its VGPRs borrowed through scratch memory");
}

/// Where hardware preloads arguments, a kernel has two entries, 256 bytes apart.
#[test]
fn preloaded_arguments() {
    if !support::tools("preloaded_arguments") {
        return;
    }
    let mut proved = proof::Totals::default();
    let mut executions = 0;
    for (number, kernel) in kernels::ALL.iter().enumerate().take(8) {
        let source = format!("{}{}", transparency::prelude::PRELUDE, kernel.source);
        let options = ["-mllvm", "-amdgpu-kernarg-preload-count=3"];
        let object = support::compile_with(&source, "gfx942", "-O2", &options);
        let under_test = object.kernel("test").expect("the kernel");
        assert!(under_test.descriptor.kernarg_preload().1 > 0, "{}: nothing is preloaded", kernel.name);
        let context = format!("{} with preloaded arguments", kernel.name);
        executions += proof::both_entries(&context, &object, kernel.geometry);
        proved.add(proof::prove_object(&context, &object, kernel.geometry, Ways::Turn(number)));
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(executions > 100, "only {executions} site executions");
}

/// AGPRs begin behind the VGPRs, and move when the VGPRs become more.
#[test]
fn agprs_that_move() {
    if !support::tools("agprs_that_move") {
        return;
    }
    let mut proved = proof::Totals::default();
    for cpu in ["gfx90a", "gfx942"] {
        let mut moved = 0;
        // Of four kernels that use one VGPR more each, one uses all before the AGPRs.
        for top in 16..20 {
            let object = support::compile_with(&with_agprs(top), cpu, "-O2", &[]);
            let arch = object.target.arch;
            let before = object.kernel("test").expect("the kernel").descriptor;
            // A VGPR of the probe's own, for there is no SGPR.
            let options =
                Options { counters: Counters::Register, spare_sgprs: Some(0), ..Options::default() };
            let plan = plan(&object, &options).expect("a plan");
            let instrumented = apply(&object, &plan).expect("it can be instrumented");
            let after = CodeObject::parse(instrumented.bytes).expect("a code object");
            let after = after.kernel("test").expect("the kernel").descriptor;
            assert!(after.vector_registers(arch).agprs >= 4, "{cpu}");
            moved += usize::from(after.accum_offset(arch) > before.accum_offset(arch));
            let geometry = proof::Geometry::new([2, 1, 1], [100, 1, 1]);
            let context = format!("v0 to v{top} and AGPRs on {cpu}");
            proved.add(proof::prove_object(&context, &object, geometry, Ways::Every));
        }
        assert!(moved > 0, "{cpu}: the AGPRs stay where they are");
    }
    println!("{proved}");
}

/// A kernel that keeps two values in AGPRs past a branch, and writes all VGPRs up to one.
fn with_agprs(top: u32) -> String {
    let moves: String = (4..=top).map(|register| format!("v_mov_b32 v{register}, 0\\n")).collect();
    let written: Vec<String> = (4..=top).map(|register| format!("\"v{register}\"")).collect();
    format!(
        "{}kernel void test(global uint *out, global const uint *in, uint n) {{
            uint i = get_global_id(0), x = in[i], sum = 0;
            __asm__ volatile(
                \"v_accvgpr_write_b32 a0, %0\\n v_accvgpr_write_b32 a3, %1\\n s_nop 3\\n {moves}\"
                :: \"v\"(x), \"v\"(i) : \"a0\", \"a3\", {});
            if (x > 7) out[i] = x; else if (i < n) sum = in[i + 1];
            __asm__ volatile(
                \"v_accvgpr_read_b32 %0, a0\\n v_accvgpr_read_b32 %1, a3\\n s_nop 3\"
                : \"=v\"(x), \"=v\"(i));
            out[i + 512] = x + sum;
        }}",
        transparency::prelude::PRELUDE,
        written.join(", ")
    )
}

/// Code object version 2 describes a kernel otherwise, and runs it as version 4 does, instrumented or not.
#[test]
fn kernels_of_code_object_version_2() {
    if !support::tools("kernels_of_code_object_version_2") {
        return;
    }
    let mut proved = proof::Totals::default();
    let (cpus, levels) = (["gfx900", "gfx906"], ["-O0", "-O2"]);
    for (number, kernel) in kernels::ALL.iter().enumerate() {
        let (cpu, level) = (cpus[number % 2], levels[number / 2 % 2]);
        let source = format!("{}{}", transparency::prelude::PRELUDE, kernel.source);
        let new = support::compile_with(&source, cpu, level, &["-mcode-object-version=4"]);
        let bytes = version2::from_version_4(&new, version2::Processor::Flags);
        let old = CodeObject::parse(bytes).expect("code object version 2");
        assert_eq!((new.version, old.version), (4, 2));
        let context = format!("{} {cpu} {level} in version 2", kernel.name);
        let [before, after] =
            [&new, &old].map(|object| proof::memory_after(&context, object, kernel.geometry));
        assert!(before == after, "{context}: memory differs from version 4's");
        proved.add(proof::prove_object(&context, &old, kernel.geometry, Ways::Turn(number)));
    }
    println!("{proved}");
    assert_eq!(proved.refusals(), 0);
    assert!(proved.sites > 100, "only {} sites were counted", proved.sites);
}

#[test]
fn branches_over_a_huge_body() {
    if !support::tools("branches_over_a_huge_body") {
        return;
    }
    let source = kernels::huge(1200);
    let geometry = proof::Geometry::new([1, 1, 1], [64, 1, 1]);
    let mut proved = proof::Totals::default();
    for (turn, cpu) in (1..).zip(["gfx900", "gfx90a"]) {
        proved.add(proof::prove("a huge body", &source, cpu, "-O1", geometry, Ways::Turn(turn)));
    }
    println!("{proved}");
    // Counters for 1203 sites of four waves are more than LDS holds, however many VGPRs there are.
    assert_eq!(proved.refused.into_iter().collect::<Vec<_>>(), [(Reason::LdsLimit, 5)]);
    // With lanes of one VGPR borrowed, and of two, at sites beyond the reach of an offset.
    assert_eq!(proved.lent.into_iter().collect::<Vec<_>>(), [(1, 1), (2, 1)]);
    // A branch spans 128 KiB at most.
    assert!(proved.largest_text > 0x40000, "the instrumented code is too small: {}", proved.largest_text);
}

#[test]
fn counters_in_vgprs_stop_at_their_end() {
    if !support::tools("counters_in_vgprs_stop_at_their_end") {
        return;
    }
    let kernel = kernels::ALL.iter().find(|kernel| kernel.name.starts_with("many branches")).expect("it");
    for cpu in CPUS {
        let stopped = overflow::stopped_counters(kernel, cpu);
        assert!(stopped > 50, "only {stopped} counters stopped on {cpu}");
    }
}

#[test]
fn generated_kernels() {
    if !support::tools("generated_kernels") {
        return;
    }
    let count =
        std::env::var("AMDINST_GENERATED_KERNELS").ok().and_then(|text| text.parse().ok()).unwrap_or(24);
    let mut proved = proof::Totals::default();
    for seed in 0..count {
        let source = generator::kernel(seed);
        let cpu = CPUS[seed as usize % CPUS.len()];
        let level = support::LEVELS[seed as usize / CPUS.len() % support::LEVELS.len()];
        let name = format!("generated kernel {seed}");
        proved.add(proof::prove(
            &name,
            &source,
            cpu,
            level,
            proof::Geometry::new([2, 1, 1], [96, 1, 1]),
            Ways::Turn(seed as usize),
        ));
    }
    println!("{proved}");
    // Calls whose target is not known are refused by name; that must stay rare.
    assert!(proved.refusals() * 10 <= proved.kernels * 5, "too many refusals");
}

/// The table of costs in DESIGN.md is what the emulator counts; [`cost`] holds it against each plan, and counters in SGPRs
/// against their bound.
#[test]
fn site_executions_cost_what_the_table_says() {
    if !support::tools("site_executions_cost_what_the_table_says") {
        return;
    }
    let rows = cost::table();
    let design =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../DESIGN.md")).expect("DESIGN.md");
    let stated: Vec<&str> = design.lines().filter(|line| rows.iter().any(|row| row == line)).collect();
    assert_eq!(stated, rows, "the table in DESIGN.md should be\n{}", rows.join("\n"));
}
