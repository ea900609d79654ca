//! `cargo amdinst build`: Build kernels and instrument them.

use crate::build::{build, instrument::Forms};
use crate::cli::BuildArgs;
use crate::commands::Context;
use crate::exit::{CommandResult, Exit};

/// Runs the command.
///
/// # Errors
/// See [`crate::build::build`].
pub fn run(context: &mut Context, args: &BuildArgs) -> CommandResult {
    let forms = match (args.no_instrument, args.counters) {
        (true, _) => Forms(Vec::new()),
        (false, None) => Forms::all(),
        (false, Some(choice)) => Forms(vec![choice.home()]),
    };
    build(context, &args.package, &forms)?;
    Ok(Exit::Success)
}
