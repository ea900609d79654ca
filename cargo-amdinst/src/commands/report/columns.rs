//! The report of the last tests on several GPUs: all side by side, and a page each.

use std::path::Path;

use amdinst_core::report::Origin;
use amdinst_report::html::GpuLinks;
use amdinst_report::matrix::kernels;
use amdinst_report::matrix::{MatrixColumn, MatrixDocument, github, markdown, page as matrix_page, table};
use amdinst_report::{Summary, Violation, lcov};
use amdinst_text::shown_lines;

use super::input::{SavedMatrix, SavedRun};
use super::page::{self, Parts};
use crate::cli::{ReportArgs, ReportFormat};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// A column with its run.
struct ColumnReport<'a> {
    column: &'a MatrixColumn,
    input: SavedRun,
    summary: Summary,
    violations: Vec<Violation>,
}

/// Reports on all columns.
///
/// # Errors
/// Options that are for one GPU; a run that cannot be read, a kernel that no run has.
pub(super) fn run(context: &Context, args: &ReportArgs, saved: &SavedMatrix) -> CommandResult {
    let of_one = [("--baseline", args.baseline.is_some()), ("--sarif", args.sarif.is_some())];
    if let Some((option, _)) = of_one.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::msg(Exit::Usage, format!("`{option}` is for the run of one GPU"))
            .help(saved.names_one()));
    }
    let matrix = &saved.matrix;
    let columns = columns(args, saved)?;
    let of_column = |column: &MatrixColumn| {
        columns.iter().find(|report| report.column == column).map(|report| &report.summary)
    };
    let summaries: Vec<Option<&Summary>> = matrix.columns.iter().map(of_column).collect();
    let kernels = kernels::rows(&saved.package, &summaries);
    let mut violations: Vec<Violation> = Vec::new();
    for violation in columns.iter().flat_map(|report| &report.violations) {
        if !violations.contains(violation) {
            violations.push(violation.clone());
        }
    }
    match args.format {
        ReportFormat::Human => {
            output::print(&table::all(matrix, &kernels))?;
            context.shell.help(saved.names_one());
        }
        ReportFormat::Json => output::print_json(&MatrixDocument { matrix, kernels: &kernels })?,
        ReportFormat::Markdown => output::print(&markdown::render(matrix, &kernels, &violations))?,
        ReportFormat::Github => output::print(&github::render(matrix, &violations))?,
    }
    if let Some(directory) = &args.html {
        let first = matrix_page::render(&saved.package, matrix, &kernels, &violations);
        pages(context, directory, &columns, &first.or_exit(Exit::OutputFailed)?)?;
    }
    if let Some(path) = &args.lcov {
        let own = |file: &str| Origin::of(file).is_own();
        // Readers of a tracefile sum up the records of a file.
        let records: String = columns.iter().map(|report| lcov::render(&report.summary, own)).collect();
        super::write(context, path, shown_lines(&records).as_bytes())?;
    }
    let has_launch = !kernels.is_empty();
    Ok(super::limits(context, has_launch, &args.fail_on, &violations))
}

/// The columns that have a run, with the kernels that are asked for.
fn columns<'a>(args: &ReportArgs, saved: &'a SavedMatrix) -> CommandResult<Vec<ColumnReport<'a>>> {
    let mut columns = Vec::new();
    for column in &saved.matrix.columns {
        let Some(input) = saved.run_of(column)? else { continue };
        let summary = Summary::new(&input.run);
        columns.push(ColumnReport { column, input, summary, violations: Vec::new() });
    }
    let summaries = || columns.iter().map(|report| &report.summary);
    let unknown = |name: &&String| {
        summaries().all(|summary| summary.unknown_kernel(std::slice::from_ref(*name)).is_some())
    };
    if let Some(name) = args.kernel.iter().find(unknown) {
        let message = format!("no GPU's run has a launch of a kernel `{name}`");
        return Err(Failure::msg(Exit::Usage, message));
    }
    for ColumnReport { column, summary, violations, .. } in &mut columns {
        summary.retain_named(&args.kernel);
        for gate in &args.fail_on {
            violations.extend(gate.check(summary, None).into_iter().map(|violation| Violation {
                message: format!("{} ({})", violation.message, column.title),
                ..violation
            }));
        }
    }
    Ok(columns)
}

/// Writes the page of all GPUs, and that of each into a directory beside it.
fn pages(
    context: &Context,
    directory: &Path,
    columns: &[ColumnReport<'_>],
    first: &str,
) -> CommandResult<()> {
    page::directory(directory)?;
    let from_each: Vec<(String, String)> = columns
        .iter()
        .map(|report| (report.column.title.clone(), format!("../{}", report.column.page())))
        .collect();
    for ColumnReport { column, input, summary, violations } in columns {
        let gpus = GpuLinks { own: &column.title, all: "../index.html", pages: &from_each };
        let parts = Parts { violations, diff: None, baseline: None, gpus: Some(gpus) };
        page::write(context, &directory.join(column.file_stem()), input, summary, &parts)?;
    }
    super::write(context, &directory.join("index.html"), first.as_bytes())
}
