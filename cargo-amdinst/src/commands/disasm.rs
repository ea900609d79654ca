//! `cargo amdinst disasm`: disassemble a code object, line for line as `llvm-objdump -d` does.

use std::io::Write as _;
use std::ops::ControlFlow;

use amdinst_core::listing::Listing;

use super::Context;
use super::input::{File, Input, kernel_of};
use super::output;
use crate::cli::DisasmArgs;
use crate::exit::{CommandResult, Exit};

/// Runs the command.
///
/// # Errors
/// When the file cannot be read, or does not have the kernel.
pub fn run(context: &mut Context, args: &DisasmArgs) -> CommandResult {
    let file_args = args.input.resolve(context)?;
    let file = File::open(&file_args.file)?;
    let input = Input::new(&file_args, file.bytes())?;
    let kernel = args.kernel.first().map(String::as_str);
    let mut any = false;
    input.for_each(|found| {
        let object = &found.object;
        let range = match kernel.map(|name| kernel_of(object, name)) {
            Some(None) => return Ok(ControlFlow::Continue(())),
            Some(Some(kernel)) => Some(kernel.code.clone()),
            None => None,
        };
        any = true;
        output::stream(|out| {
            if input.len() > 1 {
                writeln!(out, "\n{} at {:#x}:", found.target, found.offset)?;
            }
            let listing = Listing::new(object);
            match range {
                Some(range) => listing.write_range(range, out),
                None => listing.write(out),
            }
        })
    })?;
    match (any, kernel) {
        (false, Some(name)) => Err(input.no_kernel(name)),
        _ => Ok(Exit::Success),
    }
}
