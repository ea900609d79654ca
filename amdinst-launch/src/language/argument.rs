//! `--arg`: what a kernel's argument is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::element::{Element, Scalar};
use super::error::SyntaxError;
use super::reader::Reader;

/// A type and a number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Their type.
    pub element: Element,
    /// How many there are.
    pub count: u64,
}

impl Elements {
    /// Bytes of all of them; they fit in 64 bits, which reading makes sure of.
    pub const fn bytes(self) -> u64 {
        self.count.saturating_mul(self.element.size() as u64)
    }
}

impl fmt::Display for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.element, self.count)
    }
}

/// The size of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// In bytes.
    Bytes(u64),
    /// A number of elements of a type.
    Elements(Elements),
}

impl Size {
    /// In bytes.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Elements(elements) => elements.bytes(),
        }
    }

    /// The type of its elements, if it names one.
    pub const fn element(self) -> Option<Element> {
        match self {
            Self::Bytes(_) => None,
            Self::Elements(elements) => Some(elements.element),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Elements(elements) => write!(f, "{elements}"),
        }
    }
}

/// What one kernel argument is.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgSpec {
    /// `in:FILE`: a buffer with the file's bytes, or of a `.npy` file its elements.
    In(PathBuf),
    /// `out:SIZE:FILE`: a zeroed buffer, written to the file after the launch.
    Out(Size, PathBuf),
    /// `inout:FILE:FILE`: a buffer with the first file's bytes, written to the second after the launch.
    InOut(PathBuf, PathBuf),
    /// `buf:SIZE` or `TYPE[COUNT]`: a zeroed buffer.
    Buf(Size),
    /// `TYPE:NUMBER`: a number by value.
    Scalar(Scalar),
    /// `hex:DIGITS`: bytes by value, a structure for example.
    Hex(Vec<u8>),
    /// `bytes:FILE`: the file's bytes by value.
    Bytes(PathBuf),
    /// `TYPE:[A,B,…]`: a buffer of these numbers, which all are of the type.
    List(Element, Vec<Scalar>),
    /// `iota:TYPE[COUNT]:START:STEP`: a buffer of START, START + STEP, …
    Iota {
        /// Type and number.
        elements: Elements,
        /// The first.
        start: Scalar,
        /// From each to the next.
        step: Scalar,
    },
    /// `fill:TYPE[COUNT]:VALUE`: a buffer of one value.
    Fill(Elements, Scalar),
    /// `random:TYPE[COUNT]:LOW..HIGH:seed=N`: a buffer of random numbers.
    Random {
        /// Type and number.
        elements: Elements,
        /// The least, and the one that all are less than; `None` for 0 to 1 of floats, for all values of
        /// other types.
        range: Option<(Scalar, Scalar)>,
        /// `None` for the argument's number.
        seed: Option<u64>,
    },
    /// `FILE.npy`: a buffer with the elements of an array.
    Npy(PathBuf),
    /// `symbol:NAME`: the address of a function or variable of a code object that is loaded beside the
    /// kernel's.
    Symbol(String),
}

/// What stands before the first `:`, but for types.
const KINDS: [&str; 10] = ["in", "out", "inout", "buf", "hex", "bytes", "iota", "fill", "random", "symbol"];

/// What an argument can begin with.
fn accepted() -> String {
    format!("{} (each with `:` behind it), TYPE[COUNT], TYPE:NUMBER, TYPE:[…], FILE.npy", KINDS.join(", "))
}

/// Whether a file is a NumPy array, by its name.
pub fn is_npy(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "npy")
}

fn file(reader: &mut Reader<'_>) -> Result<PathBuf, SyntaxError> {
    let at = reader.position();
    match reader.take_rest() {
        "" => Err(reader.error(at..at, "the file's name is missing", "a file's name")),
        name => Ok(name.into()),
    }
}

