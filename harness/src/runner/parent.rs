//! Ending when `cargo amdinst test` does, whoever ended it: it has its cargo end with it, and this is for
//! cargo's test programs.

/// Have the system end this process when its parent's thread that started it ends, which for cargo is the
/// main one. It is by a signal that leaves time to tell which kernels were running.
pub(super) fn die_with_it() {
    // SAFETY: no pointers. Without it the program runs to its own end: no reason not to run at all.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM as libc::c_ulong) };
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    #[ignore = "the other one runs it in a process of its own"]
    fn child() {
        super::die_with_it();
        println!("\nprocess {}", std::process::id());
        std::thread::sleep(Duration::from_secs(600));
    }

    #[test]
    fn a_process_ends_when_its_parent_is_killed() {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", r#""$0" --exact runner::parent::tests::child --ignored --nocapture & wait"#]);
        shell.arg(std::env::current_exe().unwrap()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = shell.spawn().unwrap();
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines().map_while(Result::ok);
        let process = lines.find_map(|line| line.strip_prefix("process ").map(str::to_owned)).unwrap();
        // Nobody may have asked yet how it ended.
        let has_ended = || {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(['Z', 'X']))
        };
        assert!(!has_ended());
        shell.kill().unwrap();
        shell.wait().unwrap();
        let begin = Instant::now();
        while !has_ended() && begin.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(has_ended(), "{process} is still there");
    }
}
