//! The one reader of the language: a value's text, and how far it has been read.

use std::num::IntErrorKind;
use std::ops::Range;

use super::element::{Element, Scalar};
use super::error::SyntaxError;

/// What a whole number looks like.
pub(super) const WHOLE: &str = "a whole number (12, 0x1f)";
/// What a count looks like.
pub(super) const COUNT: &str = "a whole number, with k, M or G for 1024, 1024² or 1024³ (4k)";

/// A text that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// How far it has been read, in bytes.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at == self.text.len()
    }

    /// Reads on to the end.
    pub(super) fn take_rest(&mut self) -> &'a str {
        let rest = self.rest();
        self.at = self.text.len();
        rest
    }

    /// Reads up to the first character of which `stops` holds.
    pub(super) fn take_until(&mut self, stops: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(stops).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    /// Reads on to a byte further on.
    pub(super) fn take_to(&mut self, end: usize) -> &'a str {
        let taken = &self.text[self.at..end];
        self.at = end;
        taken
    }

    /// Reads these characters if they stand next.
    pub(super) fn skip(&mut self, word: &str) -> bool {
        let is_next = self.rest().starts_with(word);
        if is_next {
            self.at += word.len();
        }
        is_next
    }

    /// Reads these characters, which must stand next.
    pub(super) fn expect(&mut self, word: &str, accepted: &str) -> Result<(), SyntaxError> {
        if self.skip(word) {
            return Ok(());
        }
        let there = self.rest().chars().next();
        let what = match there {
            Some(there) => format!("`{there}` where `{word}` is expected"),
            None => format!("`{word}` is missing at the end"),
        };
        Err(self.error(self.at..self.at + there.map_or(0, char::len_utf8), what, accepted))
    }

    /// Nothing may follow.
    pub(super) fn end(&self) -> Result<(), SyntaxError> {
        if self.is_at_end() {
            return Ok(());
        }
        let what = format!("`{}` is too much", self.rest());
        Err(self.error(self.at..self.text.len(), what, "the end of the value"))
    }

    /// An error at some bytes.
    pub(super) fn error(
        &self,
        at: Range<usize>,
        what: impl Into<String>,
        accepted: impl Into<String>,
    ) -> SyntaxError {
        SyntaxError::new(self.text, at, what.into(), accepted.into())
    }

    /// An error in what was read from `start` on.
    pub(super) fn error_since(
        &self,
        start: usize,
        what: impl Into<String>,
        accepted: impl Into<String>,
    ) -> SyntaxError {
        self.error(start..self.at, what, accepted)
    }

    /// Reads a type's name.
    pub(super) fn element(&mut self) -> Result<Element, SyntaxError> {
        let start = self.at;
        let word = self.take_until(|c| !c.is_ascii_alphanumeric());
        Element::named(word).ok_or_else(|| {
            let what =
                if word.is_empty() { "a type is missing".to_owned() } else { format!("`{word}` is no type") };
            self.error_since(start, what, Element::NAMES)
        })
    }

    /// Reads a count of bytes or elements, up to the first character of which `stops` holds.
    pub(super) fn count(&mut self, stops: impl Fn(char) -> bool) -> Result<u64, SyntaxError> {
        let start = self.at;
        let word = self.take_until(stops);
        let is_hex = word.starts_with("0x") || word.starts_with("0X");
        let (digits, shift) = match word.chars().last() {
            Some('k' | 'K') => (&word[..word.len() - 1], 10),
            Some('m' | 'M') => (&word[..word.len() - 1], 20),
            Some('g' | 'G') => (&word[..word.len() - 1], 30),
            _ => (word, 0),
        };
        let number = if is_hex { u64::from_str_radix(&digits[2..], 16) } else { digits.parse() };
        let too_large = || self.error_since(start, format!("`{word}` does not fit in 64 bits"), COUNT);
        // `+4` would be read, too.
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            let what = if word.is_empty() { "a size is missing" } else { "this is not a size" };
            return Err(self.error_since(start, format!("{what}: `{word}`"), COUNT));
        }
        match number {
            Ok(number) => number.checked_mul(1 << shift).ok_or_else(too_large),
            Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(too_large()),
            Err(_) => Err(self.error_since(start, format!("`{word}` is not a whole number"), COUNT)),
        }
    }

    /// Reads a number of a type, up to a byte further on; spaces around it do not count.
    pub(super) fn scalar_to(&mut self, end: usize, element: Element) -> Result<Scalar, SyntaxError> {
        let start = self.at;
        let word = self.take_to(end);
        let trimmed = word.trim();
        let first = start + (word.len() - word.trim_start().len());
        Scalar::parse(element, trimmed).map_err(|what| {
            let accepted = if element.is_float() {
                format!("a number that fits in {element}, inf, -inf or NaN")
            } else {
                format!("{WHOLE} that fits in {element}")
            };
            self.error(first..first + trimmed.len(), what, accepted)
        })
    }

    /// Reads a number of a type, up to the first character of which `stops` holds.
    pub(super) fn scalar(
        &mut self,
        stops: impl Fn(char) -> bool,
        element: Element,
    ) -> Result<Scalar, SyntaxError> {
        let rest = self.rest();
        let end = self.at + rest.find(stops).unwrap_or(rest.len());
        self.scalar_to(end, element)
    }
}
