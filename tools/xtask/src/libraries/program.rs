//! One test program, started as often as its tests need: one that ends the program, or takes too long, costs
//! only itself.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::lines::{Lines, is_disabled, listed};
use super::outcome::{Ended, Outcome, Test, Trouble};
use super::saved::Saved;
use super::tree::Tree;

/// Starts a program with Debian 13's loader and libraries: root, program, its options. What `exec` preloads,
/// this loader preloads as well.
const START: &str = r#"root=$1; shift
lib=$root/usr/lib/x86_64-linux-gnu
exec "$root"/usr/lib64/ld-linux-x86-64.so.2 --library-path "$lib:$lib/blas:$lib/lapack" "$@""#;

/// How lines of the emulator begin.
const EMULATOR: &str = "amdinst: ";

/// How long a program may take to list its tests.
const LISTING: Duration = Duration::from_secs(300);

/// How often a program is looked at that prints nothing.
const LOOK: Duration = Duration::from_millis(50);

/// How long a program's last lines are waited for. What it has started may keep its pipes open.
const LAST_LINES: Duration = Duration::from_secs(1);

/// What one program, and one test, may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) program: Duration,
    pub(super) test: Duration,
}

/// A test program.
#[derive(Debug)]
pub(super) struct Program<'a> {
    pub(super) tree: &'a Tree,
    /// The `cargo-amdinst` that runs it.
    pub(super) command: &'a Path,
    pub(super) path: PathBuf,
    pub(super) target_cpu: &'a str,
    pub(super) limits: Limits,
    /// Tests are run that have one of these in their names; all if there are none.
    pub(super) words: &'a [String],
    /// How many of its tests are run, if not all.
    pub(super) sample: Option<NonZeroUsize>,
}

/// What became of a program's tests.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    /// The program.
    pub(super) name: String,
    /// The tests that it lists; if it runs some of them, those.
    pub(super) listed: BTreeSet<String>,
    /// How many more it lists, that were not asked for.
    pub(super) left_out: usize,
    /// Those that ended, by name.
    pub(super) ended: BTreeMap<String, Test>,
    /// What else is wrong.
    pub(super) troubles: Vec<Trouble>,
}

