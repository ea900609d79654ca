//! `cargo amdinst report`: Show how the branches of the last test run diverged.
//!
//! What is shown is made by `amdinst-report`; here it is found, printed and written.

mod columns;
mod input;
mod page;

use std::path::Path;

use amdinst_core::report::Origin;
use amdinst_report::{Diff, Gate, Summary, Violation, github, human, lcov, markdown, sarif};
use amdinst_text::{json, shown_lines};

use crate::cli::{ReportArgs, ReportFormat};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;
use input::Saved;

/// Runs the command.
///
/// # Errors
/// No run, or one that cannot be read; a kernel that the run does not have. Limits that are not kept are
/// [`Exit::LimitPassed`].
pub fn run(context: &Context, args: &ReportArgs) -> CommandResult {
    if args.baseline.is_none()
        && let Some(gate) = args.fail_on.iter().find(|gate| gate.needs_baseline())
    {
        return Err(Failure::msg(Exit::Usage, format!("--fail-on {gate} needs a --baseline")));
    }
    let inputs: Vec<_> = args.run.iter().chain(&args.baseline).collect();
    output::check_distinct(args.lcov.iter().chain(&args.sarif), &inputs)?;
    let input = match input::find(context, args)? {
        Saved::Run(input) => input,
        Saved::Matrix(matrix) => match &args.gpu {
            None => return columns::run(context, args, &matrix),
            Some(name) => matrix.run_named(name)?,
        },
    };
    let mut summary = Summary::new(&input.run);
    retain(&mut summary, &args.kernel)?;
    let mut baseline = args.baseline.as_deref().map(input::baseline).transpose()?;
    if let Some(before) = &mut baseline {
        before.retain_named(&args.kernel);
    }
    let diff = baseline.as_ref().map(|before| Diff::new(before, &summary));
    let violations: Vec<Violation> =
        args.fail_on.iter().flat_map(|gate| gate.check(&summary, diff.as_ref())).collect();

    // In JSON it is `chosen_by`.
    if args.format == ReportFormat::Human
        && let Some(chosen) = human::chosen(&summary)
    {
        context.shell.note(chosen);
    }
    match args.format {
        ReportFormat::Human => {
            let (color, layout) = (context.shell.color_for_data(), context.shell.layout());
            let options = human::Options { color, top: args.top, layout };
            output::print_styled(&human::render(&summary, &input.sources, &options), color)?;
            if let Some(diff) = &diff {
                output::print(&diff.human())?;
            }
        }
        ReportFormat::Json => match &diff {
            // With a baseline, what differs is the data that was asked for.
            Some(diff) => output::print_json(diff)?,
            None => output::print_json(&summary)?,
        },
        ReportFormat::Markdown => {
            output::print(&markdown::render(&summary, &violations, args.top))?;
            if let Some(diff) = &diff {
                output::print(&format_args!("\n{}", diff.markdown()))?;
            }
        }
        ReportFormat::Github => output::print(&github::render(&summary, &violations, args.top))?,
    }
    if let Some(directory) = &args.html {
        let extras = page::Parts {
            violations: &violations,
            diff: diff.as_ref(),
            baseline: baseline.as_ref(),
            gpus: None,
        };
        page::write(context, directory, &input, &summary, &extras)?;
    }
    if let Some(path) = &args.lcov {
        let own = |file: &str| Origin::of(file).is_own();
        write(context, path, shown_lines(&lcov::render(&summary, own)).as_bytes())?;
    }
    if let Some(path) = &args.sarif {
        let mut bytes =
            json::to_vec_pretty(&sarif::log(&summary, &violations)).or_exit(Exit::OutputFailed)?;
        bytes.push(b'\n');
        write(context, path, &bytes)?;
    }
    Ok(limits(context, !summary.kernels.is_empty(), &args.fail_on, &violations))
}

/// Says which limits are not kept.
fn limits(context: &Context, has_launch: bool, gates: &[Gate], violations: &[Violation]) -> Exit {
    for violation in violations {
        let place = violation.location.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        context.shell.error(format_args!("--fail-on {}: {}{place}", violation.gate, violation.message));
    }
    if !gates.is_empty() && !has_launch {
        // A limit that nothing was held against has not been kept.
        context.shell.error("--fail-on: the run has no launch");
        return Exit::LimitPassed;
    }
    if violations.is_empty() { Exit::Success } else { Exit::LimitPassed }
}

fn retain(summary: &mut Summary, names: &[String]) -> CommandResult<()> {
    if let Some(name) = summary.unknown_kernel(names) {
        let known: Vec<_> = summary.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(Failure::msg(Exit::Usage, format!("the run has no launch of a kernel `{name}`"))
            .note(format!("its kernels: {known}")));
    }
    summary.retain_named(names);
    Ok(())
}

fn write(context: &Context, path: &Path, bytes: &[u8]) -> CommandResult<()> {
    output::write_file(path, bytes)?;
    context.shell.status("Wrote", path.display());
    Ok(())
}
