//! `cargo amdinst instrument`: Instrument a code object.

use crate::cli::InstrumentArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit, Failure};

/// Runs the command.
///
/// # Errors
/// Not connected yet.
pub fn run(_context: &mut Context, _args: &InstrumentArgs) -> CommandResult {
    Err(Failure::msg(Exit::Unsupported, "`instrument` is not connected yet"))
}
