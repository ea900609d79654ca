//! AQL queues, by hand: what a packet processor must do and HIP seldom asks for.

use crate::support::{Program, good, tools};

#[test]
fn packets_run_whoever_rings_last_and_queues_end_with_work_in_them() {
    if !tools("queues", &[]) {
        return;
    }
    let program = Program::new("queues.c", &[], &["-lhsa-runtime64", "-lpthread"]);
    let kernels = program.kernels("kernels.cl");
    for (name, printed) in [
        ("swapped", "swapped: all packets ran\n"),
        ("producers", "producers: all packets ran, 102400 work-items\n"),
        (
            "barriers",
            "barrier-or: with no signal 0, with one 1, with both 1\n\
             barrier-and: with no signal 0, with one 0, with both 1\n\
             128 work-items\n",
        ),
        ("several", "several queues: one after the other, 384 work-items\n"),
        ("pending", "pending: ended at once, 64 work-items\n"),
    ] {
        assert_eq!(good(&program.run(&[&kernels, name], &[])), printed);
    }
    // A budget that lasts far longer than the test.
    let output = program.run(&[&kernels, "running"], &[("AMDINST_BUDGET", "1000000000000")]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "running: ended at once\n");
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().collect();
    let [message, line, ..] = lines[..] else { panic!("{text}") };
    assert!(message.starts_with("amdinst: kernel `endless`: still running after "), "{text}");
    assert!(message.contains(" s when its queue was destroyed"), "{text}");
    assert!(line.contains("kernels.cl:6"), "{text}");
}
