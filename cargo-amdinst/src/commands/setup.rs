//! `cargo amdinst setup`: Find or prepare the toolchain that builds kernels.

use crate::cli::SetupArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &SetupArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`setup` is not connected yet"))
}
