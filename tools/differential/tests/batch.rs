//! A small batch of every test run; `cargo xtask corpus differential` runs as many as one likes.

use amdgpu_isa::Arch;
use differential::campaign::{self, Options, Report};
use differential::{alone, toolchain, transparency};

/// `programs` of them from `first` on, each for one processor.
fn options(first: u64, programs: u64) -> Options {
    Options {
        programs,
        seed: 1,
        first,
        target_cpu: vec![
            Arch::Gfx900,
            Arch::Gfx90a,
            Arch::Gfx942,
            Arch::Gfx1030,
            Arch::Gfx1100,
            Arch::Gfx1201,
        ],
        wave_size: None,
        one_target: true,
        batch: 64,
        jobs: 0,
        no_host: false,
        instrument: false,
        pressure: false,
        pointers: false,
        keep: std::env::temp_dir().join("amdinst-differential"),
        no_reduce: true,
        missing: false,
        coverage: None,
    }
}

/// What came of them; clang must have taken all.
fn campaign(options: &Options) -> Report {
    let report = campaign::campaign(options).expect("clang compiles them, and all sides run them");
    assert_eq!(report.programs, options.programs);
    assert_eq!(report.refused, []);
    report
}

fn tools() -> bool {
    let installed = toolchain::installed();
    if !installed {
        assert_ne!(
            std::env::var("AMDINST_REQUIRE_TOOLS").as_deref(),
            Ok("1"),
            "clang-22 and ld.lld-22 are missing: apt-get install clang-22 lld-22"
        );
        println!("SKIPPED: clang-22 and ld.lld-22 are missing: apt-get install clang-22 lld-22");
    }
    installed
}

#[test]
fn the_emulator_and_the_host_agree() {
    if !tools() {
        return;
    }
    // Some that do one operation each, and some that mix them.
    for first in [0, alone::count()] {
        assert_eq!(campaign(&options(first, 192)).differences, Vec::<String>::new());
    }
}

#[test]
fn instrumented_programs_do_the_same_and_count_right() {
    if !tools() {
        return;
    }
    let target_cpu = vec![Arch::Gfx900, Arch::Gfx906, Arch::Gfx908, Arch::Gfx90a, Arch::Gfx942, Arch::Gfx950];
    let pressed = Options {
        target_cpu,
        no_host: true,
        instrument: true,
        pressure: true,
        ..options(alone::count(), 288)
    };
    let report = campaign(&pressed);
    let tally = report.outcome.transparency;
    println!("{tally}");
    assert_eq!(report.differences, Vec::<String>::new());
    // Each way of instrumenting is there, and sites of the common forms went both ways.
    assert_eq!(tally.runs.len(), transparency::WAYS.len());
    assert!(tally.sites > 1000, "only {} sites", tally.sites);
    assert!(tally.in_blocks > 300_000, "only {} instructions in blocks", tally.in_blocks);
    assert!(tally.covered > 300, "only {} kernels whose blocks are all of their code", tally.covered);
    for (what, runs) in tally.borrowing {
        assert!(runs > 0, "no site borrowed {what}");
    }
}

/// What calls cannot have registers held through them: clang keeps addresses there. Two of these programs
/// read what was held as an address, and counted otherwise for that.
#[test]
fn kernels_short_of_registers_may_call_through_pointers() {
    if !tools() {
        return;
    }
    for (cpu, lanes, first, batch) in [(Arch::Gfx942, 64, 4430, 1), (Arch::Gfx1030, 32, 4480, 8)] {
        let calling = Options {
            seed: 20_261_129,
            target_cpu: vec![cpu],
            wave_size: Some(lanes),
            no_host: true,
            instrument: true,
            pressure: true,
            pointers: true,
            batch,
            ..options(first, batch)
        };
        assert_eq!(campaign(&calling).differences, Vec::<String>::new());
    }
}

#[test]
fn what_only_pointers_reach_counts_in_memory_and_all_else_in_registers() {
    if !tools() {
        return;
    }
    // Kernels of a batch share functions that pointers reach, so a batch is small.
    let calling = Options {
        target_cpu: vec![Arch::Gfx90a, Arch::Gfx1100],
        no_host: true,
        instrument: true,
        pointers: true,
        batch: 3,
        ..options(alone::count(), 48)
    };
    let report = campaign(&calling);
    assert_eq!(report.differences, Vec::<String>::new());
    let tally = report.outcome.transparency;
    assert!(tally.apart > 0, "no kernel counts in both:\n{tally}");
}
