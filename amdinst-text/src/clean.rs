//! The way out: a writer that lets nothing through that could do harm.

use std::io::{self, Write};

use crate::Escape;
use crate::character::{Character, is_harmless};

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    /// People; styles (`ESC [ … m`) of the program's own pass if they are wanted.
    People { styles: bool },
    /// Programs: JSON, whose strings hold true characters.
    Json,
    /// People behind a program that shows JSON's strings.
    JsonShown,
}

/// Longest style that is waited for: a foreground and a background of 24 bits.
const STYLE: usize = 48;

/// A writer of UTF-8 that shows as escapes what commands a terminal, turns text around or cannot be seen.
/// Line ends and tabs pass.
#[derive(Debug)]
pub struct Clean<W: Write> {
    inner: W,
    purpose: For,
    /// The start of a character or a style whose rest is to come.
    begun: Vec<u8>,
}

impl<W: Write> Clean<W> {
    /// For people, with the program's own styles or without.
    pub fn text(inner: W, styles: bool) -> Self {
        Self::new(inner, For::People { styles })
    }

    pub(crate) fn json(inner: W) -> Self {
        Self::new(inner, For::Json)
    }

    pub(crate) fn json_shown(inner: W) -> Self {
        Self::new(inner, For::JsonShown)
    }

    fn new(inner: W, purpose: For) -> Self {
        Self { inner, purpose, begun: Vec::new() }
    }

    fn passes(byte: u8) -> bool {
        matches!(byte, b' '..=b'~' | b'\n' | b'\t')
    }

    /// Writes all of `bytes` but a start that may go on.
    fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let plain = bytes.iter().position(|&byte| !Self::passes(byte)).unwrap_or(bytes.len());
            self.inner.write_all(&bytes[..plain])?;
            bytes = &bytes[plain..];
            if bytes.first() == Some(&0x1b) && self.purpose == (For::People { styles: true }) {
                match style(bytes) {
                    Found::Whole(length) => {
                        self.inner.write_all(&bytes[..length])?;
                        bytes = &bytes[length..];
                        continue;
                    }
                    Found::Start => {
                        self.begun = bytes.to_vec();
                        return Ok(());
                    }
                    Found::Nothing => {}
                }
            }
            let Some(chunk) = bytes.utf8_chunks().next() else { break };
            match chunk.valid().chars().next() {
                Some(c) => {
                    self.character(c)?;
                    bytes = &bytes[c.len_utf8()..];
                }
                // The last bytes may be the start of a character: those that it lacks come next.
                None if chunk.invalid().len() == bytes.len() && is_start(bytes) => {
                    self.begun = bytes.to_vec();
                    return Ok(());
                }
                None => {
                    self.byte(bytes[0])?;
                    bytes = &bytes[1..];
                }
            }
        }
        Ok(())
    }

    fn character(&mut self, c: char) -> io::Result<()> {
        if is_harmless(c) || matches!(c, '\n' | '\t') {
            return write!(self.inner, "{c}");
        }
        match self.purpose {
            For::People { .. } => write!(self.inner, "{}", Escape(c)),
            For::JsonShown => write!(self.inner, "\\{}", Escape(c)),
            For::Json => {
                let c = if let Character::Stands(original) = Character::of(c) { original } else { c };
                c.encode_utf16(&mut [0; 2]).iter().try_for_each(|unit| write!(self.inner, "\\u{unit:04x}"))
            }
        }
    }

    /// A byte that is no UTF-8, where all that is written should be.
    fn byte(&mut self, byte: u8) -> io::Result<()> {
        match self.purpose {
            For::People { .. } => write!(self.inner, "\\x{byte:02x}"),
            For::Json | For::JsonShown => write!(self.inner, "\\\\x{byte:02x}"),
        }
    }
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() {
            self.put(bytes)?;
        } else {
            let mut whole = std::mem::take(&mut self.begun);
            whole.extend(bytes);
            self.put(&whole)?;
        }
        Ok(bytes.len())
    }

    /// What was begun has come to its end.
    fn flush(&mut self) -> io::Result<()> {
        let begun = std::mem::take(&mut self.begun);
        for &byte in &begun {
            if Self::passes(byte) {
                self.inner.write_all(&[byte])?;
            } else if byte.is_ascii() {
                self.character(byte.into())?;
            } else {
                self.byte(byte)?;
            }
        }
        self.inner.flush()
    }
}

/// Whether bytes at the end of a text are the start of a character.
fn is_start(bytes: &[u8]) -> bool {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return false,
    };
    bytes.len() < length
}

/// What stands where an escape character does.
enum Found {
    /// A style of that length.
    Whole(usize),
    /// What may become one.
    Start,
    Nothing,
}

/// `ESC [`, numbers and semicolons, `m`: colors and weights, which change nothing but looks.
fn style(bytes: &[u8]) -> Found {
    if bytes.len() == 1 {
        return Found::Start;
    }
    if bytes[1] != b'[' {
        return Found::Nothing;
    }
    let numbers = bytes[2..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
    match bytes.get(2 + numbers) {
        Some(b'm') => Found::Whole(3 + numbers),
        None if bytes.len() < STYLE => Found::Start,
        _ => Found::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes out, if the text is written in pieces of that many bytes.
    fn written(text: &[u8], styles: bool, piece: usize) -> String {
        let mut clean = Clean::text(Vec::new(), styles);
        text.chunks(piece).for_each(|piece| clean.write_all(piece).unwrap());
        clean.flush().unwrap();
        String::from_utf8(clean.inner).unwrap()
    }

    #[test]
    fn own_styles_pass_and_nothing_else_does() {
        let text =
            "\u{1b}[1;32mgröße\u{1b}[0m\t\u{1b}[2J\u{9b}\u{202e}\r\u{10f0e9}\u{10001b}行\n\u{1b}[".as_bytes();
        for piece in 1..=text.len() {
            let styled =
                "\u{1b}[1;32mgröße\u{1b}[0m\t\\u{1b}[2J\\u{9b}\\u{202e}\\u{d}\\xe9\\u{1b}行\n\\u{1b}[";
            assert_eq!(written(text, true, piece), styled, "{piece}");
            let plain = styled.replace('\u{1b}', "\\u{1b}");
            assert_eq!(written(text, false, piece), plain, "{piece}");
            assert_eq!(written(b"a\xffb\xf0\x9f", true, piece), "a\\xffb\\xf0\\x9f", "{piece}");
        }
    }
}
