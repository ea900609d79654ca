//! A bundle, library or program with its code objects instrumented where they stand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use amdgpu_object::container;
use amdinst_core::instrument::{self, InstrumentError, NoSuchSite, Options, Session, probe_specs};
use amdinst_text::count;

use super::spool::Spool;
use super::tally::Tally;
use super::{InstrumentedKernelView, SCHEMA, View, options};
use crate::cli::{Format, InstrumentArgs};
use crate::commands::input::{File, Found, Input, counted, unpacked_limit};
use crate::commands::mapped::Copied;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::instrumenting::{kernel_of, no_debug_info};
use crate::output;
use crate::together::Together;

thread_local! {
    /// What a thread has learnt of the code objects that it has instrumented.
    static SESSION: RefCell<Session> = RefCell::default();
}

/// What became of one code object.
#[derive(Default)]
struct Done {
    /// The kernels asked for that this code object has.
    named: Vec<String>,
    /// What was asked for and it does not have; `None` if none of its kernels was asked for.
    unmatched: Option<Vec<NoSuchSite>>,
    written: Option<Written>,
    /// Why nothing was instrumented.
    reason: Option<String>,
    warning: Option<String>,
    tally: Tally,
    /// Its kernels, for `--format json`.
    kernels: Vec<InstrumentedKernelView>,
}

/// Where in the spool an instrumented code object is.
struct Written {
    index: usize,
    map_path: PathBuf,
    map: Range<usize>,
    object: Range<usize>,
}

/// Instruments every code object of the input, several at a time, and writes the whole file.
pub(super) fn run(
    context: &mut Context,
    args: &InstrumentArgs,
    file: &File,
    input: &Input<'_>,
    output: &Path,
) -> CommandResult {
    let failed = || format!("cannot write {}", output.display());
    let spool = Spool::new(output::directory_of(output)).or_exit_with(Exit::OutputFailed, failed)?;
    let progress = context.shell.progress("Instrumenting", args.input.file.display(), input.len() as u64);
    let (done, skipped) = input.map(|found| {
        let done = instrument_one(args, &found, output, &spool);
        drop(found.object);
        file.give_back();
        progress.step(&found.target);
        done
    })?;
    drop(progress);
    if let Some(missing) = args.kernel.iter().find(|name| !done.iter().any(|one| one.named.contains(name))) {
        return Err(input.no_kernel(missing));
    }
    if let Some(missing) = missing_everywhere(&done) {
        return Err(InstrumentError::from(missing).into());
    }
    for (which, reason) in counted(skipped.iter().map(|one| (&*one.target, &*one.reason))) {
        context.shell.warn(format_args!("left as it is, {which}: {reason}"));
    }
    for warning in done.iter().filter_map(|one| one.warning.as_ref()) {
        context.shell.warn(warning);
    }
    let written: Vec<&Written> = done.iter().filter_map(|one| one.written.as_ref()).collect();
    if written.is_empty() {
        let reason = done.into_iter().find_map(|one| one.reason);
        let reason = reason.unwrap_or_else(|| "it has no kernel".to_owned());
        return Err(InstrumentError::NothingInstrumented(reason).into());
    }
    let spooled = spool.contents().or_exit_with(Exit::OutputFailed, failed)?;
    let contents = spooled.as_ref();
    let replacements: BTreeMap<usize, &[u8]> =
        written.iter().map(|one| (one.index, &contents[one.object.clone()])).collect();
    let whole =
        container::replace(file.bytes(), &replacements, unpacked_limit()?).or_exit(Exit::Unsupported)?;
    let mut together = Together::default();
    let write = |to: &mut std::fs::File| {
        whole.write_to(&mut Copied::new(to, || {
            file.give_back();
            spooled.give_back();
        }))
    };
    together.add(output, write).or_exit_with(Exit::OutputFailed, failed)?;
    for one in &written {
        let map = &contents[one.map.clone()];
        together
            .add_companion(&one.map_path, map, |old| instrument::with_before(map, old))
            .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", one.map_path.display()))?;
        spooled.give_back();
    }
    for map in maps_of(output) {
        if !written.iter().any(|one| output::is_same_file(&one.map_path, &map)) {
            together.remove(map);
        }
    }
    together.put().or_exit_with(Exit::OutputFailed, failed)?;

    let probe_maps: Vec<String> = written.iter().map(|one| one.map_path.display().to_string()).collect();
    let wrote = format!("{} and {}", output.display(), count(probe_maps.len(), "probe map"));
    let mut tally = Tally::default();
    let mut kernels = Vec::new();
    for one in done {
        tally.append(one.tally);
        kernels.extend(one.kernels);
    }
    if args.format == Format::Json {
        let output = Some(output.display().to_string());
        output::print_json(&View { schema: SCHEMA, output, probe_map: None, probe_maps, kernels })?;
    }
    Ok(tally.tell(context, wrote))
}

