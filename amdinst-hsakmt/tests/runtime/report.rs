//! Divergence of a program that nobody recompiled.

use crate::support::{Program, tools};

/// Three launches of four waves. The branch is executed once a wave, and half of 64 lanes take it: 12 executions, all of them
/// diverged. Lanes leave the loop, whose body runs up to seven times, after i % 8 rounds: eight lanes at a time.
#[test]
fn branches_are_counted_in_every_home() {
    if !tools("report", &[]) {
        return;
    }
    let program = Program::hip("branches.hip");
    for home in ["auto", "register", "lds", "global"] {
        let output = program.run(&[], &[("AMDINST_INSTRUMENT", "report"), ("AMDINST_COUNTERS", home)]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{home}: {text}");
        let heading = text.lines().next().unwrap_or_default();
        assert!(heading.starts_with("amdinst: 3 launches; branches on gfx90a"), "{home}: {text}");
        let row = |line: &str| -> Vec<String> {
            let row = text.lines().find(|row| row.contains(line)).unwrap_or_else(|| panic!("{home}: {text}"));
            row.split_whitespace().map(str::to_owned).collect()
        };
        let branch = row("branches.hip:6:");
        assert!(
            branch.ends_with(&["12", "12", "100.0", "%", "32.0", "of", "64.0", "0", "1"].map(str::to_owned)),
            "{branch:?}"
        );
    }
    // Instrumented and not counted: nothing is printed.
    let output = program.run(&[], &[("AMDINST_INSTRUMENT", "1")]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // Nor are there races between the counters.
    for home in ["register", "lds", "global"] {
        let checked = [("AMDINST_INSTRUMENT", "1"), ("AMDINST_CHECK", "races,atomicity")];
        let output = program.run(&[], &[checked.as_slice(), &[("AMDINST_COUNTERS", home)]].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{home}: {output:?}");
    }
}