impl Program<'_> {
    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Runs all of its tests that no earlier run has, until the program's time is over.
    pub(super) fn run(&self, library: &str, saved: &mut Saved) -> Result<Results> {
        let mut results = Results { name: self.name(), ..Results::default() };
        let deadline = Instant::now() + self.limits.program;
        match self.list()? {
            Ok(mut tests) => {
                let all = tests.len();
                if !self.words.is_empty() {
                    tests.retain(|test| self.words.iter().any(|word| test.contains(&**word)));
                }
                results.listed = sample(tests, self.sample);
                results.left_out = all - results.listed.len();
            }
            Err(why) => {
                results.troubles.push(Trouble::Listing(why));
                return Ok(results);
            }
        }
        let before = saved.of(library, &results.name, self.limits.test);
        (results.ended, results.troubles) = (before.tests, before.troubles);
        // A program may have lost tests since.
        results.ended.retain(|test, _| results.listed.contains(test));
        for test in results.listed.iter().filter(|test| is_disabled(test)) {
            let (outcome, message) = (Outcome::Skipped, "disabled".to_owned());
            let test = Test { name: test.clone(), outcome, elapsed: Duration::ZERO, message };
            results.ended.insert(test.name.clone(), test);
        }
        while results.not_finished() > 0 {
            let left = results.not_finished();
            let trouble =
                self.once(&mut results, deadline, |test| saved.test(library, &self.name(), test))?;
            let is_late = matches!(trouble, Some(Trouble::TimeOver(..)));
            let is_stuck = results.not_finished() == left;
            if let Some(trouble) = trouble.or(is_stuck.then_some(Trouble::Stuck)) {
                saved.trouble(library, &self.name(), &trouble)?;
                results.troubles.push(trouble);
            }
            if is_late || is_stuck {
                break;
            }
        }
        // It is there if the program was started.
        let _ = std::fs::remove_file(self.tree.filter());
        if results.listed.is_empty() {
            if results.left_out == 0 && !super::EMPTY.contains(&&*results.name) {
                results.troubles.push(Trouble::NoTest);
            }
        } else if results.count(Outcome::Skipped) == results.listed.len() {
            results.troubles.push(Trouble::AllSkipped);
        }
        Ok(results)
    }

    /// Its tests, or why it did not say them.
    fn list(&self) -> Result<Result<BTreeSet<String>, Ended>> {
        let mut started = self.start(&["--gtest_list_tests"])?;
        let deadline = Instant::now() + LISTING;
        let mut text = String::new();
        loop {
            match started.next(deadline)? {
                Event::Line(line) => text = text + &line + "\n",
                Event::Ended(status) if status.success() => {
                    return Ok(Ok(listed(&text).into_iter().collect()));
                }
                Event::Ended(status) => return Ok(Err(Ended::Itself(status, started.errors()))),
                Event::Late => return Ok(Err(Ended::TimeOver(LISTING))),
            }
        }
    }

    /// Starts the program with the tests that are left, and follows it until it ends or a test takes too
    /// long; `save` is told of each test that ends.
    fn once(
        &self,
        results: &mut Results,
        deadline: Instant,
        mut save: impl FnMut(&Test) -> Result<()>,
    ) -> Result<Option<Trouble>> {
        // What a program runs without listing it shows in its exit code.
        let mut end = |results: &mut Results, test: Option<Test>| {
            let Some(test) = test.filter(|test| results.listed.contains(&test.name)) else { return Ok(()) };
            save(&test)?;
            results.ended.insert(test.name.clone(), test);
            Ok::<(), anyhow::Error>(())
        };
        let filter = self.tree.filter();
        let is_part = results.left_out > 0;
        let names: Vec<&String> = if is_part {
            results.listed.iter().filter(|test| !results.ended.contains_key(*test)).collect()
        } else {
            results.ended.keys().collect()
        };
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        let all_but = if is_part { "" } else { "*-" };
        // In a file, for thousands of names have no room in a command line.
        std::fs::write(&filter, format!("--gtest_filter={all_but}{}\n", names.join(":")))
            .with_context(|| format!("cannot write {}", filter.display()))?;
        let mut started = self.start(&[&format!("--gtest_flagfile={}", filter.display())])?;
        let mut lines = Lines::default();
        loop {
            let running = lines.running().map(|(name, since)| (name.to_owned(), since + self.limits.test));
            let limit = running.as_ref().map_or(deadline, |(_, limit)| deadline.min(*limit));
            match started.next(limit)? {
                Event::Line(line) => end(results, lines.read(&line))?,
                Event::Late => {
                    let is_listed = running.as_ref().is_some_and(|(name, _)| results.listed.contains(name));
                    if is_listed && limit < deadline {
                        let why = Ended::TimeOver(self.limits.test).to_string();
                        end(results, lines.end(Outcome::TimeOver, &why))?;
                        return Ok(None);
                    }
                    let why = Ended::TimeOver(self.limits.program);
                    return Ok(Some(Trouble::TimeOver(running.map(|(name, _)| name), why)));
                }
                Event::Ended(status) => {
                    let why = Ended::Itself(status, started.errors());
                    if let Some((name, _)) = running {
                        if !results.listed.contains(&name) {
                            return Ok(Some(Trouble::AtEnd(why)));
                        }
                        end(results, lines.end(Outcome::Died, &why.to_string()))?;
                        return Ok(None);
                    }
                    // GoogleTest's own is 1 if a test failed, which is bad enough without it.
                    let is_fine = status.success() || (lines.has_failed && status.code() == Some(1));
                    return Ok(match lines.last {
                        None => Some(Trouble::BeforeFirst(why)),
                        Some(last) if results.not_finished() > 0 => Some(Trouble::After(last, why)),
                        Some(_) if !is_fine => Some(Trouble::AtEnd(why)),
                        Some(_) => None,
                    });
                }
            }
        }
    }

    /// Starts the program under `exec`, which becomes it.
    fn start(&self, options: &[&str]) -> Result<Started> {
        let mut command = Command::new(self.command);
        command.args(["amdinst", "exec", "--die-with-parent", "--target-cpu", self.target_cpu]);
        command.args(["--", "sh", "-c", START, "sh"]);
        command.arg(self.tree.root()).arg(&self.path).args(options);
        command.env("LD_LIBRARY_PATH", self.tree.runtime());
        // A filter, or a share of the tests, that is meant for other programs.
        for (variable, _) in std::env::vars_os() {
            if variable.to_string_lossy().starts_with("GTEST_") {
                command.env_remove(variable);
            }
        }
        command.env("GTEST_COLOR", "no");
        Started::new(&mut command).with_context(|| format!("cannot start {}", self.command.display()))
    }
}

impl Results {
    /// Whether every test passed or was left out by the program, and nothing else is wrong. A `partial` run
    /// may lack what there was no time for, but not all: a program that does not come to its first test is
    /// wrong.
    pub(super) fn is_good(&self, partial: bool) -> bool {
        let has_begun = |test: &Option<String>| test.is_some() || !self.ended.is_empty();
        let late = |trouble: &Trouble| matches!(trouble, Trouble::TimeOver(test, _) if has_begun(test));
        let bad = [Outcome::Failed, Outcome::Died].map(|outcome| self.count(outcome)).iter().sum::<usize>();
        let missing = self.not_finished() + self.count(Outcome::TimeOver);
        // A program that has not finished its tests is in trouble.
        bad == 0 && (partial || missing == 0) && self.troubles.iter().all(|trouble| partial && late(trouble))
    }

