//! Names of registers and special sources.

use std::fmt::{self, Write as _};

/// The name of a scalar register tuple.
pub(crate) fn scalar_name(first: u8, dwords: u8) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write_scalar(&mut out, first, dwords);
    out
}

/// Writes a scalar register tuple.
pub(super) fn write_scalar(out: &mut String, first: u8, dwords: u8) -> fmt::Result {
    let base = match first {
        0..102 => return write_tuple(out, 's', first, dwords),
        102 | 103 => "flat_scratch",
        104 | 105 => "xnack_mask",
        106 | 107 => "vcc",
        108..=123 => return write_tuple_of(out, "ttmp", first - 108, dwords),
        124 => "m0",
        126 | 127 => "exec",
        _ => "/*reserved*/",
    };
    out.push_str(base);
    if dwords < 2 && first != 124 {
        out.push_str(if first.is_multiple_of(2) { "_lo" } else { "_hi" });
    }
    Ok(())
}

/// Writes a register tuple of a file that is named by one letter.
pub(super) fn write_tuple(out: &mut String, file: char, first: u8, dwords: u8) -> fmt::Result {
    write_tuple_of(out, file.encode_utf8(&mut [0; 4]), first, dwords)
}

fn write_tuple_of(out: &mut String, file: &str, first: u8, dwords: u8) -> fmt::Result {
    match dwords {
        0 | 1 => write!(out, "{file}{first}"),
        _ => write!(out, "{file}[{first}:{}]", u16::from(first) + u16::from(dwords) - 1),
    }
}

/// The name of a special source.
pub(super) const fn special_name(code: u8) -> &'static str {
    match code {
        235 => "src_shared_base",
        236 => "src_shared_limit",
        237 => "src_private_base",
        238 => "src_private_limit",
        239 => "src_pops_exiting_wave_id",
        251 => "src_vccz",
        252 => "src_execz",
        253 => "src_scc",
        254 => "src_lds_direct",
        _ => "/*reserved*/",
    }
}
