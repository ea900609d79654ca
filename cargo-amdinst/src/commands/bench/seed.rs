//! `cargo amdinst bench seed`: what instrumentation costs nine Rodinia kernels, modelled, beside what the
//! evaluation that this project began with ("Efficient Binary Instrumentation for GPU Profiling", Scalable
//! Tools Workshop 2022) measured.

use std::time::{Duration, Instant};

use amdgpu_isa::Arch;
use amdgpu_object::CodeObject;
use amdinst_emu::timing::Parameters;
use rayon::prelude::*;

use super::cases::{self, Case, NAMES, Sizes};
use super::subject::{Counts, Form, Outcome, Run, Subject};
use super::view::{Columns, HomeView, KernelFigures, LaunchView, MeasuredView, SCHEMA, SeedView};
use super::{chart, table};
use crate::build::build;
use crate::build::instrument::Forms;
use crate::cli::{PackageArgs, SeedArgs, SeedFormat};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// Runs the command.
///
/// # Errors
/// When the kernels cannot be built, or one does not end well.
pub(super) fn run(context: &mut Context, args: &SeedArgs) -> CommandResult {
    let model = args.timing.model();
    let original = kernels(context, args.manifest_path.clone(), model.arch())?;
    let parameters = model.parameters();
    let sizes = if args.quick { Sizes::QUICK } else { Sizes::FULL };
    if let Some(name) = args.kernel.iter().find(|name| !NAMES.contains(&name.as_str())) {
        let names = NAMES.join(", ");
        return Err(Failure::msg(Exit::Usage, format!("no kernel `{name}`; there are {names}")));
    }
    let wanted = |name: &&str| args.kernel.is_empty() || args.kernel.iter().any(|kernel| kernel == name);
    let mut speed = Speed::default();
    let mut views = Vec::new();
    for case in NAMES.into_iter().filter(wanted).filter_map(|name| cases::case(name, &sizes)) {
        let progress = context.shell.progress("Modelling", case.name, 0);
        let started = Instant::now();
        let view = kernel(&original, &case, &parameters, &mut speed)?;
        drop(progress);
        let [register, lds, global, ..] = view.slowdowns();
        context.shell.status(
            "Modeled",
            format_args!(
                "{} in {:.1} s: {:.0} cycles, register {register:.2}x, lds {lds:.2}x, global {global:.2}x",
                case.name,
                started.elapsed().as_secs_f64(),
                view.baseline.cycles
            ),
        );
        views.push(view);
    }
    context.shell.status("Simulated", speed);
    let view = SeedView {
        schema: SCHEMA,
        device: parameters.name.to_owned(),
        sizes: sizes.name.to_owned(),
        means: Columns::means(&views),
        worst: Columns::worst(&views),
        kernels: views,
    };
    if let Some(path) = &args.chart {
        output::write_file(path, chart::svg(&view)?.as_bytes())?;
    }
    match args.format {
        SeedFormat::Json => output::print_json(&view)?,
        SeedFormat::Markdown => output::print(&table::markdown(&view))?,
        SeedFormat::Human => output::print(&table::human(&view))?,
    }
    Ok(Exit::Success)
}

/// The code object with the nine kernels, built from the workspace's package.
pub(super) fn kernels(
    context: &mut Context,
    manifest_path: Option<std::path::PathBuf>,
    arch: Arch,
) -> CommandResult<CodeObject> {
    let package = PackageArgs {
        package: vec!["rodinia".to_owned()],
        manifest_path,
        target_cpu: vec![arch.name().to_owned()],
        ..PackageArgs::default()
    };
    let built = build(context, &package, &Forms { homes: Vec::new(), options: Default::default() })?;
    let package = built.packages.first().ok_or_else(|| Failure::msg(Exit::BuildFailed, "no package"))?;
    let artifact = package.manifest.code_objects.iter().find(|artifact| artifact.cpu == arch.name());
    let artifact = artifact
        .ok_or_else(|| Failure::msg(Exit::BuildFailed, format!("no code object for {}", arch.name())))?;
    let path = package.package.output_directory().join(&artifact.original);
    let bytes =
        std::fs::read(&path).or_exit_with(Exit::BadInput, || format!("cannot read {}", path.display()))?;
    CodeObject::parse(bytes).or_exit_with(Exit::BadInput, || format!("cannot read {}", path.display()))
}

