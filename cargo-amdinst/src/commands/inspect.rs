//! `cargo amdinst inspect`: Show what a code object holds.

use crate::cli::InspectArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &InspectArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`inspect` is not connected yet"))
}
