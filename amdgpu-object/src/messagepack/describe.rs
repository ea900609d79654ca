//! A value as text, for messages.

use std::fmt::Write as _;

use super::{Damaged, Item, Stream};

/// Characters of a text; longer ones are cut.
const LENGTH: usize = 40;

/// The value that comes next, for people.
pub(crate) fn describe(mut stream: Stream<'_>) -> String {
    let mut text = String::new();
    // What is damaged ends the text: whoever reads the stream finds that out too.
    let _ = append(&mut stream, &mut text);
    if let Some((cut, _)) = text.char_indices().nth(LENGTH) {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Values that begin behind the cut are left out, which bounds depth and work.
fn append(stream: &mut Stream<'_>, text: &mut String) -> Result<(), Damaged> {
    let written = match stream.item()? {
        Item::Nil => write!(text, "nil"),
        Item::Boolean(value) => write!(text, "{value}"),
        Item::Unsigned(number) => write!(text, "{number}"),
        Item::Negative(number) => write!(text, "{number}"),
        Item::F32(number) => write!(text, "{number}"),
        Item::F64(number) => write!(text, "{number}"),
        Item::String(bytes) => match std::str::from_utf8(bytes) {
            Ok(string) => write!(text, "{:?}", string.chars().take(LENGTH + 1).collect::<String>()),
            Err(_) => write!(text, "{:?}", start(bytes)),
        },
        Item::Binary(bytes) => write!(text, "{:?}", start(bytes)),
        Item::Extension(kind, bytes) => write!(text, "[{kind}, {:?}]", start(bytes)),
        Item::Array(length) => {
            text.push('[');
            for index in 0..length {
                separate(index, text);
                if is_long(text) {
                    return Ok(());
                }
                append(stream, text)?;
            }
            text.push(']');
            Ok(())
        }
        Item::Map(length) => {
            text.push('{');
            for index in 0..length {
                separate(index, text);
                if is_long(text) {
                    return Ok(());
                }
                append(stream, text)?;
                text.push_str(": ");
                append(stream, text)?;
            }
            text.push('}');
            Ok(())
        }
    };
    written.expect("a String takes everything");
    Ok(())
}

fn separate(index: u32, text: &mut String) {
    if index > 0 {
        text.push_str(", ");
    }
}

/// Whether it will be cut, however many bytes its characters have.
fn is_long(text: &str) -> bool {
    text.len() > 4 * LENGTH
}

/// The bytes that a message shows: [`LENGTH`] at most.
fn start(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(LENGTH)]
}