/// What stands between `[` and `]`, as a number of elements.
fn elements(reader: &mut Reader<'_>) -> Result<Elements, SyntaxError> {
    let start = reader.position();
    let element = reader.element()?;
    reader.expect("[", "the number of elements in brackets, as f32[100]")?;
    let count = reader.count(|c| c == ']')?;
    reader.expect("]", "`]` behind the number of elements")?;
    match count.checked_mul(element.size() as u64) {
        Some(_) => Ok(Elements { element, count }),
        None => {
            let what = "so many bytes do not fit in 64 bits";
            Err(reader.error_since(start, what, "a smaller number of elements"))
        }
    }
}

/// A size, up to a `:` or the end.
fn size(reader: &mut Reader<'_>) -> Result<Size, SyntaxError> {
    if reader.rest().starts_with(|c: char| c.is_ascii_alphabetic()) {
        elements(reader).map(Size::Elements)
    } else {
        reader.count(|c| c == ':').map(Size::Bytes)
    }
}

/// Pairs of hexadecimal digits, a byte each, in the order of memory; `_` may stand between them.
fn hex(reader: &mut Reader<'_>) -> Result<Vec<u8>, SyntaxError> {
    const ACCEPTED: &str = "pairs of hexadecimal digits, a byte each; `_` may stand between them";
    let start = reader.position();
    let text = reader.take_rest();
    let wrong = text.char_indices().find(|(_, c)| *c != '_' && !c.is_ascii_hexdigit());
    if let Some((at, c)) = wrong {
        let at = start + at;
        let what = format!("`{c}` is no hexadecimal digit");
        return Err(reader.error(at..at + c.len_utf8(), what, ACCEPTED));
    }
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
    match digits.chunks_exact(2) {
        pairs if digits.is_empty() || !pairs.remainder().is_empty() => {
            let what = format!("{} digits are not pairs of hexadecimal digits", digits.len());
            Err(reader.error_since(start, what, ACCEPTED))
        }
        pairs => Ok(pairs.map(|pair| pair[0] << 4 | pair[1]).collect()),
    }
}

/// `[A,B,…]`.
fn list(reader: &mut Reader<'_>, element: Element) -> Result<ArgSpec, SyntaxError> {
    let mut numbers = Vec::new();
    reader.expect("[", "a list of numbers in brackets")?;
    if !reader.skip("]") {
        loop {
            numbers.push(reader.scalar(|c| matches!(c, ',' | ']'), element)?);
            if !reader.skip(",") {
                reader.expect("]", "`,` and the next number, or `]`")?;
                break;
            }
        }
    }
    Ok(ArgSpec::List(element, numbers))
}

/// Behind `iota:`.
fn iota(reader: &mut Reader<'_>) -> Result<ArgSpec, SyntaxError> {
    let start_of = reader.position();
    let elements = elements(reader)?;
    let mut number = |default| match reader.skip(":") {
        true => reader.scalar(|c| c == ':', elements.element),
        false => Ok(elements.element.nearest(default)),
    };
    let (start, step) = (number(0.0)?, number(1.0)?);
    let last = elements.count.saturating_sub(1);
    if let (Some(start), Some(step), Some((least, most))) =
        (start.as_whole(), step.as_whole(), elements.element.limits())
    {
        let fits = step
            .checked_mul(last.into())
            .and_then(|way| way.checked_add(start))
            .is_some_and(|end| (least..=most).contains(&end));
        if !fits {
            let what = format!("element {last} does not fit in {}", elements.element);
            return Err(reader.error_since(
                start_of,
                what,
                "fewer elements, another start or step, or a larger type",
            ));
        }
    }
    Ok(ArgSpec::Iota { elements, start, step })
}

