//! JSON in which strangers' names stand: their true characters, escaped where they could do harm to whoever
//! looks at the document.
//!
//! A byte that is no UTF-8 has no place in JSON. Its stand-in goes there, and comes back as itself.

use std::io::{self, Write};

use serde::Serialize;

use crate::character::{Character, is_harmless, stand_in};
use crate::clean::Clean;

/// Writes a document, indented.
///
/// # Errors
/// When `out` cannot be written.
pub fn to_writer_pretty(out: impl Write, data: &(impl Serialize + ?Sized)) -> io::Result<()> {
    let mut clean = Clean::json(out);
    serde_json::to_writer_pretty(&mut clean, data)?;
    clean.flush()
}

/// Writes a document in one line, without its end.
///
/// # Errors
/// When `out` cannot be written.
pub fn to_writer(out: impl Write, data: &(impl Serialize + ?Sized)) -> io::Result<()> {
    let mut clean = Clean::json(out);
    serde_json::to_writer(&mut clean, data)?;
    clean.flush()
}

/// A document in one line.
///
/// # Errors
/// When `data` cannot be JSON.
pub fn to_vec(data: &(impl Serialize + ?Sized)) -> io::Result<Vec<u8>> {
    Ok(clean(serde_json::to_vec(data)?))
}

/// A document that was written without care.
pub fn clean(document: Vec<u8>) -> Vec<u8> {
    // Nearly all are like this. Without an end within a piece the compiler makes vector code of it.
    let is_plain =
        |piece: &[u8]| piece.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~' | b'\n'));
    if document.chunks(256).all(is_plain) {
        return document;
    }
    let mut bytes = Vec::with_capacity(document.len() + document.len() / 8);
    let mut clean = Clean::json(&mut bytes);
    let done = clean.write_all(&document).and_then(|()| clean.flush());
    debug_assert!(done.is_ok(), "memory takes what is written");
    bytes
}

/// A document, indented.
///
/// # Errors
/// When `data` cannot be JSON.
pub fn to_vec_pretty(data: &(impl Serialize + ?Sized)) -> io::Result<Vec<u8>> {
    Ok(clean(serde_json::to_vec_pretty(data)?))
}

/// A document in one line for a page that shows its strings: names in it are as people see them.
///
/// # Errors
/// When `data` cannot be JSON.
pub fn to_string_shown(data: &(impl Serialize + ?Sized)) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut clean = Clean::json_shown(&mut bytes);
    serde_json::to_writer(&mut clean, data)?;
    clean.flush()?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// A name that a document has, as [`name`](crate::name) would have read it.
pub fn name(text: String) -> String {
    if text.chars().all(is_harmless) {
        return text;
    }
    let stand_in = |c| if let Character::Harmful(c) = Character::of(c) { stand_in(c) } else { c };
    text.chars().map(stand_in).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_the_true_names() {
        let true_name = "k\u{1b}[2J\u{9b}\u{202e}\n\u{e0041}";
        let read = crate::name_of(true_name);
        let document = to_vec(&[&*read]).unwrap();
        assert!(document.is_ascii(), "{document:?}");
        assert!(document.iter().all(|byte| (b' '..=b'~').contains(byte)));
        let [back]: [String; 1] = serde_json::from_slice(&document).unwrap();
        assert_eq!(back, true_name);
        assert_eq!(name(back), read);
        let latin = crate::name(b"caf\xe9");
        let [back]: [String; 1] = serde_json::from_slice(&to_vec_pretty(&[&*latin]).unwrap()).unwrap();
        assert_eq!(name(back), latin);
    }

    #[test]
    fn pages_show_names_as_people_see_them() {
        let page = to_string_shown(&[crate::name_of("k\u{9b}\n"), crate::name(b"\xe9")]).unwrap();
        let [one, two]: [String; 2] = serde_json::from_str(&page).unwrap();
        assert_eq!((one.as_str(), two.as_str()), (r"k\u{9b}\u{a}", r"\xe9"));
    }
}
