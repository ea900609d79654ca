//! Kernels that go wrong: the runtime ends the program, and the reason is told before that.

use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use crate::support::{Program, tools};

/// The signal that `abort` raises.
const ABORTED: i32 = 6;
const KILLED: i32 = 9;

#[test]
fn the_reason_and_its_source_line_are_told() {
    if !tools("faults", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    for (name, message, line, runtimes) in [
        (
            "stray",
            "out of bounds: write of 4 bytes at 0x",
            "faults.hip:5:",
            "Memory access fault by GPU node-1",
        ),
        (
            "host",
            "out of bounds: read of 4 bytes at 0x",
            "faults.hip:6:",
            "Memory access fault by GPU node-1",
        ),
        ("endless", "instruction budget exhausted", "faults.hip:8:", "HSA_STATUS_ERROR_EXCEPTION"),
        ("trap", "the kernel trapped (s_trap 2)", "faults.hip:12:", "HSA_STATUS_ERROR_EXCEPTION"),
    ] {
        let output = program.run(&[name], &[("AMDINST_BUDGET", "100000")]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(ABORTED), "{name}: {text}");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("amdinst: kernel `") && first.contains(message), "{name}: {text}");
        assert!(text.contains(line), "{name}: {text}");
        assert!(text.contains(runtimes), "{name}: {text}");
    }
    // What HIP itself refuses never reaches the GPU.
    let output = program.run(&["large"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("hipErrorInvalidConfiguration\n"));
}

#[test]
fn a_program_killed_while_a_kernel_runs_leaves_nothing() {
    if !tools("killed", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    let mut running = program.start(&["endless"], &[]);
    let start = Instant::now();
    while running.printed() != "ready\n" && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    let id = running.child.id();
    running.child.kill().expect("killing");
    assert_eq!(running.end().status.signal(), Some(KILLED));
    assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
}