/// Behind `random:`.
fn random(reader: &mut Reader<'_>) -> Result<ArgSpec, SyntaxError> {
    const SEED: &str = "seed=";
    let elements = elements(reader)?;
    let (mut range, mut seed) = (None, None);
    while reader.skip(":") {
        let start = reader.position();
        if seed.is_none() && reader.skip(SEED) {
            let word = reader.take_until(|c| c == ':');
            seed = Some(word.parse().map_err(|_| {
                let what = format!("`{word}` is not a whole number of 64 bits");
                reader.error(start + SEED.len()..reader.position(), what, "a whole number, as seed=7")
            })?);
        } else if range.is_none() && seed.is_none() {
            range = Some(bounds(reader, elements.element)?);
        } else {
            reader.take_rest();
            return Err(reader.error_since(start, "this is too much", "nothing behind the seed"));
        }
    }
    Ok(ArgSpec::Random { elements, range, seed })
}

/// `LOW..HIGH`.
fn bounds(reader: &mut Reader<'_>, element: Element) -> Result<(Scalar, Scalar), SyntaxError> {
    const ACCEPTED: &str = "LOW..HIGH, as -1..1, or seed=N";
    let start = reader.position();
    let end = start + reader.rest().find(':').unwrap_or(reader.rest().len());
    let dots = match reader.rest()[..end - start].find("..") {
        Some(dots) => start + dots,
        None => {
            let word = reader.take_to(end);
            return Err(reader.error_since(start, format!("`{word}` is no range"), ACCEPTED));
        }
    };
    let low = reader.scalar_to(dots, element)?;
    reader.expect("..", ACCEPTED)?;
    let high = reader.scalar_to(end, element)?;
    let is_range = low.to_f64().is_finite() && high.to_f64().is_finite() && low.order() < high.order();
    if !is_range {
        let what = format!("there is no {element} from {low} to below {high}");
        return Err(reader.error_since(start, what, "a finite LOW that is less than a finite HIGH"));
    }
    Ok((low, high))
}

impl FromStr for ArgSpec {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        read(&mut Reader::new(text))
    }
}

fn read(reader: &mut Reader<'_>) -> Result<ArgSpec, SyntaxError> {
    let (start, beginning) = (reader.position(), *reader);
    let all = reader.rest();
    let word = reader.take_until(|c| matches!(c, ':' | '['));
    let behind = reader.rest().chars().next();
    let spec = match (word, behind) {
        ("in", Some(':')) => {
            reader.skip(":");
            ArgSpec::In(file(reader)?)
        }
        ("out", Some(':')) => {
            reader.skip(":");
            let size = size(reader)?;
            reader.expect(":", "`:` and the file to write, out:SIZE:FILE")?;
            ArgSpec::Out(size, file(reader)?)
        }
        ("inout", Some(':')) => {
            reader.skip(":");
            let at = reader.position();
            let from = match reader.take_until(|c| c == ':') {
                "" => return Err(reader.error(at..at, "the file's name is missing", "a file's name")),
                name => PathBuf::from(name),
            };
            reader.expect(":", "`:` and the file to write, inout:FILE:FILE")?;
            ArgSpec::InOut(from, file(reader)?)
        }
        ("buf", Some(':')) => {
            reader.skip(":");
            ArgSpec::Buf(size(reader)?)
        }
        ("hex", Some(':')) => {
            reader.skip(":");
            ArgSpec::Hex(hex(reader)?)
        }
        ("bytes", Some(':')) => {
            reader.skip(":");
            ArgSpec::Bytes(file(reader)?)
        }
        ("iota", Some(':')) => {
            reader.skip(":");
            iota(reader)?
        }
        ("fill", Some(':')) => {
            reader.skip(":");
            let elements = elements(reader)?;
            reader.expect(":", "`:` and the value, fill:TYPE[COUNT]:VALUE")?;
            ArgSpec::Fill(elements, reader.scalar(|c| c == ':', elements.element)?)
        }
        ("random", Some(':')) => {
            reader.skip(":");
            random(reader)?
        }
        ("symbol", Some(':')) => {
            reader.skip(":");
            let at = reader.position();
            match reader.take_rest() {
                "" => return Err(reader.error(at..at, "the symbol's name is missing", "symbol:NAME")),
                name => ArgSpec::Symbol(name.to_owned()),
            }
        }
        (name, Some(behind)) if Element::named(name).is_some() => {
            if behind == '[' {
                *reader = beginning;
                ArgSpec::Buf(Size::Elements(elements(reader)?))
            } else {
                reader.skip(":");
                // The name was looked up a line above.
                let element = Element::named(name).unwrap_or(Element::U8);
                if reader.rest().starts_with('[') {
                    list(reader, element)?
                } else {
                    ArgSpec::Scalar(reader.scalar(|_| false, element)?)
                }
            }
        }
        _ if is_npy(Path::new(all)) && behind != Some(':') => {
            reader.take_rest();
            ArgSpec::Npy(all.into())
        }
        (_, behind) => {
            let what = match (word, behind) {
                ("", _) => "an argument is missing".to_owned(),
                (_, None) => format!("expected KIND:…, and `{word}` is none"),
                _ => format!("`{word}` is no kind of argument, and no type"),
            };
            return Err(reader.error_since(start, what, accepted()));
        }
    };
    reader.end()?;
    Ok(spec)
}

