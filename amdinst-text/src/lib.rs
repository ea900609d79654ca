//! Text of strangers: the names in a code object, an archive, a report that somebody sent. Such a name may be
//! any bytes, and some of them command a terminal, forge a line or turn the text around.
//!
//! * On the way in, [`name`] makes text of any bytes. The text holds nothing that could do harm: what could,
//!   and what is no UTF-8, has a stand-in, a private character of Unicode's last plane. Different bytes give
//!   different texts, so names compare as bytes do; whoever forgets the way out prints a character that no
//!   font has.
//! * On the way out, [`Clean`] shows stand-ins, and whatever else could do harm, as escapes (`\u{1b}`,
//!   `\xe9`). JSON gets the true characters, escaped as JSON escapes them. [`shown`] does the same for a text
//!   that is no stream.
//!
//! A command's data and messages reach its terminal through a [`Clean`] only: its package's `clippy.toml`
//! forbids other ways. The writer knows the program's own line ends and styles from a stranger's, as those
//! came in as stand-ins.

#![forbid(unsafe_code)]

mod character;
mod clean;
pub mod json;
mod words;

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::{Deserialize as _, Deserializer};

use character::{Character, is_harmless, stand_in_of_byte};
pub use clean::Clean;
pub use words::{count, listed};

/// A name of any bytes as text without harm.
///
/// ```
/// use amdinst_text::{name, shown};
/// assert_eq!(name(b"vector_add"), "vector_add");
/// assert_eq!(shown(&name(b"\x1b[2Jcaf\xe9\n")), r"\u{1b}[2Jcaf\xe9\u{a}");
/// assert_ne!(name(b"caf\xe8"), name(b"caf\xe9"));
/// ```
pub fn name(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes)
        && (is_printable_ascii(text) || text.chars().all(is_harmless))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match Character::of(c) {
                Character::Harmless(c) => out.push(c),
                Character::Harmful(c) => out.push(character::stand_in(c)),
                // It would be taken for what it stands for.
                Character::Stands(_) | Character::Byte(_) => {
                    out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(stand_in_of_byte));
                }
            }
        }
        out.extend(chunk.invalid().iter().map(|&byte| stand_in_of_byte(byte)));
    }
    Cow::Owned(out)
}

/// What nearly all names are; found out many bytes at a time.
fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// The bytes that a name was made of.
///
/// ```
/// use amdinst_text::{name, original};
/// assert_eq!(*original(&name(b"\x1b[2Jcaf\xe9\n")), *b"\x1b[2Jcaf\xe9\n");
/// ```
pub fn original(name: &str) -> Cow<'_, [u8]> {
    if is_printable_ascii(name) || name.chars().all(is_harmless) {
        return Cow::Borrowed(name.as_bytes());
    }
    let mut out = Vec::with_capacity(name.len());
    for c in name.chars() {
        match Character::of(c) {
            Character::Byte(byte) => out.push(byte),
            Character::Harmless(c) | Character::Harmful(c) | Character::Stands(c) => {
                out.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }
    Cow::Owned(out)
}

/// A name that comes as text: a command line's, a path's, another document's.
pub fn name_of(text: &str) -> Cow<'_, str> {
    name(text.as_bytes())
}

/// A name as people see it, line ends included: nothing in it commands a terminal.
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// A text of the program's own, of several lines, in which strangers' names stand.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

fn escaped(text: &str, passes: impl Fn(char) -> bool) -> Cow<'_, str> {
    let passes = |c: char| is_harmless(c) || passes(c);
    if text.chars().all(passes) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if passes(c) {
            out.push(c);
        } else {
            let _ = write!(out, "{}", Escape(c));
        }
    }
    Cow::Owned(out)
}

/// A character that is shown by its number.
struct Escape(char);

impl fmt::Display for Escape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Character::of(self.0) {
            Character::Byte(byte) => write!(f, "\\x{byte:02x}"),
            Character::Harmless(c) | Character::Harmful(c) | Character::Stands(c) => {
                write!(f, "{}", c.escape_unicode())
            }
        }
    }
}

/// For `#[serde(deserialize_with)]`: a name of a document, which had its true characters there.
///
/// # Errors
/// When it is no string.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    String::deserialize(deserializer).map(json::name)
}

/// [`deserialize`] for what need not be there.
///
/// # Errors
/// When it is no string.
pub fn deserialize_option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(json::name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_turns_or_hides_text_is_shown() {
        let bad = "a\u{1b}]0;x\u{7}\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{200b}\u{feff}\u{e0041}\r\nb";
        let seen =
            r"a\u{1b}]0;x\u{7}\u{7f}\u{9b}31m\u{202e}\u{2066}\u{2028}\u{200b}\u{feff}\u{e0041}\u{d}\u{a}b";
        let read = name(bad.as_bytes());
        assert!(read.chars().all(|c| !c.is_control() && !('\u{2000}'..'\u{2070}').contains(&c)), "{read:?}");
        assert_eq!(shown(&read), seen);
        assert_eq!(shown(bad), seen);
        for good in ["vector_add", "größe", "行列", "_ZN3fooE", "a b"] {
            assert!(matches!(name(good.as_bytes()), Cow::Borrowed(text) if text == good));
            assert!(matches!(shown(good), Cow::Borrowed(text) if text == good));
        }
    }

    #[test]
    fn different_bytes_are_different_names() {
        let names: [&[u8]; 9] = [
            b"k\xe8",
            b"k\xe9",
            b"k\x9b",
            "k\u{9b}".as_bytes(),
            "k\u{10f0e9}".as_bytes(),
            "k\u{10009b}".as_bytes(),
            b"k\\xe9",
            "k\u{fffd}".as_bytes(),
            "\u{e0100}\u{10e100}".as_bytes(),
        ];
        for bytes in names {
            assert_eq!(*original(&name(bytes)), *bytes);
        }
        let texts: std::collections::BTreeSet<_> = names.iter().map(|bytes| name(bytes)).collect();
        assert_eq!(texts.len(), names.len());
    }
}
