//! What a step's tests came to, read from the lines test runners print.

/// One test and how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// The test's name.
    pub(crate) name: String,
    /// How it ended.
    pub(crate) verdict: Verdict,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Well.
    Passed,
    /// Not well.
    Failed,
    /// Not run.
    Ignored,
}

/// Counts, names and reasons.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) ignored: u64,
    /// What was skipped, and why.
    pub(crate) skips: Vec<String>,
    /// What failed.
    pub(crate) failures: Vec<String>,
    /// Every test seen.
    pub(crate) cases: Vec<Case>,
}

impl Tally {
    /// A step that is one test.
    pub(crate) fn one(name: &str, passed: bool) -> Self {
        let verdict = if passed { Verdict::Passed } else { Verdict::Failed };
        Self {
            passed: passed.into(),
            failed: (!passed).into(),
            failures: if passed { Vec::new() } else { vec![name.to_owned()] },
            cases: vec![Case { name: name.to_owned(), verdict }],
            ..Self::default()
        }
    }

    /// Takes in one line of a test runner's output: `test a::b ... ok`,
    /// `test result: ok. 3 passed; 0 failed; …`.
    pub(crate) fn line(&mut self, line: &str) {
        // Tests tell of what they skipped with a line of this form.
        if let Some((_, reason)) = line.split_once("SKIPPED: ") {
            self.skips.push(reason.trim().to_owned());
        }
        let Some(rest) = line.strip_prefix("test ") else { return };
        if let Some(counts) = rest.strip_prefix("result: ") {
            self.passed += count_before(counts, " passed");
            self.failed += count_before(counts, " failed");
            self.ignored += count_before(counts, " ignored");
        } else if let Some((name, end)) = rest.rsplit_once(" ... ") {
            let verdict = match end.split([' ', ',']).next() {
                Some("ok") => Verdict::Passed,
                Some("FAILED") => Verdict::Failed,
                Some("ignored") => Verdict::Ignored,
                _ => return,
            };
            let name = name.trim().to_owned();
            if verdict == Verdict::Failed {
                self.failures.push(name.clone());
            }
            self.cases.push(Case { name, verdict });
        }
    }

    /// Adds another tally to this one.
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.skips.extend(other.skips);
        self.failures.extend(other.failures);
        self.cases.extend(other.cases);
    }

    /// `12 passed, 0 failed`, with what was ignored or skipped.
    pub(crate) fn summary(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failed);
        if self.ignored > 0 {
            text.push_str(&format!(", {} ignored", self.ignored));
        }
        if !self.skips.is_empty() {
            text.push_str(&format!(", {} skipped", self.skips.len()));
        }
        text
    }
}

/// The number that stands in front of `word`.
fn count_before(text: &str, word: &str) -> u64 {
    text.split_once(word)
        .and_then(|(before, _)| before.rsplit([' ', ';']).next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_runners_print() {
        let mut tally = Tally::default();
        for line in [
            "running 3 tests",
            "test isa::decodes ... ok",
            "test isa::slow ... ignored, takes an hour",
            "test src/lib.rs - thing (line 3) ... FAILED",
            "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "SKIPPED: referee: llvm-mc-22 is not installed",
        ] {
            tally.line(line);
        }
        assert_eq!((tally.passed, tally.failed, tally.ignored), (1, 1, 1));
        assert_eq!(tally.failures, ["src/lib.rs - thing (line 3)"]);
        assert_eq!(tally.cases.len(), 3);
        assert_eq!(tally.skips, ["referee: llvm-mc-22 is not installed"]);
        assert_eq!(tally.summary(), "1 passed, 1 failed, 1 ignored, 1 skipped");
    }
}
