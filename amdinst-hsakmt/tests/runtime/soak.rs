//! Mixed work for a long time: nothing grows, nothing is wrong. `cargo xtask drill --soak MINUTES` takes as
//! long as it is given.

use crate::support::{Program, good, tools};

/// kB that memory may grow by: what an allocator keeps.
const GROWTH: u64 = 16 << 10;

#[test]
fn nothing_grows_and_nothing_is_wrong() {
    if !tools("soak", &[]) {
        return;
    }
    let asked: Option<u64> = std::env::var("AMDINST_SOAK").ok().and_then(|seconds| seconds.parse().ok());
    let program = Program::hip("soak.hip");
    let mut running = program.start(&[&asked.unwrap_or(10).to_string()], &[]);
    let mut told = 0;
    // `end` has a limit for programs that take a second.
    while running.child.try_wait().expect("waiting").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let printed = running.printed();
        let whole = printed.rfind('\n').map_or(0, |end| end + 1);
        eprint!("{}", &printed[told..whole.max(told)]);
        told = whole.max(told);
    }
    let printed = good(&running.end());
    eprint!("{}", &printed[told..]);
    let last = printed.lines().last().unwrap_or_default();
    let figures: Vec<u64> = last.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [rounds, children, before, after, wrong] = figures[..] else { panic!("{printed}") };
    assert!(rounds > 0 && last.contains(", signals,"), "{last}");
    assert_eq!(wrong, 0, "{last}");
    assert!(after < before + GROWTH, "{last}");
    // A busy machine may do less than a round of each in ten seconds.
    assert!(asked.is_none() || children > 0, "{last}");
}
