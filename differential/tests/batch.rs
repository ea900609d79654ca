//! A small batch of every test run; `cargo xtask corpus differential` runs as many as one likes.

use differential::campaign::{self, Options};
use differential::{alone, toolchain};

/// `N` programs from `first` on, each for one processor.
fn differences(first: u64, programs: u64) -> Vec<String> {
    let options = Options {
        programs,
        seed: 1,
        first,
        target_cpu: ["gfx900", "gfx90a", "gfx942"].map(str::to_owned).to_vec(),
        one_target: true,
        batch: 64,
        jobs: 0,
        keep: std::env::temp_dir().join("amdinst-differential"),
        no_reduce: true,
        missing: false,
        coverage: None,
    };
    let report = campaign::campaign(&options).expect("clang compiles them and the host runs them");
    assert_eq!(report.programs, programs);
    assert_eq!(report.refused, []);
    report.differences
}

#[test]
fn the_emulator_and_the_host_agree() {
    if !toolchain::installed() {
        assert_ne!(
            std::env::var("AMDINST_REQUIRE_TOOLS").as_deref(),
            Ok("1"),
            "clang-22 and ld.lld-22 are missing: apt-get install clang-22 lld-22"
        );
        println!("SKIPPED: clang-22 and ld.lld-22 are missing: apt-get install clang-22 lld-22");
        return;
    }
    // Some that do one operation each, and some that mix them.
    assert_eq!(differences(0, 192), Vec::<String>::new());
    assert_eq!(differences(alone::count(), 192), Vec::<String>::new());
}
