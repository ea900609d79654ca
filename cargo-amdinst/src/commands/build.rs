//! `cargo amdinst build`: Build kernels and instrument them.

use amdinst_core::instrument::Home;

use crate::build::{build, instrument::Forms};
use crate::cli::{BuildArgs, CounterChoice};
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
        (false, Some(CounterChoice::Auto)) => Forms(vec![None]),
        (false, Some(CounterChoice::Register)) => Forms(vec![Some(Home::Register)]),
        (false, Some(CounterChoice::Global)) => Forms(vec![Some(Home::Global)]),
    };
    build(context, &args.package, &forms)?;
    Ok(Exit::Success)
}
