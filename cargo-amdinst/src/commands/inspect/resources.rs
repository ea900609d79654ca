//! `cargo amdinst inspect --resources`: one line a kernel, its comparison with an earlier file, and limits.

use std::path::Path;
use std::sync::OnceLock;

use amdgpu_object::lines::SourceMap;
use amdinst_core::analysis::program::Program;
use amdinst_core::analysis::spills::spills;
use amdinst_core::report::Location;
use amdinst_report::resources::{
    KernelResources, ResourceDiff, ResourceTable, ResourceViolation, SCHEMA, SkippedObject, render,
};

use super::super::input::{File, Found, Input, counted};
use crate::cli::{FileArgs, InspectArgs, InspectFormat};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// Shows what the kernels of a file take.
///
/// # Errors
/// A limit that needs a baseline without one, a file that cannot be read, a kernel that no code object has.
/// Limits that are not kept are [`Exit::LimitPassed`].
pub(super) fn run(context: &mut Context, args: &InspectArgs) -> CommandResult {
    if args.baseline.is_none()
        && let Some(limit) = args.fail_on.iter().find(|limit| limit.needs_baseline())
    {
        return Err(Failure::msg(Exit::Usage, format!("--fail-on {limit} needs a --baseline")));
    }
    let file_args = args.input.resolve(context)?;
    let file = File::open(&file_args.file)?;
    let mut table = of_file(context, &file_args, &file)?;
    table.retain_named(&args.kernel).map_err(|name| no_kernel(&file_args.file, name))?;
    let diff = match &args.baseline {
        Some(path) => {
            let mut before = baseline(context, path, &file_args)?;
            // One that the earlier file does not have is new.
            let is_asked_for =
                |kernel: &KernelResources| args.kernel.iter().any(|name| kernel.is_named(name));
            before.kernels.retain(|kernel| args.kernel.is_empty() || is_asked_for(kernel));
            Some(ResourceDiff::new(&before, &table))
        }
        None => None,
    };
    let violations: Vec<ResourceViolation> =
        args.fail_on.iter().flat_map(|limit| limit.check(&table, diff.as_ref())).collect();
    match (args.format, &diff) {
        (InspectFormat::Human, None) => output::print(&render::human(&table))?,
        (InspectFormat::Human, Some(diff)) => output::print(&render::human_diff(diff))?,
        (InspectFormat::Json, None) => output::print_json(&table)?,
        (InspectFormat::Json, Some(diff)) => output::print_json(diff)?,
        (InspectFormat::Markdown, diff) => {
            output::print(&render::markdown(&table, diff.as_ref(), &violations))?;
        }
        (InspectFormat::Github, _) => output::print(&render::annotations(&violations))?,
    }
    let skipped = table.skipped.iter().map(|one| (&*one.target, &*one.reason));
    for (which, reason) in counted(skipped) {
        context.shell.warn(format_args!("{which}: not read: {reason}"));
    }
    Ok(judge(context, args, &table, diff.as_ref(), &violations))
}

/// Says which limits are not kept.
fn judge(
    context: &Context,
    args: &InspectArgs,
    table: &ResourceTable,
    diff: Option<&ResourceDiff>,
    violations: &[ResourceViolation],
) -> Exit {
    for violation in violations {
        context.shell.error(format_args!("--fail-on {}: {violation}", violation.limit));
    }
    if args.fail_on.is_empty() {
        return Exit::Success;
    }
    // A limit that nothing was held against has not been kept.
    let unheld = if table.kernels.is_empty() {
        Some("the file has no kernel".to_owned())
    } else if !table.skipped.is_empty() {
        Some(format!(
            "{} of the file cannot be read",
            amdinst_text::count(table.skipped.len(), "code object")
        ))
    } else if args.fail_on.iter().any(|limit| limit.needs_baseline())
        && diff.is_some_and(ResourceDiff::is_of_strangers)
    {
        Some("the file and its baseline have no kernel in common".to_owned())
    } else {
        None
    };
    if let Some(why) = &unheld {
        context.shell.error(format_args!("--fail-on: {why}"));
    }
    if violations.is_empty() && unheld.is_none() { Exit::Success } else { Exit::LimitPassed }
}

/// The table of a file's code objects.
fn of_file(context: &Context, args: &FileArgs, file: &File) -> CommandResult<ResourceTable> {
    let input = Input::new(args, file)?.tell_odd_names(context);
    let progress = context.shell.progress("Inspecting", args.file.display(), input.len() as u64);
    let (kernels, skipped) = input.map(|found| {
        let kernels = kernels(&found);
        progress.step(&found.target);
        Ok(kernels)
    })?;
    Ok(ResourceTable {
        schema: SCHEMA,
        file: args.file.display().to_string(),
        kernels: kernels.into_iter().flatten().collect(),
        skipped: skipped
            .into_iter()
            .map(|one| SkippedObject { target: one.target, reason: one.reason })
            .collect(),
    })
}

/// The kernels of a code object. Its code is decoded only if the note does not tell of all spills.
fn kernels(found: &Found) -> Vec<KernelResources> {
    let object = &found.object;
    let lines = SourceMap::new(object).unwrap_or_default();
    let program = OnceLock::new();
    let kernels = object.kernels.iter().map(|kernel| {
        // The kernel's own frame is the outermost one.
        let frame = lines.frames(kernel.code.start).pop().filter(|frame| !frame.file.is_empty());
        let known = |number: u32| (number > 0).then_some(number);
        let location = frame.map_or_else(Location::default, |frame| Location {
            file: Some(output::short_path(&frame.file).into_owned()),
            line: known(frame.line),
            column: known(frame.column),
        });
        KernelResources::new(object, kernel, location, || {
            spills(
                program.get_or_init(|| Program::new(object)),
                kernel.code.start,
                kernel.metadata.has_scratch(),
            )
        })
    });
    kernels.collect()
}

/// The earlier table: of a document, or of another file with code objects.
fn baseline(context: &Context, path: &Path, args: &FileArgs) -> CommandResult<ResourceTable> {
    let file = File::open(path)?;
    // No container begins like a document.
    if file.bytes().trim_ascii_start().starts_with(b"{") {
        let told = || format!("cannot read {}", path.display());
        return ResourceTable::from_json(file.bytes()).or_exit_with(Exit::BadInput, told);
    }
    of_file(context, &FileArgs { file: path.to_owned(), object: None, ..args.clone() }, &file)
}

fn no_kernel(path: &Path, name: &str) -> Failure {
    Failure::msg(Exit::Usage, format!("{} has no kernel `{name}`", path.display()))
        .help("`inspect --resources` without --kernel lists them")
}
