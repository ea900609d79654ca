//! The run, kept in a file while it goes on, so that a program that is killed leaves the tests that ended
//! before.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use amdinst_format::report::run::{self, Line, SCHEMA, Test};

use super::recorder::{Ending, Finished};
use crate::report::Report;

/// A file that grows by a line with each test.
#[derive(Debug)]
pub(super) struct Kept {
    path: PathBuf,
    file: File,
    /// The first error: what follows it would not be read.
    result: io::Result<()>,
}

impl Kept {
    /// Begins the file of the program `name` in `directory`. Each process has its own.
    pub(super) fn begin(directory: &Path, name: &str) -> Result<Self, String> {
        let path = directory.join(format!("{name}-{}.jsonl", std::process::id()));
        let open = std::fs::create_dir_all(directory).and_then(|()| File::create(&path));
        let file = open.map_err(|error| format!("{}: {error}", path.display()))?;
        let mut kept = Self { path, file, result: Ok(()) };
        kept.write(&Line::Program { schema: SCHEMA, name: name.to_owned() });
        Ok(kept)
    }

    /// Adds a test that ended.
    pub(super) fn add(&mut self, finished: &Finished) {
        let (ending, message) = match &finished.ending {
            Ending::Passed => (run::Ending::Passed, None),
            Ending::Failed(message) => (run::Ending::Failed, Some(message.clone())),
            Ending::Ignored(reason) => (run::Ending::Ignored, reason.clone()),
        };
        self.write(&Line::Test(Box::new(Test {
            name: finished.name.clone(),
            ending,
            message: message.filter(|message| !message.is_empty()),
            launches: finished.launches.reports.clone(),
            faults: finished.launches.faults.clone(),
            doubts: finished.launches.doubts.iter().map(|doubt| doubt.fault.clone()).collect(),
            sampled: finished.launches.sampled.clone(),
            memory: finished.launches.memory.clone(),
            modelled: finished.launches.timings.iter().filter_map(|timing| timing.kept.clone()).collect(),
        })));
    }

    /// Writes the last line.
    pub(super) fn end(mut self) -> Result<(), String> {
        self.write(&Line::End);
        self.result.map_err(|error| format!("{}: {error}", self.path.display()))
    }

    fn write(&mut self, line: &Line<Report>) {
        if self.result.is_ok() {
            self.result = serde_json::to_string(line)
                .map_err(io::Error::from)
                .and_then(|line| self.file.write_all(format!("{line}\n").as_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use amdinst_format::report::run::Program;

    use super::super::recorder::Launches;
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let directory = std::env::temp_dir().join(format!("amdinst-kept-{}", std::process::id()));
        let mut kept = Kept::begin(&directory, "kernels").unwrap();
        let path = kept.path.clone();
        for (name, ending) in [("good", Ending::Passed), ("bad", Ending::Failed("why\nso".to_owned()))] {
            let launches = Launches::default();
            kept.add(&Finished { name: name.to_owned(), time: Duration::ZERO, ending, launches });
        }
        let read = || Program::from_lines(&std::fs::read_to_string(&path).unwrap(), "gfx90a").unwrap();
        assert!(!read().finished);
        kept.end().unwrap();
        let program = read();
        assert_eq!((program.name.as_str(), program.finished, program.tests.len()), ("kernels", true, 2));
        assert_eq!(program.tests[1].message.as_deref(), Some("why\nso"));
        assert_eq!(program.tests[1].ending, run::Ending::Failed);
        std::fs::remove_dir_all(directory).unwrap();
    }
}
