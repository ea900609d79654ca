//! Source files, as they are now, and whether they are what was measured.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use amdinst_core::report::Location;
use amdinst_core::report::run::{SourceStamp, content_hash};

use crate::place;

/// The sources of a run, read when asked for.
#[derive(Debug, Default)]
pub struct Sources {
    root: PathBuf,
    stamps: BTreeMap<String, String>,
    files: RefCell<BTreeMap<String, Option<Rc<Source>>>>,
}

/// A source file.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// Its text.
    pub text: String,
    /// The file's text differs from that at the time of the run.
    pub changed: bool,
    /// Where its lines begin.
    starts: Vec<usize>,
}

impl Sources {
    /// Sources with paths from `root`, the workspace's directory.
    pub fn new(root: impl Into<PathBuf>, stamps: &[SourceStamp]) -> Self {
        let stamps = stamps.iter().map(|stamp| (stamp.file.clone(), stamp.hash.clone())).collect();
        Self { root: root.into(), stamps, files: RefCell::default() }
    }

    /// A source file; `None` if it cannot be read, or is no text.
    pub fn get(&self, file: &str) -> Option<Rc<Source>> {
        if let Some(known) = self.files.borrow().get(file) {
            return known.clone();
        }
        let read = || {
            let bytes = std::fs::read(self.root.join(file)).ok()?;
            let changed = self.stamps.get(file).is_some_and(|stamp| *stamp != content_hash(&bytes));
            let text = String::from_utf8(bytes).ok()?;
            Some(Rc::new(Source::new(text, changed)))
        };
        let source = read();
        self.files.borrow_mut().insert(file.to_owned(), source.clone());
        source
    }

    /// The files that have changed since the measurement, or cannot be read any more, by name.
    pub fn changed(&self) -> Vec<&str> {
        let differs = |file: &&String| self.get(file).is_none_or(|source| source.changed);
        self.stamps.keys().filter(differs).map(String::as_str).collect()
    }
}

impl Source {
    pub(crate) fn new(text: String, changed: bool) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).filter(|start| *start < text.len()).collect();
        Self { text, changed, starts }
    }

    /// A line, 1-based, without its end; and where it begins.
    pub fn line(&self, number: u32) -> Option<(usize, &str)> {
        let index = (number as usize).checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        Some((start, self.text[start..end].trim_end_matches(['\n', '\r'])))
    }

    /// The bytes of the text that a report points at: the expression from the location's column, or the whole
    /// line without its indentation where no column is known. `None` if there is no such line.
    pub fn span(&self, location: &Location) -> Option<Range<usize>> {
        let (start, line) = self.line(location.line?)?;
        let range = location.column.and_then(|column| place::expression(line, column)).unwrap_or_else(|| {
            let text = line.trim();
            let indentation = line.len() - line.trim_start().len();
            indentation..indentation + text.len()
        });
        (!range.is_empty()).then(|| start + range.start..start + range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_spans() {
        let source = Source::new("a\r\n  if b {\n\n".to_owned(), false);
        assert_eq!(source.line(1), Some((0, "a")));
        assert_eq!(source.line(2), Some((3, "  if b {")));
        assert_eq!(source.line(3), Some((12, "")));
        assert_eq!((source.line(0), source.line(4)), (None, None));
        let span = |line, column| {
            let location = Location { file: None, line: Some(line), column };
            source.span(&location).map(|range| &source.text[range])
        };
        assert_eq!(span(2, Some(6)), Some("b"));
        assert_eq!(span(2, None), Some("if b {"));
        assert_eq!(span(2, Some(60)), Some("if b {"));
        assert_eq!((span(3, Some(1)), span(9, Some(1))), (None, None));
    }

    #[test]
    fn changed_and_missing_files_are_told() {
        let directory = tempfile::tempdir().unwrap();
        for (file, text) in [("same.rs", "x"), ("other.rs", "new")] {
            std::fs::write(directory.path().join(file), text).unwrap();
        }
        let stamp = |file: &str, text: &str| SourceStamp {
            file: file.to_owned(),
            hash: content_hash(text.as_bytes()),
        };
        let stamps = [stamp("same.rs", "x"), stamp("other.rs", "old"), stamp("gone.rs", "x")];
        let sources = Sources::new(directory.path(), &stamps);
        assert_eq!(sources.changed(), ["gone.rs", "other.rs"]);
        assert!(!sources.get("same.rs").unwrap().changed);
        assert!(sources.get("nothing.rs").is_none());
    }
}
