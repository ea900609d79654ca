//! Divergence of a program that nobody recompiled.

use crate::support::{Program, tools};

/// Processors, and how often three launches of four workgroups of 64 work-items execute the branch, with how
/// many lanes on average: once a wave. Half of its lanes take it: all executions diverged. Lanes leave the
/// loop, whose body runs up to seven times, after i % 8 rounds: eight of 64 lanes at a time.
const BRANCHES: [(&str, [&str; 2], [&str; 3]); 2] =
    [("gfx90a", ["12", "12"], ["32.0", "of", "64.0"]), ("gfx1030", ["24", "24"], ["16.0", "of", "32.0"])];

/// Lanes that do not take the branch, whatever the size of waves: half of three launches of four workgroups
/// of 64.
const LOST: &str = "384";

#[test]
fn branches_are_counted_in_every_home() {
    if !tools("report", &[]) {
        return;
    }
    let program = Program::new("branches.hip", &BRANCHES.map(|(cpu, ..)| cpu), &["-lamdhip64"]);
    BRANCHES.into_iter().for_each(|(cpu, executions, lanes)| of_gpu(&program, cpu, executions, lanes));
}

fn of_gpu(program: &Program, cpu: &str, executions: [&str; 2], lanes: [&str; 3]) {
    let run =
        |variables: &[(&str, &str)]| program.run(&[], &[&[("AMDINST_TARGET_CPU", cpu)], variables].concat());
    for home in ["auto", "register", "lds", "global"] {
        let output = run(&[("AMDINST_INSTRUMENT", "report"), ("AMDINST_COUNTERS", home)]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{home}: {text}");
        let heading = text.lines().next().unwrap_or_default();
        assert!(heading.starts_with(&format!("amdinst: 3 launches; branches on {cpu}")), "{home}: {text}");
        let row = |line: &str| -> Vec<String> {
            let row = text.lines().find(|row| row.contains(line)).unwrap_or_else(|| panic!("{home}: {text}"));
            row.split_whitespace().map(str::to_owned).collect()
        };
        let ([executions, diverged], [active, of, whole]) = (executions, lanes);
        let expected = [executions, diverged, "100.0", "%", active, of, whole, LOST, "1"];
        let branch = row("branches.hip:6:");
        assert!(branch.ends_with(&expected.map(str::to_owned)), "{branch:?}");
    }
    // Instrumented and not counted: nothing is printed.
    let output = run(&[("AMDINST_INSTRUMENT", "1")]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // Nor are there races between the counters.
    for home in ["register", "lds", "global"] {
        let checked = [("AMDINST_INSTRUMENT", "1"), ("AMDINST_CHECK", "races,atomicity")];
        let output = run(&[checked.as_slice(), &[("AMDINST_COUNTERS", home)]].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{home}: {output:?}");
    }
}

/// As a run and a test do.
#[test]
fn a_branch_is_told_at_a_line_that_has_one() {
    if !tools("report", &[]) {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let shown = directory.path().join("shown.c");
    let program =
        Program::new("places.hip", &["gfx90a"], &["-lamdhip64", &format!("-DSHOWN=\"{}\"", shown.display())]);
    let told = |text: &str| {
        std::fs::write(&shown, text).expect("writing");
        let output = program.run(&[], &[("AMDINST_INSTRUMENT", "report")]);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        let row = text.lines().find(|line| line.contains(" loop ")).unwrap_or_else(|| panic!("{text}"));
        let place = row.split(" loop ").next().unwrap_or_default().trim();
        let file = place.rsplit('/').next().unwrap_or_default();
        (place.starts_with("near "), file.trim_start_matches("near ").to_owned())
    };
    // Neither line has a branch; the loop stands in a line of its instructions; and where it was said to be.
    assert_eq!(
        told("int f() {\n    x = a[i];\n\n    x = x * 3; // while\n"),
        (true, "shown.c:2:5".to_owned())
    );
    let moved = told("int f() {\n    x = a[i];\n\n    while (x > 1) x = x * 3;\n");
    assert_eq!(moved, (false, "shown.c:4:15".to_owned()));
    assert_eq!(told("int f() {\n    while (x > 1) {\n\n    x = x * 3;\n"), (false, "shown.c:2:5".to_owned()));
}
