//! Ctrl-C, TERM and HUP during a launch: the command tells where the kernel was, and ends by the signal.

mod support;

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SOURCE: &str = include_str!("sources/signals.cl");

#[test]
fn a_signal_tells_where_the_kernel_was() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("k.cl"), SOURCE).unwrap();
    if !support::compile(&directory.path().join("k.cl"), &directory.path().join("k.elf")) {
        return;
    }
    for (signal, name, options) in [
        (libc::SIGINT, "SIGINT", ""),
        (libc::SIGTERM, "SIGTERM", "--check races"),
        (libc::SIGHUP, "SIGHUP", "--report --grid 40"),
        (libc::SIGTERM, "SIGTERM", "--timing mi210"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst"));
        command.current_dir(directory.path()).env("NO_COLOR", "1");
        command.args(["run", "k.elf", "--block", "64", "--budget", "9000000000000", "--arg", "u32[64]"]);
        if !options.contains("--grid") {
            command.args(["--grid", "1"]);
        }
        command.args(options.split_whitespace());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(700));
        // SAFETY: no pointers; the child has not been waited for.
        assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
        let begin = Instant::now();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(signal), "{options}: {told}");
        assert!(told.contains("stopped before its end") && told.contains("k.cl:1"), "{options}: {told}");
        assert!(told.contains(&format!("{name} ends this command")), "{options}: {told}");
        assert!(begin.elapsed() < Duration::from_secs(20), "{options}");
    }
}
