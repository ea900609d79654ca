//! `--print`, `--save` and `--expect`: which elements of which argument.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::argument::name_length;
use super::element::Element;
use super::error::SyntaxError;
use super::reader::Reader;
use super::tolerance::Tolerance;

/// An argument of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// By its number, from 1.
    Number(usize),
    /// By its name.
    Name(String),
}

impl Which {
    fn read(reader: &mut Reader<'_>) -> Result<Self, SyntaxError> {
        const ACCEPTED: &str = "an argument's number from 1, or its name";
        let start = reader.position();
        let length = name_length(reader.rest());
        if length > 0 {
            return Ok(Self::Name(reader.take_to(start + length).to_owned()));
        }
        let word = reader.take_until(|c| !c.is_ascii_digit());
        match word.parse() {
            Ok(0) => Err(reader.error_since(start, "arguments are counted from 1", ACCEPTED)),
            Ok(number) => Ok(Self::Number(number)),
            Err(_) => {
                reader.take_until(|c| matches!(c, ':' | '[' | '='));
                Err(reader.error_since(start, "no argument is named here", ACCEPTED))
            }
        }
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

/// Elements of an argument: `ARG[:TYPE][RANGE]`, a value of `--print`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The argument.
    pub argument: Which,
    /// The type of its elements; `None` for the argument's own.
    pub element: Option<Element>,
    /// The first of them.
    pub from: u64,
    /// The one before which they end; `None` for all that there are.
    pub to: Option<u64>,
}

impl Selector {
    fn read(reader: &mut Reader<'_>) -> Result<Self, SyntaxError> {
        let argument = Which::read(reader)?;
        let element = if reader.skip(":") { Some(reader.element()?) } else { None };
        let (mut from, mut to) = (0, None);
        let start = reader.position();
        if reader.skip("[") {
            let is_end = |c: char| c == ']' || c == '.';
            if !reader.rest().starts_with("..") {
                from = reader.count(is_end)?;
            }
            if reader.skip("..") {
                if !reader.rest().starts_with(']') {
                    to = Some(reader.count(is_end)?);
                }
            } else {
                (from, to) = (0, Some(from));
            }
            reader.expect("]", "[COUNT], [FROM..TO], [FROM..] or [..TO]")?;
            if to.is_some_and(|to| to <= from) {
                return Err(reader.error_since(start, "this range is empty", "at least one element"));
            }
        }
        Ok(Self { argument, element, from, to })
    }
}

impl FromStr for Selector {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader::new(text);
        let selector = Self::read(&mut reader)?;
        if reader.is_at_end() {
            return Ok(selector);
        }
        let at = reader.position();
        let what = format!("`{}` is too much", reader.take_rest());
        Err(reader.error_since(at, what, "ARG[:TYPE][RANGE], as 2:f32[16]"))
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.argument)?;
        if let Some(element) = self.element {
            write!(f, ":{element}")?;
        }
        match (self.from, self.to) {
            (0, None) => Ok(()),
            (0, Some(to)) => write!(f, "[{to}]"),
            (from, None) => write!(f, "[{from}..]"),
            (from, Some(to)) => write!(f, "[{from}..{to}]"),
        }
    }
}

/// The value of `--why`: the element, or the fault, that is followed back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowedBack {
    /// An element of an argument.
    Element(ElementAt),
    /// `fault`: the fault that the launch ends with.
    Fault,
}

impl FromStr for FollowedBack {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        if text == "fault" { Ok(Self::Fault) } else { text.parse().map(Self::Element) }
    }
}

/// An element of an argument: `ARG[INDEX]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementAt {
    /// The argument.
    pub argument: Which,
    /// The element's number, from 0.
    pub index: u64,
}

impl FromStr for ElementAt {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        const FORM: &str = "ARG[INDEX], as out[17], or fault";
        let mut reader = Reader::new(text);
        let argument = Which::read(&mut reader)?;
        reader.expect("[", FORM)?;
        let index = reader.count(|c| c == ']')?;
        reader.expect("]", FORM)?;
        if reader.is_at_end() {
            return Ok(Self { argument, index });
        }
        let at = reader.position();
        let what = format!("`{}` is too much", reader.take_rest());
        Err(reader.error_since(at, what, FORM))
    }
}

impl fmt::Display for ElementAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.argument, self.index)
    }
}

/// A value of `--save`: an argument, and the file that it is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Save {
    /// The argument.
    pub argument: Which,
    /// The file; `-` for standard output.
    pub path: PathBuf,
}

/// What stands behind `=`.
fn file<'a>(reader: &mut Reader<'a>, form: &str) -> Result<&'a str, SyntaxError> {
    reader.expect("=", form)?;
    match reader.rest() {
        "" => {
            let at = reader.position();
            Err(reader.error(at..at, "the file's name is missing", "a file's name"))
        }
        rest => Ok(rest),
    }
}

impl FromStr for Save {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader::new(text);
        let argument = Which::read(&mut reader)?;
        let path = file(&mut reader, "ARG=FILE")?.into();
        Ok(Self { argument, path })
    }
}

impl fmt::Display for Save {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.argument, self.path.display())
    }
}

/// A value of `--expect`: elements, and a file with the expected ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The elements.
    pub selector: Selector,
    /// The file.
    pub path: PathBuf,
    /// How far they may be from it.
    pub tolerance: Tolerance,
}

impl FromStr for Expectation {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader::new(text);
        let selector = Selector::read(&mut reader)?;
        let rest = file(&mut reader, "`=` and a file, ARG[:TYPE][RANGE]=FILE[~TOL]")?;
        // A `~` in a directory's name is no tolerance's.
        let tilde = rest.rfind('~').filter(|&at| !rest[at..].contains('/'));
        let name = &rest[..tilde.unwrap_or(rest.len())];
        let end = reader.position() + name.len();
        if name.is_empty() {
            let at = reader.position();
            return Err(reader.error(at..at, "the file's name is missing", "a file's name before `~`"));
        }
        reader.take_to(end);
        let tolerance = if reader.skip("~") { Tolerance::read(&mut reader)? } else { Tolerance::Exact };
        Ok(Self { selector, path: name.into(), tolerance })
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.selector, self.path.display())?;
        let path = self.path.to_string_lossy();
        let is_ambiguous = path.rfind('~').is_some_and(|at| !path[at..].contains('/'));
        match self.tolerance {
            Tolerance::Exact if !is_ambiguous => Ok(()),
            tolerance => write!(f, "~{tolerance}"),
        }
    }
}
