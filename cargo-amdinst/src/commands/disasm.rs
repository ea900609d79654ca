//! `cargo amdinst disasm`: disassemble a code object, line for line as `llvm-objdump -d` does.

use std::fmt::Write as _;

use amdinst_core::isa;
use amdinst_core::object::CodeObject;

use super::Context;
use super::input::Input;
use super::output;
use crate::cli::DisasmArgs;
use crate::exit::{CommandResult, Exit};

/// Runs the command.
///
/// # Errors
/// When the file cannot be read, or does not have the kernel.
pub fn run(_context: &mut Context, args: &DisasmArgs) -> CommandResult {
    let input = Input::read(&args.input)?;
    let kernel = args.kernel.as_deref();
    let fitting =
        input.objects.iter().filter(|found| kernel.is_none_or(|name| found.object.kernel(name).is_some()));
    let fitting: Vec<_> = fitting.collect();
    if fitting.is_empty() {
        return Err(input.no_kernel(kernel.unwrap_or_default()));
    }
    for found in &fitting {
        let mut text = String::new();
        if fitting.len() > 1 {
            let _ = writeln!(text, "\n{} at {:#x}:", found.target, found.offset);
        }
        text.push_str(&listing(&found.object, kernel));
        output::print(&text)?;
    }
    Ok(Exit::Success)
}

/// A symbol in `.text`: where it begins, and its name.
type Symbol<'a> = (u64, &'a str);

/// The listing of `.text`, or of one kernel in it.
pub fn listing(object: &CodeObject, kernel: Option<&str>) -> String {
    let kernels = object.kernels.iter().map(|kernel| (kernel.code.start, entry_symbol(&kernel.symbol)));
    let functions = object.functions.iter().map(|function| (function.code.start, function.name.as_str()));
    let mut symbols: Vec<Symbol<'_>> = kernels.chain(functions).collect();
    symbols.sort_unstable();
    // Code in front of every symbol is the section's own.
    if symbols.first().is_none_or(|&(start, _)| start > object.text.address) {
        symbols.insert(0, (object.text.address, ".text"));
    }
    let whole = object.text.address..object.text.address + object.text_bytes().len() as u64;
    let range = kernel.and_then(|name| object.kernel(name)).map_or(whole, |kernel| kernel.code.clone());

    let mut text = "\nDisassembly of section .text:\n".to_owned();
    let mut address = range.start;
    while address < range.end {
        for (_, name) in symbols.iter().filter(|(start, _)| *start == address) {
            let _ = writeln!(text, "\n{address:016x} <{name}>:");
        }
        let next_symbol = symbols.iter().map(|&(start, _)| start).find(|&start| start > address);
        let end = next_symbol.unwrap_or(range.end).min(range.end);
        address += line(object, &symbols, address, end, &mut text);
    }
    text
}

/// The symbol of a kernel's code: the descriptor's without `.kd`.
fn entry_symbol(descriptor: &str) -> &str {
    descriptor.strip_suffix(".kd").unwrap_or(descriptor)
}

/// Writes one line for what stands at `address`, and returns its size in bytes.
fn line(object: &CodeObject, symbols: &[Symbol<'_>], address: u64, end: u64, text: &mut String) -> u64 {
    let start = usize::try_from(address - object.text.address).unwrap_or(usize::MAX);
    let length = usize::try_from(end - address).unwrap_or(usize::MAX);
    let rest = object.text_bytes().get(start..).unwrap_or_default();
    let ends_section = length >= rest.len();
    let rest = &rest[..length.min(rest.len())];
    let zeros = zeros_to_skip(rest, ends_section);
    if zeros > 0 {
        text.push_str("\t\t...\n");
        return zeros as u64;
    }
    let arch = object.target.arch;
    let size = match isa::decode(arch, rest) {
        Ok(inst) => {
            let size = usize::from(inst.size);
            let words: Vec<_> = rest[..size.min(rest.len())].chunks_exact(4).map(word).collect();
            let covering = |target| {
                let &(start, name) = symbols.iter().rev().find(|&&(start, _)| start <= target)?;
                Some((name.to_owned(), target - start))
            };
            text.push_str(&isa::objdump_line(&inst, arch, address, &words, covering));
            size
        }
        Err(_) => data(rest, address, text),
    };
    text.push('\n');
    size as u64
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// Writes what is no instruction: one word, or the bytes that are left. Returns their number.
fn data(bytes: &[u8], address: u64, text: &mut String) -> usize {
    if bytes.len() >= 4 {
        let word = word(&bytes[..4]);
        let _ = write!(text, "\t.long 0x{word:08x}{:43}// {address:012X}: {word:08X}", "");
        return 4;
    }
    let directive: Vec<_> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    let shown: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let pad = 55_usize.saturating_sub(6 * bytes.len());
    let _ = write!(text, "\t.byte {}{:pad$}// {address:012X}: {}", directive.join(", "), "", shown.join(" "));
    bytes.len().max(1)
}

/// Zero bytes that `llvm-objdump` shows as `...`: eight or more, in whole words; fewer only at the end of the section.
fn zeros_to_skip(bytes: &[u8], ends_section: bool) -> usize {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    if zeros == bytes.len() && ends_section {
        zeros
    } else if zeros < 8 {
        0
    } else {
        zeros & !3
    }
}
