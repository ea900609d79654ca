//! `cargo amdinst build`: Build kernels and instrument them.

use crate::cli::BuildArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &BuildArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`build` is not connected yet"))
}