/// Instruments a code object, and lays it and its probe map aside.
fn instrument_one(args: &InstrumentArgs, found: &Found, output: &Path, spool: &Spool) -> CommandResult<Done> {
    let object = &found.object;
    let (named, symbols): (Vec<_>, Vec<_>) = args
        .kernel
        .iter()
        .filter_map(|name| Some((name.clone(), kernel_of(object, name)?.name.clone())))
        .unzip();
    if named.is_empty() && !args.kernel.is_empty() {
        return Ok(Done::default());
    }
    let chosen = (!args.kernel.is_empty()).then_some(symbols);
    let probes = probe_specs(object).or_exit(Exit::BadInput)?;
    let asked = options(&args.measuring)?;
    let options = Options { kernels: chosen, probes, ..asked };
    let plan = SESSION.with_borrow_mut(|session| session.plan(object, &options))?;
    let mut done = Done { named, unmatched: Some(plan.unmatched().to_vec()), ..Done::default() };
    done.tally.add(plan.kernels());
    if args.format == Format::Json {
        done.kernels =
            plan.kernels().iter().map(|probes| InstrumentedKernelView::new(&found.target, probes)).collect();
    }
    match instrument::apply(object, plan) {
        Ok(instrumented) => {
            let aside = |bytes: &[u8]| {
                spool
                    .add(bytes)
                    .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", output.display()))
            };
            done.written = Some(Written {
                index: found.index,
                map_path: map_path(output, found.index, &found.target),
                map: aside(&instrumented.map_file)?,
                object: aside(&instrumented.bytes)?,
            });
            let problem = instrumented.debug_info.problem();
            done.warning = problem.map(|reason| no_debug_info(&found.target, reason));
        }
        Err(InstrumentError::NothingInstrumented(reason)) => done.reason = Some(reason),
        Err(error) => return Err(error.into()),
    }
    Ok(done)
}

/// A branch that was asked for, and that none of the code objects has.
fn missing_everywhere(done: &[Done]) -> Option<NoSuchSite> {
    let mut all = done.iter().filter_map(|one| one.unmatched.as_ref());
    let is_missing = |missing: &NoSuchSite, others: &Vec<NoSuchSite>| {
        others.iter().any(|other| other.selector == missing.selector)
    };
    let first = all.next()?;
    let others: Vec<_> = all.collect();
    first.iter().find(|missing| others.iter().all(|others| is_missing(missing, others))).cloned()
}

/// `libfoo.2-gfx90a_xnack-.probes.json` for code object 2 of `libfoo.so`.
fn map_path(output: &Path, index: usize, target: &str) -> PathBuf {
    output.with_extension(format!("{index}-{}.probes.json", target.replace(':', "_")))
}

/// The probe maps that stand beside an output, of an earlier run: of code objects that it has no longer,
/// maybe.
fn maps_of(output: &Path) -> Vec<PathBuf> {
    let stem = output.with_extension("");
    let stem = stem.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_map = |name: &str| {
        let number = name.strip_prefix(&stem)?.strip_prefix('.')?.strip_suffix(".probes.json")?;
        let (index, target) = number.split_once('-')?;
        Some(index.parse::<usize>().is_ok() && target.starts_with("gfx"))
    };
    let entries = std::fs::read_dir(output::directory_of(output)).into_iter().flatten().flatten();
    let maps = entries.filter(|entry| is_map(&entry.file_name().to_string_lossy()) == Some(true));
    maps.map(|entry| entry.path()).collect()
}
