//! The file with each test's outcome, by which a run can be gone on with.
//!
//! A line has the GPU, library, program, test, outcome, milliseconds and message, with tabs between them. A
//! line without a test is of the program. Later lines hold.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::outcome::{Outcome, Test, Trouble};

/// The outcome of a line that is of a program.
const TROUBLE: &str = "trouble";

/// What earlier runs found, and where this one writes.
#[derive(Debug)]
pub(super) struct Saved {
    target_cpu: String,
    file: Option<File>,
    /// By library and program.
    programs: BTreeMap<(String, String), Before>,
}

/// What earlier runs found of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Before {
    /// By name.
    pub(super) tests: BTreeMap<String, Test>,
    pub(super) troubles: Vec<Trouble>,
}

impl Saved {
    /// Reads the file, if there is one, and opens it for more.
    pub(super) fn open(path: Option<&Path>, target_cpu: &str) -> Result<Self> {
        let mut saved = Self { target_cpu: target_cpu.to_owned(), file: None, programs: BTreeMap::new() };
        let Some(path) = path else { return Ok(saved) };
        let at = || format!("cannot read {}", path.display());
        let text =
            if path.exists() { std::fs::read_to_string(path).with_context(at)? } else { String::new() };
        // A run that was killed may have left a part of a line.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        for (index, line) in text[..whole].lines().enumerate() {
            saved.read(line).with_context(|| format!("{}:{} is no result", path.display(), index + 1))?;
        }
        let file = File::options().create(true).append(true).open(path).with_context(at)?;
        file.set_len(whole as u64).with_context(at)?;
        saved.file = Some(file);
        Ok(saved)
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let fields: Vec<&str> = line.splitn(7, '\t').collect();
        let [cpu, library, program, test, outcome, milliseconds, message] = fields[..] else { return None };
        if cpu != self.target_cpu {
            return Some(());
        }
        let before = self.programs.entry((library.to_owned(), program.to_owned())).or_default();
        if outcome == TROUBLE {
            before.troubles.push(Trouble::Before(message.to_owned()));
            return Some(());
        }
        let test = Test {
            name: test.to_owned(),
            outcome: Outcome::from_name(outcome)?,
            elapsed: Duration::from_millis(milliseconds.parse().ok()?),
            message: message.to_owned(),
        };
        before.tests.insert(test.name.clone(), test);
        Some(())
    }

    /// What is known of a program, but for tests that took too long for a shorter limit than this one.
    pub(super) fn of(&self, library: &str, program: &str, limit: Duration) -> Before {
        let key = (library.to_owned(), program.to_owned());
        let mut before = self.programs.get(&key).cloned().unwrap_or_default();
        before.tests.retain(|_, test| test.outcome != Outcome::TimeOver || test.elapsed >= limit);
        before
    }

    pub(super) fn test(&mut self, library: &str, program: &str, test: &Test) -> Result<()> {
        let milliseconds = test.elapsed.as_millis().to_string();
        self.write([library, program, &test.name, test.outcome.name(), &milliseconds, &test.message])
    }

    pub(super) fn trouble(&mut self, library: &str, program: &str, trouble: &Trouble) -> Result<()> {
        if !trouble.stays() {
            return Ok(());
        }
        self.write([library, program, "", TROUBLE, "0", &trouble.to_string()])
    }

    fn write(&mut self, fields: [&str; 6]) -> Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let fields = fields.map(|field| field.replace(['\t', '\n', '\r'], " "));
        // In one piece, so that a run that is killed leaves whole lines.
        let line = format!("{}\t{}\n", self.target_cpu, fields.join("\t"));
        file.write_all(line.as_bytes()).context("cannot write the results")
    }
}
