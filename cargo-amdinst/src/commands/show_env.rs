//! `cargo amdinst show-env`: Print how to build by hand.

use crate::cli::ShowEnvArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &ShowEnvArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`show-env` is not connected yet"))
}
