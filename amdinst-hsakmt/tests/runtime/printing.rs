//! What kernels print is shown at the end of each launch, once, and their memory is empty at the beginning of
//! each.

use crate::support::{Program, tools};

#[test]
fn lines_are_shown_once_and_memory_is_empty_at_each_launch() {
    if !tools("printing", &[]) {
        return;
    }
    let program = Program::hip("printing.hip");
    let line = |group: u32, blocks: u32| {
        format!("amdinst: workgroup ({group}, 0, 0), work-item (0, 0, 0): taken {blocks}\n")
    };
    let output = program.run(&[], &[("AMDINST_THREADS", "1")]);
    let shown = String::from_utf8_lossy(&output.stderr);
    assert_eq!(shown, [line(0, 0), line(0, 0), line(0, 0), line(1, 1)].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "launched\nlaunched\n");

    // Before the fault of the launch that printed them.
    let output = program.run(&["astray"], &[("AMDINST_THREADS", "1")]);
    let shown = String::from_utf8_lossy(&output.stderr);
    let before = [line(0, 0), line(0, 0), line(0, 0)].concat();
    assert!(shown.starts_with(&before), "{shown}");
    assert!(
        shown[before.len()..].contains("amdinst: kernel `tell`: null pointer: write of 4 bytes at 0x1000\n"),
        "{shown}"
    );
}
