//! `cargo amdinst run`: Launch a kernel in the emulator.

use crate::cli::RunArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &RunArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`run` is not connected yet"))
}
