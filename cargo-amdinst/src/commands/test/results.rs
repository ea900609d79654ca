//! What test programs write for their user: the JUnit report, and timelines.
//!
//! A program may be killed, or find no room, in the middle of a file. So it writes into the command's scratch
//! directory, and when it has ended, whole files take their places.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::together::Together;

/// What the programs of one package write on one processor.
pub(super) struct Results {
    junit: Option<Passed>,
    timelines: Option<Passed>,
}

/// A file or a directory, and the place that it is for.
struct Passed {
    written: PathBuf,
    place: PathBuf,
}

impl Results {
    /// Into `scratch`, for these places. Each program adds to the JUnit report of those before it.
    ///
    /// # Errors
    /// What they have written cannot be read.
    pub(super) fn new(scratch: &Path, junit: Option<&Path>, timelines: Option<&Path>) -> CommandResult<Self> {
        let passed = |place: &Path, name| Passed { written: scratch.join(name), place: place.to_owned() };
        let junit = junit.map(|place| passed(place, "junit.xml"));
        if let Some(Passed { written, place }) = junit.as_ref().filter(|junit| junit.place.exists()) {
            fs::copy(place, written)
                .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", place.display()))?;
        }
        Ok(Self { junit, timelines: timelines.map(|place| passed(place, "timelines")) })
    }

    /// Where the JUnit report is written.
    pub(super) fn junit(&self) -> Option<&Path> {
        self.junit.as_ref().map(|junit| junit.written.as_path())
    }

    /// The directory that timelines are written into.
    pub(super) fn timelines(&self) -> Option<&Path> {
        self.timelines.as_ref().map(|timelines| timelines.written.as_path())
    }

    /// Puts what there is in its place: the programs have ended.
    ///
    /// # Errors
    /// It cannot be written there.
    pub(super) fn put(self) -> CommandResult<()> {
        if let Some(Passed { written, place }) = self.junit.filter(|junit| junit.written.is_file()) {
            put([(written, place.clone())]).or_exit_with(Exit::OutputFailed, || failed(&place))?;
        }
        if let Some(Passed { written, place }) = self.timelines.filter(|timelines| timelines.written.is_dir())
        {
            put_all(&written, &place).or_exit_with(Exit::OutputFailed, || failed(&place))?;
            // Those of the next program are its own.
            fs::remove_dir_all(&written)
                .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", written.display()))?;
        }
        Ok(())
    }
}

fn failed(place: &Path) -> String {
    format!("cannot write {}", place.display())
}

/// Puts every file of a directory into another, all of them or none.
fn put_all(from: &Path, into: &Path) -> io::Result<()> {
    let files = fs::read_dir(from)?.map(|entry| {
        let entry = entry?;
        Ok((entry.path(), into.join(entry.file_name())))
    });
    put(files.collect::<io::Result<Vec<_>>>()?)
}

fn put(files: impl IntoIterator<Item = (PathBuf, PathBuf)>) -> io::Result<()> {
    let mut together = Together::default();
    for (from, place) in files {
        if let Some(directory) = place.parent() {
            fs::create_dir_all(directory)?;
        }
        together.add(&place, |file| io::copy(&mut File::open(&from)?, file).map(drop))?;
    }
    together.put()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn whole_files_take_their_places_when_the_programs_have_ended() {
        let (scratch, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (junit, timelines) = (place.path().join("deeper/junit.xml"), place.path().join("lines"));
        let begin = || Results::new(scratch.path(), Some(&junit), Some(&timelines)).unwrap();
        let nothing = begin();
        nothing.put().unwrap();
        assert!(names(place.path()).is_empty(), "no program has written anything");

        for (program, text) in [("a", "one"), ("b", "one, two")] {
            let results = begin();
            let before = fs::read_to_string(results.junit().unwrap()).unwrap_or_default();
            assert_eq!(before, if program == "a" { "" } else { "one" }, "what those before have written");
            fs::write(results.junit().unwrap(), text).unwrap();
            fs::create_dir_all(results.timelines().unwrap()).unwrap();
            fs::write(results.timelines().unwrap().join(program), text).unwrap();
            results.put().unwrap();
            assert_eq!(fs::read_to_string(&junit).unwrap(), text);
        }
        assert_eq!(names(&timelines), ["a", "b"]);
        assert_eq!(names(place.path()), ["deeper", "lines"]);
        assert_eq!(names(&place.path().join("deeper")), ["junit.xml"]);
    }
}
