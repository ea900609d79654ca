//! What is not shown as instructions: words that are none, zeros, data symbols.

use std::fmt::Write as _;

/// Writes what no instruction begins with: one word, or the bytes that are left at the end of the section.
/// Returns their number.
pub(super) fn line(out: &mut String, address: u64, bytes: &[u8]) -> usize {
    // Writing to a String cannot fail, here and below.
    if let Some(word) = bytes.first_chunk::<4>() {
        let word = u32::from_le_bytes(*word);
        let _ = writeln!(out, "\t.long 0x{word:08x}{:43}// {address:012X}: {word:08X}", "");
        return 4;
    }
    let directive: Vec<_> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let shown: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let pad = 55_usize.saturating_sub(6 * bytes.len());
    let _ =
        writeln!(out, "\t.byte {}{:pad$}// {address:012X}: {}", directive.join(", "), "", shown.join(" "));
    bytes.len().max(1)
}

/// Zero bytes that are left out: eight or more, in whole words.
pub(super) fn zeros_to_skip(bytes: &[u8]) -> usize {
    // Nearly every instruction ends this after a byte or two.
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    if zeros < 8 { 0 } else { zeros & !3 }
}

/// Writes a data symbol's contents as a dump of bytes and characters, eight a line.
pub(super) fn dump(out: &mut String, address: u64, bytes: &[u8]) {
    for (number, chunk) in bytes.chunks(8).enumerate() {
        let _ = write!(out, "{:8x}:", address + 8 * number as u64);
        for byte in chunk {
            let _ = write!(out, " {byte:02x}");
        }
        out.extend(std::iter::repeat_n("   ", 8 - chunk.len()));
        out.push_str("         ");
        out.extend(
            chunk.iter().map(|&byte| if matches!(byte, b' '..=b'~') { char::from(byte) } else { '.' }),
        );
        out.push('\n');
    }
}
