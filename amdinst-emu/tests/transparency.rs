//! The proof that probes change nothing and count right.
//!
//! Every kernel is compiled by clang, run as it is and instrumented in each way, and compared: memory must be equal, and
//! the counters of every site, wave by wave, must equal what the emulator itself saw of EXEC in the original. A pc at
//! which the emulator saw lanes go away must be a site, or be explained by the analysis.

mod support;
mod transparency {
    pub(crate) mod generator;
    pub(crate) mod kernels;
    pub(crate) mod prelude;
    pub(crate) mod proof;
}

use transparency::{generator, kernels, proof};

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
            proved.add(proof::prove(kernel.name, kernel.source, "gfx90a", level, kernel.geometry));
        }
    }
    println!("{proved}");
    assert_eq!(proved.refused, 0);
    assert!(proved.sites > 200, "only {} sites were counted", proved.sites);
}

#[test]
fn hand_written_kernels_on_every_processor() {
    if !support::tools("hand_written_kernels_on_every_processor") {
        return;
    }
    let mut proved = proof::Totals::default();
    for cpu in CPUS {
        for kernel in kernels::ALL {
            for level in ["-O0", "-O2"] {
                proved.add(proof::prove(kernel.name, kernel.source, cpu, level, kernel.geometry));
            }
        }
    }
    println!("{proved}");
    assert_eq!(proved.refused, 0);
    assert!(proved.borrowing > 0, "no kernel was short of SGPRs");
}

#[test]
fn branches_over_a_huge_body() {
    if !support::tools("branches_over_a_huge_body") {
        return;
    }
    let source = kernels::huge(1200);
    let geometry = proof::Geometry { grid: [1, 1, 1], block: [64, 1, 1] };
    let mut proved = proof::Totals::default();
    for cpu in ["gfx900", "gfx90a"] {
        proved.add(proof::prove("a huge body", &source, cpu, "-O1", geometry));
    }
    println!("{proved}");
    assert_eq!(proved.refused, 0);
    // A branch spans 128 KiB at most.
    assert!(proved.largest_text > 0x40000, "the instrumented code is too small: {}", proved.largest_text);
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
            proof::Geometry { grid: [2, 1, 1], block: [96, 1, 1] },
        ));
    }
    println!("{proved}");
    // Calls whose target is not known are refused by name; that must stay rare.
    assert!(proved.refused * 10 <= proved.kernels * 4, "too many refusals");
}
