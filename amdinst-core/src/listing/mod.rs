//! The disassembly of a code object, line for line as `llvm-objdump -d` prints that of its `.text` section.
//!
//! Equal are the labels (of every symbol kind), the instructions with their addresses and bytes, the targets of
//! branches, words that are no instruction, runs of zeros that are left out, and data symbols among the code. One thing
//! is not: a kernel descriptor inside `.text` is shown as bytes, like other data, not as `.amdhsa_` directives, and so is
//! the `amd_kernel_code_t` of code object version 2, which LLVM shows as an error and single bytes.

mod data;
mod line;
mod symbols;

use std::io;
use std::ops::Range;

use crate::isa;
use crate::object::CodeObject;
use symbols::{Place, Symbols};

/// The text is handed on when it has grown to this many bytes.
const CHUNK: usize = 1 << 16;

/// A code object's symbols, ready for its disassembly.
pub struct Listing<'a> {
    object: &'a CodeObject,
    symbols: Symbols,
}

impl<'a> Listing<'a> {
    /// Sorts the symbols of a code object.
    pub fn new(object: &'a CodeObject) -> Self {
        Self { object, symbols: Symbols::read(object) }
    }

    /// Writes the listing of `.text`, beginning with an empty line and the section's name.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        let text = &self.object.text;
        self.write_range(text.address..text.address + text.range.len() as u64, out)
    }

    /// As [`Self::write`], with the code at some addresses only. What lies outside `.text` is left out.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_range(&self, range: Range<u64>, out: &mut impl io::Write) -> io::Result<()> {
        let text = &self.object.text;
        let section = text.address..text.address + text.range.len() as u64;
        let mut buffer = String::with_capacity(2 * CHUNK);
        buffer.push_str("\nDisassembly of section .text:\n");
        for Place { address, name, data_bytes, next } in self.symbols.places() {
            // Each place is listed from its own address, even when an instruction before it reached beyond that.
            let start = address.max(range.start);
            let end = next.unwrap_or(section.end).min(range.end);
            if start >= end || !section.contains(&start) {
                continue;
            }
            if start == address {
                line::label(&mut buffer, address, name);
            }
            let bytes = |from: u64| &self.object.text_bytes()[(from - section.start) as usize..];
            let code = address.saturating_add(data_bytes).clamp(start, end);
            data::dump(&mut buffer, start, &bytes(start)[..(code - start) as usize]);
            let mut at = code;
            while at < end {
                at += self.line(&mut buffer, at, end, bytes(at));
                if buffer.len() >= CHUNK {
                    out.write_all(buffer.as_bytes())?;
                    buffer.clear();
                }
            }
        }
        out.write_all(buffer.as_bytes())
    }

    /// Writes one line for what stands at `at`, and returns its size in bytes. `bytes` go on to the end of the section:
    /// an instruction may reach over `end`, where the next symbol stands, but zeros are left out only up to there.
    fn line(&self, out: &mut String, at: u64, end: u64, bytes: &[u8]) -> u64 {
        let zeros = data::zeros_to_skip(&bytes[..(end - at) as usize]);
        if zeros > 0 {
            out.push_str("\t\t...\n");
            return zeros as u64;
        }
        let arch = self.object.target.arch;
        match isa::decode_for_listing(arch, bytes) {
            Ok(inst) => {
                let size = usize::from(inst.size);
                line::instruction(out, &inst, arch, at, &bytes[..size], |target| self.symbols.target(target));
                size as u64
            }
            Err(_) => data::line(out, at, bytes) as u64,
        }
    }
}
