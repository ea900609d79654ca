//! `cargo amdinst bench`: evaluations on a device that is modelled.

mod cases;
mod chart;
mod fit;
mod seed;
mod subject;
mod table;
mod view;

use crate::cli::{BenchArgs, BenchWhat};
use crate::context::Context;
use crate::exit::CommandResult;

pub use self::document::{chart_of, table_of};

/// Runs the command.
///
/// # Errors
/// When the kernels cannot be built, or one does not end well.
pub fn run(context: &mut Context, args: &BenchArgs) -> CommandResult {
    match &args.what {
        BenchWhat::Seed(args) => seed::run(context, args),
        BenchWhat::Fit(args) => fit::run(context, args),
    }
}

/// Results that were kept, as documents show them.
mod document {
    use super::view::SeedView;
    use crate::exit::{CommandResult, Exit, OrExit as _};

    /// The tables, in Markdown, of what `bench seed --format json` printed.
    ///
    /// # Errors
    /// When that is something else.
    pub fn table_of(json: &str) -> CommandResult<String> {
        Ok(super::table::markdown(&parse(json)?))
    }

    /// The chart of it, as SVG.
    ///
    /// # Errors
    /// As before; when it cannot be drawn.
    pub fn chart_of(json: &str) -> CommandResult<String> {
        super::chart::svg(&parse(json)?)
    }

    fn parse(json: &str) -> CommandResult<SeedView> {
        serde_json::from_str(json).or_exit(Exit::BadInput)
    }
}
