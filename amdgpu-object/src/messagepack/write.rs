//! Values appended to bytes, each in its shortest form.

use rmp::encode;

/// An unsigned number.
pub(crate) fn number(out: &mut Vec<u8>, number: u64) {
    encode::write_uint(out, number).expect(TAKES_ALL);
}

/// A truth value.
pub(crate) fn boolean(out: &mut Vec<u8>, value: bool) {
    encode::write_bool(out, value).expect(TAKES_ALL);
}

/// A string.
pub(crate) fn string(out: &mut Vec<u8>, text: &str) {
    encode::write_str(out, text).expect(TAKES_ALL);
}

/// A name of a file, as the bytes that it has there.
pub(crate) fn name(out: &mut Vec<u8>, name: &str) {
    let bytes = amdinst_text::original(name);
    encode::write_str_len(out, bytes.len() as u32).expect(TAKES_ALL);
    out.extend(&*bytes);
}

/// Nothing.
pub(crate) fn nil(out: &mut Vec<u8>) {
    encode::write_nil(out).expect(TAKES_ALL);
}

/// The head of an array; its items follow.
pub(crate) fn array(out: &mut Vec<u8>, length: u32) {
    encode::write_array_len(out, length).expect(TAKES_ALL);
}

/// The head of a map; its keys and values follow, in turn.
pub(crate) fn map(out: &mut Vec<u8>, length: u32) {
    encode::write_map_len(out, length).expect(TAKES_ALL);
}

const TAKES_ALL: &str = "a Vec takes everything";
