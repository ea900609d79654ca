//! What GoogleTest prints of its tests, line by line.

use std::time::Instant;

use super::outcome::{Outcome, Test};

/// How much of a test's output its message has.
const MESSAGE: usize = 600;

/// The tests that `--gtest_list_tests` prints, each with its suite.
pub(super) fn listed(text: &str) -> Vec<String> {
    let mut suite = "";
    let mut tests = Vec::new();
    for line in text.lines() {
        // Parameters stand behind a number sign.
        let name = line.split('#').next().unwrap_or_default().trim_end();
        match name.strip_prefix("  ") {
            Some(test) if !suite.is_empty() => tests.push(format!("{suite}{test}")),
            Some(_) => {}
            None => suite = if name.ends_with('.') && !name.contains(' ') { name } else { "" },
        }
    }
    tests
}

/// Whether GoogleTest leaves a test out because of its name.
pub(super) fn is_disabled(test: &str) -> bool {
    test.split(['.', '/']).any(|part| part.starts_with("DISABLED_"))
}

/// Follows the lines of one run.
#[derive(Debug, Default)]
pub(super) struct Lines {
    running: Option<Running>,
    /// The test that ended last.
    pub(super) last: Option<String>,
    /// Whether a test failed.
    pub(super) has_failed: bool,
}

/// A test that has begun.
#[derive(Debug)]
struct Running {
    name: String,
    since: Instant,
    message: String,
}

impl Lines {
    /// The test that runs, and since when.
    pub(super) fn running(&self) -> Option<(&str, Instant)> {
        self.running.as_ref().map(|running| (&*running.name, running.since))
    }

    /// The test that ran when the program ended.
    pub(super) fn end(&mut self, outcome: Outcome, reason: &str) -> Option<Test> {
        let mut running = self.running.take()?;
        running.because(reason);
        Some(self.finish(running, outcome))
    }

    /// Reads a line; the test that it ends.
    pub(super) fn read(&mut self, line: &str) -> Option<Test> {
        // A test may have printed something without an end of line, so that the mark is not at the start.
        if let Some((_, rest)) = line.split_once("[ RUN      ] ") {
            let name = name(rest).to_owned();
            let next = Running { name, since: Instant::now(), message: String::new() };
            let mut before = self.running.replace(next)?;
            before.because("the program began its next test without a word on this one");
            return Some(self.finish(before, Outcome::Failed));
        }
        let running = self.running.as_mut()?;
        let marks = [
            ("[       OK ] ", Outcome::Passed),
            ("[  FAILED  ] ", Outcome::Failed),
            ("[  SKIPPED ] ", Outcome::Skipped),
        ];
        for (mark, outcome) in marks {
            if let Some((before, rest)) = line.split_once(mark)
                && name(rest) == running.name
            {
                running.say(before);
                let running = self.running.take()?;
                return Some(self.finish(running, outcome));
            }
        }
        running.say(line);
        None
    }

    fn finish(&mut self, running: Running, outcome: Outcome) -> Test {
        self.last = Some(running.name.clone());
        self.has_failed |= outcome == Outcome::Failed;
        let message = if outcome == Outcome::Passed { String::new() } else { running.message };
        Test { name: running.name, outcome, elapsed: running.since.elapsed(), message }
    }
}

impl Running {
    /// Puts a reason before what the test said.
    fn because(&mut self, reason: &str) {
        let said = std::mem::take(&mut self.message);
        self.message = if said.is_empty() { reason.to_owned() } else { format!("{reason}; {said}") };
    }

    /// Adds to the message, in one line, as much as it may have.
    fn say(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if self.message.len() + word.len() > MESSAGE {
                break;
            }
            if !self.message.is_empty() {
                self.message.push(' ');
            }
            self.message.push_str(word);
        }
    }
}

/// The name at the start of what follows a mark.
fn name(rest: &str) -> &str {
    rest.split([' ', ',']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_listed_with_their_suites() {
        let text = "Running main() from gtest_main.cc\n  no test\na.\n  one\n  DISABLED_two\n\
                    b/0.  # TypeParam = int\n  three/7  # GetParam() = 8 bytes\n";
        let tests = listed(text);
        assert_eq!(tests, ["a.one", "a.DISABLED_two", "b/0.three/7"]);
        assert_eq!(tests.iter().filter(|test| is_disabled(test)).count(), 1);
        assert!(is_disabled("x/DISABLED_y.z") && !is_disabled("x.NOT_DISABLED_z"));
    }

    #[test]
    fn each_line_ends_the_test_that_it_names() {
        let mut lines = Lines::default();
        let text = "[ RUN      ] a.one\n[  FAILED  ] b.one (1 ms)\n12[       OK ] a.one (3 ms)\n\
                    [ RUN      ] a.two\nf.cpp:3: Failure\n[  FAILED  ] a.two, where GetParam() = 7 (1 ms)\n\
                    [ RUN      ] a.three\n[  SKIPPED ] a.three (0 ms)\n[ RUN      ] a.four\n[ RUN      ] a.five\n";
        let tests: Vec<Test> = text.lines().filter_map(|line| lines.read(line)).collect();
        let ended: Vec<_> = tests.iter().map(|test| (&*test.name, test.outcome, &*test.message)).collect();
        let silent = "the program began its next test without a word on this one";
        assert_eq!(
            ended,
            [
                ("a.one", Outcome::Passed, ""),
                ("a.two", Outcome::Failed, "f.cpp:3: Failure"),
                ("a.three", Outcome::Skipped, ""),
                ("a.four", Outcome::Failed, silent),
            ]
        );
        assert_eq!(lines.running().map(|(name, _)| name), Some("a.five"));
        let died = lines.end(Outcome::Died, "exit code 0").map(|test| (test.name, test.message));
        assert_eq!(died, Some(("a.five".to_owned(), "exit code 0".to_owned())));
        // The summary names failed tests once more.
        assert_eq!(lines.read("[  FAILED  ] a.two, where GetParam() = 7"), None);
    }
}
