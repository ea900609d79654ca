//! Names of registers and special sources.

use std::fmt;

use crate::registers::{Naming, Registers};

/// The name of a scalar register tuple.
pub(crate) fn scalar_name(registers: &Registers, first: u8, dwords: u8) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_scalar(&mut out, registers, first, dwords);
    out
}

/// Writes a scalar register tuple.
pub(super) fn write_scalar(out: &mut String, registers: &Registers, first: u8, dwords: u8) -> fmt::Result {
    let Some(run) = registers.run_of(first) else {
        out.push_str("/*reserved*/");
        return Ok(());
    };
    match run.naming {
        Naming::Numbered => return write_tuple_of(out, run.name, first - run.first, dwords),
        Naming::Halves if dwords < 2 => {
            out.push_str(run.name);
            out.push_str(if first == run.first { "_lo" } else { "_hi" });
        }
        Naming::Halves | Naming::Single => out.push_str(run.name),
    }
    Ok(())
}

/// Writes a register tuple of a file that is named by one letter.
pub(super) fn write_tuple(out: &mut String, file: char, first: u8, dwords: u8) -> fmt::Result {
    write_tuple_of(out, file.encode_utf8(&mut [0; 4]), first, dwords)
}

// Registers are most of a listing's text: their numbers do not go through `fmt`.
fn write_tuple_of(out: &mut String, file: &str, first: u8, dwords: u8) -> fmt::Result {
    let mut digits = itoa::Buffer::new();
    out.push_str(file);
    if dwords < 2 {
        out.push_str(digits.format(first));
        return Ok(());
    }
    out.push('[');
    out.push_str(digits.format(first));
    out.push(':');
    out.push_str(digits.format(u16::from(first) + u16::from(dwords) - 1));
    out.push(']');
    Ok(())
}
