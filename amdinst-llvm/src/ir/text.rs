//! Pieces of textual LLVM IR: strings, sections of text, brackets, names of values.

use std::fmt::Write as _;

/// A section of lines of text. It is not loaded: what it says must not move a single address of the kernel.
pub(crate) fn text_section(name: &str, lines: &[String]) -> String {
    let mut ir = format!("module asm \".section {name},\\22\\22,@progbits\"\n");
    for line in lines {
        let text = escaped(&format!(".ascii \"{}\\n\"", assembler_text(line)));
        let _ = writeln!(ir, "module asm \"{text}\"");
    }
    ir
}

/// A string of textual IR.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:02X}");
            }
        }
    }
    out
}

/// A string of GNU assembler.
fn assembler_text(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b' '..=b'~' if byte != b'"' && byte != b'\\' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\{byte:03o}");
            }
        }
    }
    out
}

/// LLVM's string escapes: a backslash and two hexadecimal digits, or a doubled backslash.
pub(crate) fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'\\' {
            bytes.push(byte);
        } else if rest.first() == Some(&b'\\') {
            bytes.push(b'\\');
            rest = &rest[1..];
        } else {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        }
    }
    Some(bytes)
}

/// Where the parenthesis closes that is open at the beginning.
pub(crate) fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted) = (0_usize, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' if !quoted => depth += 1,
            b')' if !quoted => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return Some(at),
            },
            _ => {}
        }
    }
    None
}

/// The parts between commas that stand in no brackets.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b'(' | b'[' | b'{' | b'<' if !quoted => depth += 1,
            b')' | b']' | b'}' | b'>' if !quoted => depth -= 1,
            b',' if !quoted && depth == 0 => {
                parts.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    let last = text[begin..].trim();
    parts.extend((!last.is_empty()).then_some(last));
    parts
}

/// `text` with another name for the value `%7`.
pub(crate) fn renamed(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = rest.split_at(at);
        let behind = &behind[from.len()..];
        let ends = !behind.starts_with(|next: char| next.is_ascii_alphanumeric() || "._-$".contains(next));
        out.push_str(before);
        out.push_str(if ends { to } else { from });
        rest = behind;
    }
    out + rest
}
