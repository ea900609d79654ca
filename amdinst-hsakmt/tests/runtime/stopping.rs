//! Kernels that never end, in programs that do.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::support::{Program, Running, tools};

/// Lasts far longer than any test.
const UNBOUNDED: (&str, &str) = ("AMDINST_BUDGET", "1000000000000000");
/// How long the end may take, on a busy machine.
const PROMPT: Duration = Duration::from_secs(5);

/// Start it, and wait until its kernel runs.
fn start(program: &Program, name: &str) -> Running {
    let running = program.start(&[name], &[UNBOUNDED]);
    let start = Instant::now();
    while running.printed() != "ready\n" && start.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    running
}

fn signal(running: &Running, signal: i32) {
    // SAFETY: no pointers; a process of ours that has not been waited for.
    assert_eq!(unsafe { libc::kill(running.child.id() as i32, signal) }, 0);
}

#[test]
fn an_interrupt_ends_the_program_and_tells_where_the_kernel_was() {
    if !tools("interrupt", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    let running = start(&program, "endless");
    signal(&running, libc::SIGINT);
    let sent = Instant::now();
    let output = running.end();
    assert!(sent.elapsed() < PROMPT, "{:?}", sent.elapsed());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGINT), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let [message, line, ..] = lines[..] else { panic!("{text}") };
    assert!(message.starts_with("amdinst: kernel `endless`: still running after "), "{text}");
    assert!(message.contains(" s when the program was interrupted"), "{text}");
    assert!(line.contains("faults.hip:"), "{text}");

    // A program that takes interrupts itself goes on doing so.
    let running = start(&program, "handler");
    signal(&running, libc::SIGINT);
    let output = running.end();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_programs_end_stops_its_kernels() {
    if !tools("leave", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    let running = start(&program, "leave");
    let begin = Instant::now();
    let output = running.end();
    assert!(begin.elapsed() < PROMPT, "{:?}", begin.elapsed());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains(" s when the program ended"), "{text}");
}

/// Destructors may use the GPU, and wait for what runs on it.
#[test]
fn a_kernel_that_somebody_waits_for_at_the_programs_end_is_not_stopped() {
    if !tools("late", &[]) {
        return;
    }
    let output = Program::hip("faults.hip").run(&["late"], &[]);
    let value = (0..1_000_000).fold(0_u32, |value, _| value.wrapping_mul(3).wrapping_add(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("ready\nlate: {value}\n"));
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

/// What a process that is killed could leave behind: processes, and files outside its directory that are no
/// device's.
#[test]
fn a_program_killed_while_a_kernel_runs_leaves_nothing() {
    if !tools("killed", &[]) {
        return;
    }
    let program = Program::hip("faults.hip");
    let mut running = start(&program, "endless");
    let process = PathBuf::from(format!("/proc/{}", running.child.id()));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    for task in std::fs::read_dir(process.join("task")).expect("its threads") {
        assert_eq!(read(&task.expect("a thread").path().join("children")), "");
    }
    let open = std::fs::read_dir(process.join("fd")).expect("its files");
    let mut files: Vec<String> = open
        .filter_map(|file| std::fs::read_link(file.ok()?.path()).ok())
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    files.extend(
        read(&process.join("maps")).lines().filter_map(|line| Some(line[line.find('/')?..].to_owned())),
    );
    let temporary = ["/tmp/", "/dev/shm/", "/var/tmp/", "/run/"];
    // The library itself may be built in such a place.
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    // The runtime has a semaphore for the whole machine.
    let of_runtime = ["/dev/shm/hsakmt", "/dev/shm/sem.hsakmt"];
    let left = |file: &&String| {
        temporary.iter().any(|place| file.starts_with(place))
            && ![program.directory(), checkout].iter().any(|own| Path::new(file).starts_with(own))
            && !file.ends_with(" (deleted)")
            && !of_runtime.iter().any(|own| file.starts_with(own))
    };
    assert_eq!(files.iter().filter(left).collect::<Vec<_>>(), Vec::<&String>::new());
    running.child.kill().expect("killing");
    assert_eq!(running.end().status.signal(), Some(libc::SIGKILL));
    assert!(!process.exists());
}

#[test]
fn a_forked_process_ends_though_its_parents_kernel_runs() {
    if !tools("forked", &[]) {
        return;
    }
    let output = Program::hip("faults.hip").run(&["forked"], &[UNBOUNDED]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ready\nforked: at once\n");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