/// A kernel in every form, side by side. All must leave the same in memory, and count the same.
fn kernel(
    original: &CodeObject,
    case: &Case,
    parameters: &Parameters,
    speed: &mut Speed,
) -> CommandResult<KernelFigures> {
    let model = |form: Form| {
        let subject = Subject::new(original, case, form)?;
        let outcome = subject.model(parameters)?;
        let emulated = (form == Form::Baseline).then(|| subject.emulate()).transpose()?;
        Ok((outcome, emulated))
    };
    let modelled: Vec<(Outcome, Option<Duration>)> =
        Form::ALL.into_par_iter().map(model).collect::<CommandResult<_>>()?;
    for (outcome, emulated) in &modelled {
        speed.add(outcome, *emulated, parameters.compute_units);
    }
    let of = |form: Form| &modelled[form as usize].0;
    let baseline = of(Form::Baseline);
    let mut counted: Option<Counts> = None;
    for form in Form::ALL {
        let outcome = of(form);
        let what = format!("{} with {form:?}", case.kernel);
        if outcome.memory != baseline.memory {
            return Err(Failure::msg(Exit::LaunchFailed, format!("{what} leaves other memory")));
        }
        let agrees = |counts: &Counts| {
            counted.as_ref().is_none_or(|first| {
                counts.saveexec == first.saveexec && counts.all.is_none_or(|all| first.all == Some(all))
            })
        };
        match outcome.counts.filter(agrees) {
            Some(counts) => _ = counted.get_or_insert(counts),
            None if !form.counts() => {}
            None => {
                let counts = outcome.counts;
                return Err(Failure::msg(
                    Exit::LaunchFailed,
                    format!("{what} counted {counts:?}, others {counted:?}"),
                ));
            }
        }
    }
    let home = |form: Form| home(of(form), of(form.before()), case.repeated);
    let [measured, measured_lds, measured_global] = case.measured;
    Ok(KernelFigures {
        kernel: case.name.to_owned(),
        workgroups: case.grid.iter().map(|&count| u64::from(count)).product(),
        waves: baseline.waves,
        repeated: case.repeated,
        baseline: home(Form::Baseline),
        register: home(Form::Register),
        lds: home(Form::Lds),
        global: home(Form::Global),
        seed_baseline: home(Form::SeedBaseline),
        seed_lds: home(Form::SeedLds),
        seed_global: home(Form::SeedGlobal),
        measured: MeasuredView { baseline: measured, lds: measured_lds, global: measured_global },
    })
}

fn home(outcome: &Outcome, baseline: &Outcome, repeated: bool) -> HomeView {
    let launch = |run: &Run, baseline: &Run| LaunchView {
        cycles: round(run.cycles, 10.0),
        slowdown: round(run.cycles / baseline.cycles.max(1.0), 1e4),
        dispatch: run.dispatch,
    };
    let (first, again) = (launch(&outcome.cold, &baseline.cold), launch(&outcome.warm, &baseline.warm));
    let LaunchView { cycles, slowdown, .. } = if repeated { again } else { first };
    HomeView {
        cycles,
        slowdown,
        wave_instructions: outcome.warm.wave_instructions,
        first,
        again,
        waves_per_simd: outcome.waves_per_simd,
    }
}

fn round(value: f64, by: f64) -> f64 {
    (value * by).round() / by
}

/// How fast the model was.
#[derive(Clone, Copy, Debug, Default)]
struct Speed {
    modelled: Duration,
    /// Of these, one launch each of the baselines, which were also emulated without the model.
    baselines: Duration,
    emulated: Duration,
    cycles: u64,
    unit_cycles: u64,
    instructions: u64,
}

impl Speed {
    fn add(&mut self, outcome: &Outcome, emulated: Option<Duration>, compute_units: u32) {
        for run in [&outcome.cold, &outcome.warm] {
            self.modelled += run.host;
            self.cycles += run.dispatch;
            self.unit_cycles += run.dispatch * u64::from(compute_units);
            self.instructions += run.wave_instructions;
        }
        if let Some(emulated) = emulated {
            self.baselines += outcome.cold.host;
            self.emulated += emulated;
        }
    }
}

impl std::fmt::Display for Speed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.modelled.as_secs_f64().max(1e-9);
        write!(
            f,
            "{:.1} M cycles of the device in {seconds:.1} s of a thread's time: {:.2} M a second ({:.0} M cycles of compute units, {:.2} M \
             wave-instructions); {:.1} times as long as emulation alone",
            self.cycles as f64 / 1e6,
            self.cycles as f64 / 1e6 / seconds,
            self.unit_cycles as f64 / 1e6 / seconds,
            self.instructions as f64 / 1e6 / seconds,
            self.baselines.as_secs_f64() / self.emulated.as_secs_f64().max(1e-9),
        )
    }
}