    /// How many tests ended like this.
    pub(super) fn count(&self, outcome: Outcome) -> usize {
        self.ended.values().filter(|test| test.outcome == outcome).count()
    }

    /// Tests that have not ended, whether they began or not.
    pub(super) fn not_finished(&self) -> usize {
        self.listed.len() - self.ended.len()
    }

    /// What its tests took, without the starts of the program.
    pub(super) fn elapsed(&self) -> Duration {
        self.ended.values().map(|test| test.elapsed).sum()
    }

    /// One line for people.
    pub(super) fn line(&self) -> String {
        let mut line = format!("{}: {} tests", self.name, self.listed.len());
        if self.left_out > 0 {
            line += &format!(" of {}", self.listed.len() + self.left_out);
        }
        for outcome in Outcome::ALL {
            line += &format!(", {} {}", self.count(outcome), outcome.name());
        }
        line += &format!(", {} not finished, {:.0} s", self.not_finished(), self.elapsed().as_secs_f64());
        for trouble in &self.troubles {
            line += &format!("; {trouble}");
        }
        line
    }
}

/// As many of the tests as that, evenly spread over the order of their names; all if there are no more.
fn sample(tests: BTreeSet<String>, size: Option<NonZeroUsize>) -> BTreeSet<String> {
    let all = tests.len();
    let Some(size) = size.map(NonZeroUsize::get).filter(|&size| size < all) else { return tests };
    // The test at place `i` is chosen if the first `i + 1` have a share that the first `i` have not.
    let share = |first: usize| first as u128 * size as u128 / all as u128;
    let chosen = tests.into_iter().enumerate().filter(|&(index, _)| share(index + 1) > share(index));
    chosen.map(|(_, test)| test).collect()
}

/// A program that runs.
#[derive(Debug)]
struct Started {
    child: Child,
    lines: Receiver<Line>,
    /// The last line of stderr.
    last_error: String,
    /// The last of the emulator's.
    fault: String,
    /// How it ended, and until when its last lines are waited for.
    ended: Option<(ExitStatus, Instant)>,
}

/// A line of one of its outputs.
#[derive(Debug)]
enum Line {
    Output(String),
    Error(String),
}

/// What came next.
#[derive(Debug)]
enum Event {
    /// A line of stdout.
    Line(String),
    Ended(ExitStatus),
    /// Neither, until the time given.
    Late,
}

impl Started {
    fn new(command: &mut Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (sender, lines) = channel();
        if let Some(output) = child.stdout.take() {
            read(output, sender.clone(), Line::Output);
        }
        if let Some(errors) = child.stderr.take() {
            read(errors, sender, Line::Error);
        }
        Ok(Self { child, lines, last_error: String::new(), fault: String::new(), ended: None })
    }

    /// The line of stderr that says why it ended. HIP has its own word on a fault after the emulator's, which
    /// says more.
    fn errors(&self) -> String {
        if self.fault.is_empty() || self.fault == self.last_error {
            return self.last_error.clone();
        }
        format!("{} … {}", self.fault, self.last_error)
    }

    /// Waits for a line or the end.
    fn next(&mut self, limit: Instant) -> Result<Event> {
        loop {
            let now = Instant::now();
            let until = match self.ended {
                Some((_, until)) => until,
                // Lines that were written in time may still come, but not for ever.
                None if now < limit => limit.min(now + LOOK),
                None => now,
            };
            if self.ended.is_none() && now >= limit + LAST_LINES {
                return Ok(Event::Late);
            }
            let closed = match self.lines.recv_timeout(until.saturating_duration_since(now)) {
                Ok(Line::Output(line)) => return Ok(Event::Line(line)),
                Ok(Line::Error(line)) => {
                    for (last, start) in [(&mut self.last_error, ""), (&mut self.fault, EMULATOR)] {
                        if line.starts_with(start) && !line.trim().is_empty() {
                            line.trim().clone_into(last);
                        }
                    }
                    continue;
                }
                Err(error) => error == RecvTimeoutError::Disconnected,
            };
            match self.ended {
                Some((status, _)) => return Ok(Event::Ended(status)),
                None if now >= limit => return Ok(Event::Late),
                None => {}
            }
            if let Some(status) = self.child.try_wait()? {
                self.ended = Some((status, Instant::now() + LAST_LINES));
            } else if closed {
                std::thread::sleep(LOOK);
            }
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends the lines of an output, in a thread that ends with it.
fn read(output: impl Read + Send + 'static, sender: Sender<Line>, line: fn(String) -> Line) {
    std::thread::spawn(move || {
        for bytes in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let text = String::from_utf8_lossy(&bytes).trim_end().to_owned();
            if sender.send(line(text)).is_err() {
                break;
            }
        }
    });
}
