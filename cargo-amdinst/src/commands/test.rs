//! `cargo amdinst test`: Build, instrument and run kernel tests.

use crate::cli::TestArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &TestArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`test` is not connected yet"))
}
