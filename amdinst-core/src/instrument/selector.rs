//! What chooses sites: the name of a `#[probe]`, or lines of the source.
//!
//! [`Options::only`](super::Options::only) holds the selectors. A selector that selects nothing is an error,
//! which names what is near.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What chooses sites.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteSelector {
    /// The sites of the `#[probe]` of this name.
    Probe(String),
    /// The sites at this place, code that was inlined there included.
    Lines(SourceLines),
}

impl fmt::Display for SiteSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probe(name) => write!(f, "`#[probe]` name `{name}`"),
            Self::Lines(lines) => write!(f, "`{lines}`"),
        }
    }
}

/// Lines of a source file: `src/lib.rs:12` or `src/lib.rs:12-20`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SourceLines {
    /// The file, or a suffix of its path in whole components.
    pub file: String,
    /// First line, from 1.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

/// A text that does not name lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SourceLinesError {
    /// Not in either form.
    #[error("`{0}` is not FILE:LINE or FILE:FIRST-LAST")]
    Form(String),
    /// Lines are counted from 1, and the last is not before the first.
    #[error("`{0}` has no lines: they count from 1, and the first comes first")]
    Empty(String),
}

impl FromStr for SourceLines {
    type Err = SourceLinesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let form = || SourceLinesError::Form(text.to_owned());
        let (file, lines) = text.rsplit_once(':').ok_or_else(form)?;
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let number = |text: &str| text.parse::<u32>().map_err(|_| form());
        let (first, last) = (number(first)?, number(last)?);
        if file.is_empty() {
            return Err(form());
        }
        if first == 0 || last < first {
            return Err(SourceLinesError::Empty(text.to_owned()));
        }
        Ok(Self { file: file.to_owned(), first, last })
    }
}

impl fmt::Display for SourceLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.first)?;
        if self.last != self.first { write!(f, "-{}", self.last) } else { Ok(()) }
    }
}

/// A selector that selects nothing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{selector} selects no {what}: {detail}")]
pub struct NoSuchSite {
    /// The selector.
    pub selector: SiteSelector,
    /// The subject of the counts, in a word.
    pub what: &'static str,
    /// What there is instead.
    pub detail: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> SourceLines {
        text.parse().unwrap()
    }

    #[test]
    fn lines_are_read_and_printed() {
        assert_eq!(lines("src/a.rs:7"), SourceLines { file: "src/a.rs".to_owned(), first: 7, last: 7 });
        assert_eq!(lines("C:\\a.rs:7-9").to_string(), "C:\\a.rs:7-9");
        for wrong in ["", "a.rs", "a.rs:", ":4", "a.rs:x", "a.rs:1-", "a.rs:1-2-3", "a.rs:4:"] {
            assert_eq!(
                wrong.parse::<SourceLines>(),
                Err(SourceLinesError::Form(wrong.to_owned())),
                "{wrong}"
            );
        }
        for wrong in ["a.rs:0", "a.rs:5-4", "a.rs:0-4"] {
            assert_eq!(
                wrong.parse::<SourceLines>(),
                Err(SourceLinesError::Empty(wrong.to_owned())),
                "{wrong}"
            );
        }
    }
}
