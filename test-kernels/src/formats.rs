//! Texts written by `core::fmt`, which calls through tables of methods: floats, integers, strings, tuples, slices, and a panic with a
//! message.

use core::fmt::{Error, Result, Write};

use amdinst_device::{global_id_x, kernel, probe};

/// Bytes of text that a work-item may write.
pub const ROOM: usize = 96;

/// A text of no more than [`ROOM`] bytes.
struct Line {
    bytes: *mut u8,
    used: usize,
}

impl Line {
    /// The text of work-item `i`.
    fn new(texts: *mut u8, i: u32) -> Self {
        Self { bytes: texts.wrapping_add(i as usize * ROOM), used: 0 }
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> Result {
        for &byte in text.as_bytes() {
            if self.used == ROOM {
                return Err(Error);
            }
            // SAFETY: one of the bytes of this work-item.
            unsafe { *self.bytes.add(self.used) = byte };
            self.used += 1;
        }
        Ok(())
    }
}

/// A number of each work-item below `n`, with two digits behind the point; `lengths` are those of the texts.
///
/// # Safety
/// `values` and `lengths` are to `n` elements, `texts` to [`ROOM`] bytes for each of them.
#[kernel]
pub unsafe fn fixed(n: u32, values: *const f32, lengths: *mut u32, texts: *mut u8) {
    let i = global_id_x();
    #[probe("outside")]
    if i >= n {
        return;
    }
    let mut line = Line::new(texts, i);
    // SAFETY: `i` is below `n`.
    let value = unsafe { *values.add(i as usize) };
    let written = write!(line, "{value:.2}");
    // SAFETY: as above.
    unsafe { *lengths.add(i as usize) = if written.is_ok() { line.used as u32 } else { u32::MAX } };
}

/// Formats a number in other ways, and others made of its bits: tuples, a slice, a string.
///
/// # Safety
/// As for [`fixed`].
#[kernel]
pub unsafe fn debug(n: u32, values: *const f32, lengths: *mut u32, texts: *mut u8) {
    let i = global_id_x();
    #[probe("outside")]
    if i >= n {
        return;
    }
    let mut line = Line::new(texts, i);
    // SAFETY: `i` is below `n`.
    let value = unsafe { *values.add(i as usize) };
    let written = write_debug(&mut line, value);
    // SAFETY: as above.
    unsafe { *lengths.add(i as usize) = if written.is_ok() { line.used as u32 } else { u32::MAX } };
}

/// What [`debug`] writes.
///
/// # Errors
/// If it is too long.
pub fn write_debug(line: &mut impl Write, value: f32) -> Result {
    let bits = value.to_bits();
    let texts = ["a\"b", "tab\t", "é", "plain"];
    let numbers = [bits, bits >> 16, bits & 7];
    match bits % 4 {
        0 => write!(line, "{value:?} {:?} {value:e}", f64::from(value)),
        1 => write!(line, "{bits:#010x} {:?}", (bits, -1_i8, 'c', value > 0.0)),
        2 => write!(line, "{:?} {:>12}", &numbers[..bits as usize >> 8 & 3], i64::from(bits) - (1 << 31)),
        _ => write!(line, "{:?}", texts[bits as usize >> 8 & 3]),
    }
}

/// Doubles each number, and panics where one is not below `most`.
///
/// # Safety
/// `values` is to one element a work-item.
#[kernel]
pub unsafe fn doubled(most: f32, values: *mut f32) {
    let i = global_id_x() as usize;
    // SAFETY: one element a work-item.
    let value = unsafe { *values.add(i) };
    assert!(value < most, "{value:?} of work-item {i} is not below {most:.1}");
    // SAFETY: as above.
    unsafe { *values.add(i) = value * 2.0 };
}
