//! A bundle, library or program with its code objects instrumented where they stand.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use amdinst_core::instrument::{self, InstrumentError, NoSuchSite, Options, probe_specs};
use amdinst_core::object::container;

use super::{KernelView, SCHEMA, View, exit_of, no_debug_info, options, summary};
use crate::cli::{Format, InstrumentArgs};
use crate::commands::Context;
use crate::commands::input::{File, Input};
use crate::commands::output::{self, count};
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// Instruments every code object of the input, and writes the whole file.
pub(super) fn run(
    context: &mut Context,
    args: &InstrumentArgs,
    file: &File,
    input: &Input<'_>,
    output: &Path,
) -> CommandResult {
    let mut replacements = BTreeMap::new();
    let mut maps: Vec<(PathBuf, String)> = Vec::new();
    let mut kernels = Vec::new();
    let mut known = Vec::new();
    let mut unmatched: Option<Vec<NoSuchSite>> = None;
    let mut reasons = Vec::new();
    let mut warnings = Vec::new();
    let progress = context.shell.progress("Instrumenting", args.input.file.display(), 0);
    let skipped = input.for_each(|found| {
        let object = &found.object;
        let named: Vec<String> =
            args.kernel.iter().filter(|name| object.kernel(name).is_some()).cloned().collect();
        known.extend(named.iter().cloned());
        if named.is_empty() && !args.kernel.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let chosen = (!args.kernel.is_empty()).then_some(named);
        let probes = probe_specs(object).or_exit(Exit::BadInput)?;
        let asked = options(args.probe, args.level, args.counters, args.abi, &args.sites)?;
        let options = Options { kernels: chosen, probes, ..asked };
        let fail = |error: InstrumentError| Failure::new(exit_of(&error), error);
        let plan = instrument::plan(object, &options).map_err(fail)?;
        // What none of the code objects has is an error.
        let missing = plan.unmatched();
        match &mut unmatched {
            None => unmatched = Some(missing.to_vec()),
            Some(known) => known.retain(|one| missing.iter().any(|other| other.selector == one.selector)),
        }
        match instrument::apply(object, &plan) {
            Ok(instrumented) => {
                let map = serde_json::to_string_pretty(&instrumented.map).or_exit(Exit::OutputFailed)?;
                maps.push((map_path(output, found.index, &found.target), map));
                let problem = instrumented.debug_info.problem();
                warnings.extend(problem.map(|reason| no_debug_info(&found.target, reason)));
                replacements.insert(found.index, instrumented.bytes);
            }
            Err(InstrumentError::NothingInstrumented(reason)) => reasons.push(reason),
            Err(error) => return Err(fail(error)),
        }
        kernels.extend(plan.kernels().iter().map(|probes| KernelView::new(&found.target, probes)));
        Ok(ControlFlow::Continue(()))
    })?;
    drop(progress);
    if let Some(missing) = args.kernel.iter().find(|name| !known.contains(name)) {
        return Err(input.no_kernel(missing));
    }
    if let Some(missing) = unmatched.unwrap_or_default().into_iter().next() {
        let error = InstrumentError::from(missing);
        return Err(Failure::new(exit_of(&error), error));
    }
    for skipped in skipped {
        context.shell.warn(format_args!("left as it is, {}: {}", skipped.target, skipped.reason));
    }
    for warning in warnings {
        context.shell.warn(warning);
    }
    if replacements.is_empty() {
        let reason = reasons.into_iter().next().unwrap_or_else(|| "it has no kernel".to_owned());
        let error = InstrumentError::NothingInstrumented(reason);
        return Err(Failure::new(exit_of(&error), error));
    }
    let bytes = container::replace(file.bytes(), &replacements).or_exit(Exit::Unsupported)?;
    // The maps first: a code object without its map could be launched, and its counters not be read.
    for (path, map) in &maps {
        output::write_file(path, map.as_bytes())?;
    }
    output::write_file(output, &bytes)?;
    let view = View {
        schema: SCHEMA,
        output: Some(output.display().to_string()),
        probe_map: None,
        probe_maps: maps.iter().map(|(path, _)| path.display().to_string()).collect(),
        kernels,
    };
    if args.format == Format::Json {
        output::print_json(&view)?;
    }
    let wrote = format!("{} and {}", output.display(), count(maps.len(), "probe map"));
    Ok(summary(context, &view, format_args!("{wrote}")))
}

/// `libfoo.2-gfx90a_xnack-.probes.json` for code object 2 of `libfoo.so`.
fn map_path(output: &Path, index: usize, target: &str) -> PathBuf {
    output.with_extension(format!("{index}-{}.probes.json", target.replace(':', "_")))
}
