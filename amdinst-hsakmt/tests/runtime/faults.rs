//! Kernels that go wrong: the runtime ends the program, and the reason is told before that.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use crate::support::{Program, tools};

/// The signal that `abort` raises.
const ABORTED: i32 = 6;

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
            "faults.hip:9:",
            "Memory access fault by GPU node-1",
        ),
        (
            "host",
            "out of bounds: read of 4 bytes at 0x",
            "faults.hip:10:",
            "Memory access fault by GPU node-1",
        ),
        ("endless", "instruction budget exhausted", "faults.hip:12:", "HSA_STATUS_ERROR_EXCEPTION"),
        ("trap", "the kernel trapped (s_trap 2)", "faults.hip:16:", "HSA_STATUS_ERROR_EXCEPTION"),
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
fn races_and_divergent_barriers_are_faults_if_asked_for() {
    if !tools("checks", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    // Of C++ nothing tells what is atomic.
    let output = program.run(&["race"], &[("AMDINST_CHECK", "races")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("amdinst: warning: kernel `"), "{text}");
    assert!(
        text.contains("data race (unless both accesses are atomic) in LDS: write of 4 bytes at 0x"),
        "{text}"
    );
    for (name, check, message, lines) in [
        (
            "race",
            "races,atomicity",
            "data race in LDS: write of 4 bytes at 0x",
            &["tile[LOCAL] =", "127 - LOCAL"][..],
        ),
        ("barrier", "barriers", "28 of the wave's 64 work-items are not at it", &["LOCAL < 100"]),
    ] {
        let output = program.run(&[name], &[]);
        assert!(output.status.success(), "{name} as on hardware: {output:?}");
        let output = program.run(&[name], &[("AMDINST_CHECK", check)]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(ABORTED), "{name}: {text}");
        let first = text.lines().next().unwrap_or_default();
        assert!(first.starts_with("amdinst: kernel `") && first.contains(message), "{name}: {text}");
        let source = include_str!("programs/faults.hip");
        assert!(text.contains(" --> tests/runtime/programs/faults.hip:"), "{name}: {text}");
        for line in lines {
            let number = 1 + source.lines().position(|text| text.contains(line)).expect("the line");
            let excerpt = format!("{number} |");
            let shown = text.lines().any(|shown| shown.starts_with(&excerpt) && shown.contains(line));
            assert!(shown, "{name}, line {number}: {text}");
        }
        assert!(text.contains("HSA_STATUS_ERROR_EXCEPTION"), "{name}: {text}");
    }
}

#[test]
fn lds_out_of_range_is_as_on_hardware_and_told_once() {
    if !tools("out_of_range", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    let output = program.run(&["beyond"], &[]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let message = "out of bounds: read of 4 bytes at 0xfa0 in LDS: ";
    assert_eq!(text.matches(message).count(), 1, "{text}");
    assert!(text.starts_with("amdinst: warning: kernel `"), "{text}");
    assert!(text.contains("reads out of range return zero and writes are discarded"), "{text}");

    let output = program.run(&["beyond"], &[("AMDINST_OUT_OF_RANGE", "fault")]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORTED), "{text}");
    assert!(text.starts_with("amdinst: kernel `") && text.contains(message), "{text}");
}

#[test]
fn missing_waits_of_launched_kernels_are_told_once_if_asked_for() {
    if !tools("missing_waits", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    for (name, check, warnings) in [("early", "all", 1), ("early", "races", 0), ("beyond", "waits", 0)] {
        let output = program.run(&[name], &[("AMDINST_CHECK", check)]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {text}");
        let told = "amdinst: warning: kernel `early`: `s_waitcnt vmcnt(0)` is missing before 0x";
        assert_eq!(text.matches(told).count(), warnings, "{name}: {text}");
        assert_eq!(text.matches("is missing").count(), warnings, "{name}: {text}");
        assert_eq!(
            text.matches("programs/faults.hip:").count() > 0,
            warnings > 0 || name == "beyond",
            "{text}"
        );
    }
}

/// Who cannot be told anything must not wait forever.
#[test]
fn a_full_stderr_changes_nothing_else() {
    if !tools("full", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    for name in ["stray", "trap"] {
        let output = program.start_telling(&[name], &[], Path::new("/dev/full")).end();
        assert_eq!(output.status.signal(), Some(ABORTED), "{name}: {output:?}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\n");
    }
}
