//! At which line of the source a branch is told that the compiler gave a line without one.

mod support;

use std::fs;
use std::path::Path;

/// A loop that the line table has at line 2 of `shown.c`, and its body at line 4.
const LOOP: &str = "\
kernel void halve(global int *a) {
    int i = __builtin_amdgcn_workitem_id_x();
    int x = a[i];
#line 2 \"shown.c\"
    while (x > 1) {
#line 4 \"shown.c\"
        x = x >> 1;
#line 2 \"shown.c\"
    }
    a[i] = x;
}
";

/// Where the report tells the loop.
fn told(directory: &Path) -> String {
    let words = "run loop.elf --kernel halve --grid 1 --block 64 --arg iota:i32[64] --report";
    let text = support::stdout(directory, words);
    let row = text.lines().find(|line| line.contains(" loop ")).unwrap_or_else(|| panic!("{text}"));
    row.split(" loop ").next().unwrap_or_default().trim().to_owned()
}

#[test]
fn a_branch_is_told_at_a_line_that_has_one() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = directory.join("loop.cl");
    fs::write(&source, LOOP).unwrap();
    if !support::compile(&source, &directory.join("loop.elf")) {
        return;
    }
    let with = |text: &str| {
        fs::write(directory.join("shown.c"), text).unwrap();
        told(directory)
    };
    // Nobody can tell what stands there.
    assert_eq!(told(directory), "shown.c:2:5");
    // The body's line has no branch, either.
    assert_eq!(with("int f() {\n    x = a[i];\n\n    x = x * 3; // while\n"), "near shown.c:2:5");
    // The loop stands in a line of its instructions.
    assert_eq!(with("int f() {\n    x = a[i];\n\n    while (x > 1) x = x * 3;\n"), "shown.c:4:15");
    // What has a branch is believed.
    assert_eq!(with("int f() {\n    if (x > 1) {\n\n    while (x > 1) x = x * 3;\n"), "shown.c:2:5");
}
