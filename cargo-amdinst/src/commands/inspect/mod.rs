//! `cargo amdinst inspect`: show what a code object holds.

mod human;
mod resources;
pub mod view;

pub use human::{Human, place};

use std::collections::HashMap;

use amdinst_core::instrument::{self, KernelProbes, Options, probe_specs};
use amdinst_explain::missing_waits;

use super::input::{File, Found, Input, Skipped};
use crate::cli::{InspectArgs, InspectFormat};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure};
use crate::output;
use view::{FileView, GenericView, KernelView, ObjectView, SkippedView};

/// Runs the command.
///
/// # Errors
/// When the file cannot be read, or holds no code object that this version can read.
pub fn run(context: &mut Context, args: &InspectArgs) -> CommandResult {
    if args.resources {
        return resources::run(context, args);
    }
    if let InspectFormat::Markdown | InspectFormat::Github = args.format {
        let message = "this format is for `--resources` alone";
        return Err(Failure::msg(Exit::Usage, message).help("`--format json` is for both"));
    }
    let file_args = args.input.resolve(context)?;
    let file = File::open(&file_args.file)?;
    let input = Input::new(&file_args, &file)?.tell_odd_names(context);
    let progress = context.shell.progress("Inspecting", file_args.file.display(), input.len() as u64);
    let (seen, skipped) = input.map(|found| {
        let seen = view_object(&found);
        progress.step(&found.target);
        Ok(seen)
    })?;
    drop(progress);
    let (code_objects, problems): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
    problems.iter().flatten().for_each(|problem| context.shell.warn(problem));
    let skipped =
        skipped.into_iter().map(|Skipped { target, reason, .. }| SkippedView { target, reason }).collect();
    let view = FileView::new(&file_args.file.display().to_string(), code_objects, skipped);
    match args.format {
        InspectFormat::Json => output::print_json(&view)?,
        _ => output::print(&Human(&view))?,
    }
    Ok(Exit::Success)
}

/// What a code object holds, and what kept its branches from being shown: the rest can be told even when its
/// code cannot be analysed.
pub fn view_object(found: &Found) -> (ObjectView, Option<String>) {
    let object = &found.object;
    let plan = probe_specs(object)
        .map_err(|error| error.to_string())
        .and_then(|probes| {
            let options = Options { probes, ..Options::default() };
            instrument::plan(object, &options).map_err(|error| error.to_string())
        })
        .map_err(|error| format!("{}: branches are not shown: {error}", found.target));
    let planned = plan.as_ref().ok().map_or(&[][..], |plan| plan.kernels());
    let planned: HashMap<&str, &KernelProbes> =
        planned.iter().map(|probes| (probes.name.as_str(), probes)).collect();
    let mut missing = missing_waits(object);
    let kernels = object.kernels.iter().map(|kernel| {
        let missing = missing.remove(&kernel.name).unwrap_or_default();
        KernelView::new(object, kernel, planned.get(kernel.name.as_str()).copied(), missing)
    });
    let view = ObjectView {
        target: object.target.to_string(),
        version: object.version,
        generic: GenericView::of(object),
        offset: found.offset,
        object: found.index,
        size: object.bytes.len() as u64,
        kernels: kernels.collect(),
    };
    (view, plan.err())
}
