//! `cargo amdinst disasm`: Disassemble a code object.

use crate::cli::DisasmArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &DisasmArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`disasm` is not connected yet"))
}