impl fmt::Display for ArgSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::In(path) => write!(f, "in:{}", path.display()),
            Self::Out(size, path) => write!(f, "out:{size}:{}", path.display()),
            Self::InOut(from, to) => write!(f, "inout:{}:{}", from.display(), to.display()),
            Self::Buf(Size::Bytes(bytes)) => write!(f, "buf:{bytes}"),
            Self::Buf(Size::Elements(elements)) => write!(f, "{elements}"),
            Self::Scalar(scalar) => write!(f, "{}:{scalar}", scalar.element()),
            Self::Hex(bytes) => {
                f.write_str("hex:")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Self::Bytes(path) => write!(f, "bytes:{}", path.display()),
            Self::List(element, numbers) => {
                let numbers: Vec<_> = numbers.iter().map(Scalar::to_string).collect();
                write!(f, "{element}:[{}]", numbers.join(","))
            }
            Self::Iota { elements, start, step } => write!(f, "iota:{elements}:{start}:{step}"),
            Self::Fill(elements, value) => write!(f, "fill:{elements}:{value}"),
            Self::Random { elements, range, seed } => {
                write!(f, "random:{elements}")?;
                if let Some((low, high)) = range {
                    write!(f, ":{low}..{high}")?;
                }
                seed.map_or(Ok(()), |seed| write!(f, ":seed={seed}"))
            }
            Self::Npy(path) => write!(f, "{}", path.display()),
            Self::Symbol(name) => write!(f, "symbol:{name}"),
        }
    }
}

/// A value of `--arg`: an argument, and its name if it goes by that.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The kernel argument's name; `None` for the next that no name is given to.
    pub name: Option<String>,
    /// Its kind.
    pub spec: ArgSpec,
}

impl From<ArgSpec> for Argument {
    fn from(spec: ArgSpec) -> Self {
        Self { name: None, spec }
    }
}

/// How many bytes at the beginning are a name: a letter or `_`, then those, digits, `.` and `$`.
pub(super) fn name_length(text: &str) -> usize {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !text.starts_with(is_first) {
        return 0;
    }
    text.find(|c: char| !(is_first(c) || c.is_ascii_digit() || matches!(c, '.' | '$'))).unwrap_or(text.len())
}

impl FromStr for Argument {
    type Err = SyntaxError;

    fn from_str(text: &str) -> Result<Self, SyntaxError> {
        let mut reader = Reader::new(text);
        let length = name_length(text);
        let name = if length > 0 && text[length..].starts_with('=') {
            let name = reader.take_to(length).to_owned();
            reader.skip("=");
            Some(name)
        } else {
            None
        };
        Ok(Self { name, spec: read(&mut reader)? })
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}=")?;
        }
        write!(f, "{}", self.spec)
    }
}
