//! `cargo amdinst build`: Build kernels and instrument them.

use crate::build::{build, instrument::Forms};
use crate::cli::BuildArgs;
use crate::commands::instrument::options;
use crate::context::Context;
use crate::exit::{CommandResult, Exit};

/// Runs the command.
///
/// # Errors
/// See [`crate::build::build`]; functions that LLVM has no code for, when all others are built.
pub fn run(context: &mut Context, args: &BuildArgs) -> CommandResult {
    let all = Forms::all(options(&args.measuring)?, &args.kernel);
    let homes = match (args.no_instrument, args.measuring.counters) {
        (true, _) => Vec::new(),
        (false, None) => all.homes,
        (false, Some(choice)) => vec![choice.home()],
    };
    let forms = Forms { homes, ..all };
    build(context, &args.package, &forms)?.all_compiled()?;
    Ok(Exit::Success)
}
