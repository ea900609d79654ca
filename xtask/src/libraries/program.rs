//! One test program, and what GoogleTest prints of its tests.

use std::fmt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::tree::Tree;

/// Starts a program with Debian 13's loader and libraries: root, runtime, program, its options. `exec` has put the directory of the
/// emulator into `LD_LIBRARY_PATH`.
const START: &str = r#"root=$1 hip=$2; shift 2
exec "$root"/usr/lib64/ld-linux-x86-64.so.2 --library-path "$LD_LIBRARY_PATH:$hip:$root/usr/lib/x86_64-linux-gnu" "$@""#;

/// How `timeout` ends when the time is over.
const TIMED_OUT: i32 = 124;

/// A test program.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) tree: &'a Tree,
    pub(super) path: PathBuf,
    pub(super) target_cpu: &'a str,
    /// How long it may take.
    pub(super) seconds: u32,
}

/// What became of a program's tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Results {
    /// The program.
    pub(super) name: String,
    /// How many tests it has.
    pub(super) tests: usize,
    /// How many ended well.
    pub(super) passed: usize,
    /// How many the program leaves out by itself.
    pub(super) skipped: usize,
    /// Those that did not.
    pub(super) failed: Vec<String>,
    /// The test that ran when the program ended, and why it ended.
    pub(super) broken: Option<(String, Ended)>,
    pub(super) elapsed: Duration,
}

/// Why a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It may take no more than so many seconds.
    TimeOver(u32),
    /// By itself, or by a signal.
    Itself(ExitStatus),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeOver(seconds) => write!(f, "the time was over after {seconds} s"),
            Self::Itself(status) => match status.code() {
                Some(code) => write!(f, "the program ended with exit code {code}"),
                None => write!(f, "the program ended: {status}"),
            },
        }
    }
}

impl Program<'_> {
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs all of its tests, until the time is over.
    pub(super) fn run(&self) -> Result<Results> {
        let listed = self.command(60).arg("--gtest_list_tests").output().context("running the command")?;
        ensure!(listed.status.success(), "{}: {}", self.name(), String::from_utf8_lossy(&listed.stderr));
        let tests =
            String::from_utf8_lossy(&listed.stdout).lines().filter(|line| line.starts_with("  ")).count();
        let start = Instant::now();
        let output = self.command(self.seconds).output().context("running the command")?;
        let mut results =
            Results { name: self.name(), tests, elapsed: start.elapsed(), ..Results::default() };
        let ended = match output.status.code() {
            Some(TIMED_OUT) => Ended::TimeOver(self.seconds),
            _ => Ended::Itself(output.status),
        };
        results.read(&String::from_utf8_lossy(&output.stdout), ended);
        Ok(results)
    }

    /// The program under `exec`, which becomes it, and both under `timeout`.
    fn command(&self, seconds: u32) -> Command {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", &seconds.to_string()]);
        // As `cargo xtask` was built beside it.
        let here = std::env::current_exe().unwrap_or_default();
        command.arg(here.with_file_name("cargo-amdinst"));
        command.args(["amdinst", "exec", "--target-cpu", self.target_cpu, "--", "sh", "-c", START, "sh"]);
        command.arg(self.tree.root()).arg(self.tree.runtime()).arg(&self.path);
        command.env("GTEST_COLOR", "no").stdin(Stdio::null());
        command
    }
}

impl Results {
    /// Whether no test failed, and none was running when the program ended for another reason than time.
    pub(super) fn is_good(&self) -> bool {
        self.failed.is_empty() && !matches!(self.broken, Some((_, Ended::Itself(_))))
    }

    /// Tests that were not begun.
    pub(super) fn not_reached(&self) -> usize {
        let begun = self.passed + self.skipped + self.failed.len() + usize::from(self.broken.is_some());
        self.tests.saturating_sub(begun)
    }

    /// One line for people.
    pub(super) fn line(&self) -> String {
        let broken = self.broken.as_ref().map_or(String::new(), |(test, why)| format!("; in {test} {why}"));
        format!(
            "{}: {} of {} passed, {} failed, {} skipped, {} not reached, {:.0} s{broken}",
            self.name,
            self.passed,
            self.tests,
            self.failed.len(),
            self.skipped,
            self.not_reached(),
            self.elapsed.as_secs_f64()
        )
    }

    /// Reads GoogleTest's lines; `ended` says why a test has none for its end.
    fn read(&mut self, text: &str, ended: Ended) {
        let mut running = None;
        // The summary names failed tests once more.
        for line in
            text.lines().take_while(|line| !line.starts_with("[==========] ") || !line.contains(" ran."))
        {
            let Some((mark, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else {
                continue;
            };
            let test = rest.trim().split([' ', ',']).next().unwrap_or_default().to_owned();
            match mark.trim() {
                "RUN" => running = Some(test),
                "OK" => (running, self.passed) = (None, self.passed + 1),
                "SKIPPED" => (running, self.skipped) = (None, self.skipped + 1),
                "FAILED" => {
                    running = None;
                    self.failed.push(test);
                }
                _ => {}
            }
        }
        self.broken = running.map(|test| (test, ended));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_google_test_are_counted() {
        let text = "[==========] Running 5 tests from 1 test suite.\n[ RUN      ] a.one\n[       OK ] a.one (3 ms)\n\
                    [ RUN      ] a.two\nf.cpp:3: Failure\n[  FAILED  ] a.two, where GetParam() = 7 (1 ms)\n\
                    [ RUN      ] a.three\n[  SKIPPED ] a.three (0 ms)\n";
        let mut whole = Results { tests: 5, ..Results::default() };
        whole.read(
            &format!("{text}[==========] 3 tests from 1 test suite ran. (4 ms total)\n[  FAILED  ] a.two\n"),
            Ended::Itself(ExitStatus::default()),
        );
        assert_eq!((whole.passed, whole.skipped, &whole.failed[..]), (1, 1, &["a.two".to_owned()][..]));
        assert_eq!((whole.not_reached(), &whole.broken, whole.is_good()), (2, &None, false));
        let mut cut = Results { tests: 5, ..Results::default() };
        cut.read(&format!("{text}[ RUN      ] a.four\n"), Ended::TimeOver(9));
        assert_eq!(cut.broken, Some(("a.four".to_owned(), Ended::TimeOver(9))));
        assert_eq!(Ended::TimeOver(9).to_string(), "the time was over after 9 s");
        assert_eq!(cut.not_reached(), 1);
    }
}
