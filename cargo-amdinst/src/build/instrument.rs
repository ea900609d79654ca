//! From the code object that cargo built to the files that a launcher takes.

use std::fs;
use std::path::{Path, PathBuf};

use amdgpu_object::CodeObject;
use amdinst_core::instrument::{
    self, AddressMap, Counters, Home, InstrumentError, KernelProbes, Options, Plan, Probe, ProbeMap, SCHEMA,
};
use amdinst_core::manifest::{Artifact, Instrumented};
use amdinst_llvm::store::stamp;
use amdinst_text::count;

use super::generation::Generation;
use super::package::KernelPackage;
use crate::context::Context;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::instrumenting::{all_selected, measured, no_debug_info, symbols};
use crate::shell::{Shell, Verbosity};

/// Among an artifact's inputs: the code object that cargo built.
pub const CODE_OBJECT: &str = "code-object";

/// A manifest's entry, and whether it was there already.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The entry.
    pub artifact: Artifact,
    /// Nothing had to be written.
    pub fresh: bool,
}

/// Which instrumented forms to make.
#[derive(Clone, Debug)]
pub struct Forms {
    /// Counter homes; `None` for `auto`.
    pub homes: Vec<Option<Home>>,
    /// The subject of the measurement, its branches and level, and how kernels learn where the buffer is.
    /// Homes and the probes of the source are a package's. Kernels are named as people name them.
    pub options: Options,
}

impl Forms {
    /// One for each counter home and one for `auto`, which a test chooses from when it runs; of these
    /// kernels, or of all if none is named.
    pub fn all(options: Options, kernels: &[String]) -> Self {
        let homes = std::iter::once(None).chain(Home::ALL.map(Some)).collect();
        Self::of(homes, options, kernels)
    }

    /// One for each of `homes`; of these kernels, or of all if none is named.
    pub fn of(homes: Vec<Option<Home>>, options: Options, kernels: &[String]) -> Self {
        let kernels = (!kernels.is_empty()).then(|| kernels.to_vec());
        Self { homes, options: Options { kernels, ..options } }
    }

    /// Whether an artifact of the same inputs is what building these would give.
    fn are_in(&self, artifact: &Artifact) -> bool {
        match self.homes.is_empty() {
            true => artifact.instrumented.is_empty(),
            false => self.homes.iter().all(|&home| artifact.instrumented(home).is_some()),
        }
    }

    /// These with those that `previous`, of the same inputs, has besides: who asks for one form after the
    /// other has both then.
    fn and_those_of(&self, previous: &Artifact) -> Self {
        let mut forms = self.clone();
        if forms.homes.is_empty() {
            return forms;
        }
        let others = previous.instrumented.iter().map(|form| form.home);
        let others: Vec<_> = others.filter(|home| !self.homes.contains(home)).collect();
        forms.homes.extend(others);
        forms
    }
}

/// Brings the artifacts of `package` for `cpu` up to date with the code object `built`. `previous` is the
/// manifest's entry of the last build.
///
/// # Errors
/// A code object that cannot be read or instrumented, files that cannot be written.
pub fn finish(
    context: &Context,
    package: &KernelPackage,
    cpu: &str,
    built: &Path,
    forms: &Forms,
    previous: Option<&Artifact>,
) -> CommandResult<Finished> {
    let directory = package.output_directory();
    let inputs = inputs(package, cpu, built, forms);
    let previous = previous.filter(|previous| {
        previous.inputs == inputs && files_of(previous).all(|file| directory.join(file).is_file())
    });
    if let Some(previous) = previous
        && forms.are_in(previous)
    {
        return Ok(Finished { artifact: previous.clone(), fresh: true });
    }
    let asked = forms.homes.first().copied();
    let with_others = previous.map(|previous| forms.and_those_of(previous));
    let forms = with_others.as_ref().unwrap_or(forms);

    let bytes =
        fs::read(built).or_exit_with(Exit::BuildFailed, || format!("cannot read {}", built.display()))?;
    let object = CodeObject::parse(bytes)
        .or_exit_with(Exit::BuildFailed, || format!("cannot read {}", built.display()))?;
    if object.kernels.is_empty() {
        context.shell.warn(format_args!("{} has no kernels for {cpu}", package.name));
    }
    let place = format!("{}/{}", package.directory_of(cpu), package.profile);
    let failed = || format!("cannot write into {}", directory.join(&place).display());
    let mut generation = Generation::new(&directory.join(&place)).or_exit_with(Exit::OutputFailed, failed)?;
    let stem = &package.library;
    let mut artifact = Artifact {
        cpu: cpu.to_owned(),
        profile: package.profile.clone(),
        original: format!("{stem}.elf"),
        kernels: object.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        instrumented: Vec::new(),
        inputs,
        origin: None,
    };
    let mut write =
        |name: &str, bytes: &[u8]| generation.write(name, bytes).or_exit_with(Exit::OutputFailed, failed);
    write(&artifact.original, &object.bytes)?;
    if !forms.homes.is_empty() {
        let probes = instrument::probe_specs(&object)
            .or_exit_with(Exit::BuildFailed, || format!("cannot read {}", built.display()))?;
        let kernels = forms.options.kernels.as_ref().map(|names| symbols(&object, names));
        let original = Original { context, package, cpu, object: &object };
        for &home in &forms.homes {
            let counters = home.map_or(package.counters, Counters::from);
            let (kernels, probes) = (kernels.clone(), probes.clone());
            let options = Options { counters, kernels, probes, ..forms.options.clone() };
            let planned = original.plan(&options)?;
            if let Planned::Plan(plan) = &planned {
                if home == forms.homes[0] {
                    original.tell_of(plan, options.probe)?;
                }
                // Tests have the first; the same warning of each other one would hide it.
                if Some(home) == asked || context.shell.verbosity() >= Verbosity::Verbose {
                    warn_of_lost_waves(&context.shell, cpu, home, plan.kernels());
                }
            }
            artifact.instrumented.push(original.write_form(home, planned, &mut write)?);
        }
    }
    let generation = generation.finish().or_exit_with(Exit::OutputFailed, failed)?;
    let forms =
        artifact.instrumented.iter_mut().flat_map(|form| form.file.iter_mut().chain([&mut form.probes]));
    for file in std::iter::once(&mut artifact.original).chain(forms) {
        *file = format!("{place}/{generation}/{file}");
    }
    Ok(Finished { artifact, fresh: false })
}

/// What becomes of an original in a form.
enum Planned {
    Plan(Box<Plan>),
    /// Code of its processor is not instrumented: the map that refuses each kernel.
    Refused(ProbeMap),
}

/// A code object that forms are made of.
struct Original<'a> {
    context: &'a Context,
    package: &'a KernelPackage,
    cpu: &'a str,
    object: &'a CodeObject,
}

impl Original<'_> {
    fn plan(&self, options: &Options) -> CommandResult<Planned> {
        match instrument::plan(self.object, options) {
            Ok(plan) => Ok(Planned::Plan(Box::new(plan))),
            // `build` has told so.
            Err(InstrumentError::NotInstrumented(why)) => {
                let kernels = instrument::refused(self.object, options, why);
                Ok(Planned::Refused(self.map_without_counters(kernels, AddressMap::default())))
            }
            Err(error) => {
                let is_no_kernel = matches!(error, InstrumentError::NoSuchKernel { .. });
                let exit = if is_no_kernel { Exit::Usage } else { Exit::BuildFailed };
                Err(error).or_exit_with(exit, || self.failed())
            }
        }
    }

    /// Says what is about to be instrumented.
    ///
    /// # Errors
    /// The plan has nothing of what was asked for by name.
    fn tell_of(&self, plan: &Plan, probe: Probe) -> CommandResult<()> {
        all_selected(plan).or_exit_with(Exit::Usage, || self.failed())?;
        let sites = plan.kernels().iter().map(|kernel| kernel.sites.len()).sum();
        let blocks = plan.kernels().iter().map(|kernel| kernel.blocks.len()).sum();
        let kernels = count(plan.kernels().len(), "kernel");
        let measured = measured(probe, sites, blocks);
        let Self { context, package, cpu, .. } = self;
        context
            .shell
            .status("Instrumenting", format_args!("{} for {cpu} ({kernels}, {measured})", package.name));
        Ok(())
    }

    /// Writes the files of a form: its probe map, and its code object if anything could be instrumented.
    fn write_form(
        &self,
        home: Option<Home>,
        planned: Planned,
        write: &mut impl FnMut(&str, &[u8]) -> CommandResult<()>,
    ) -> CommandResult<Instrumented> {
        let form = format!("{}.inst.{}", self.package.library, home.map_or("auto", Home::name));
        let probes = format!("{form}.probes.json");
        let to_file = |map: ProbeMap| map.to_json().or_exit_with(Exit::BuildFailed, || self.failed());
        let (file, map_file) = match planned {
            Planned::Refused(map) => (None, to_file(map)?),
            Planned::Plan(plan) => match instrument::apply(self.object, Plan::clone(&plan)) {
                Ok(result) => {
                    if let Some(reason) = result.debug_info.problem() {
                        self.context.shell.warn(no_debug_info(&form, reason));
                    }
                    let file = format!("{form}.elf");
                    write(&file, &result.bytes)?;
                    (Some(file), result.map_file)
                }
                // The map tells why, kernel by kernel; a launcher takes the original then.
                Err(InstrumentError::NothingInstrumented(_)) => {
                    let map = self.map_without_counters(plan.kernels().to_vec(), plan.addresses());
                    (None, to_file(map)?)
                }
                Err(error) => return Err(error).or_exit_with(Exit::BuildFailed, || self.failed()),
            },
        };
        write(&probes, &map_file)?;
        Ok(Instrumented { home, file, probes })
    }

    /// The map of a form without a code object.
    fn map_without_counters(&self, kernels: Vec<KernelProbes>, addresses: AddressMap) -> ProbeMap {
        ProbeMap {
            schema: SCHEMA,
            target: self.object.target.to_string(),
            original: instrument::digest(&self.object.bytes),
            code_object: None,
            kernels,
            addresses,
        }
    }

    fn failed(&self) -> String {
        format!("cannot instrument {} for {}", self.package.name, self.cpu)
    }
}

/// Warns of kernels of which fewer waves fit than before: in one line, unless all is asked for. One kernel
/// with many registers may cost all that share a function with it.
fn warn_of_lost_waves(shell: &Shell, cpu: &str, home: Option<Home>, kernels: &[KernelProbes]) {
    let instrumented = kernels.iter().filter(|kernel| kernel.is_instrumented());
    let mut losses: Vec<(&KernelProbes, String)> =
        instrumented.filter_map(|kernel| Some((kernel, kernel.cost.occupancy.loss()?))).collect();
    if losses.len() > 1 && shell.verbosity() < Verbosity::Verbose {
        let left = |kernel: &KernelProbes| {
            f64::from(kernel.cost.occupancy.after) / f64::from(kernel.cost.occupancy.before)
        };
        losses.sort_by(|(a, _), (b, _)| left(a).total_cmp(&left(b)));
        let (worst, loss) = &losses[0];
        shell.warn(format_args!(
            "{} of {} for {cpu}, counters {}: fewer waves fit, the worst is {} ({loss}); --verbose shows all",
            losses.len(),
            count(kernels.len(), "kernel"),
            home.map_or("auto", Home::name),
            worst.name
        ));
        return;
    }
    for (kernel, loss) in losses {
        let home = kernel.home.map_or("none", Home::name);
        shell.warn(format_args!("{} for {cpu}, counters {home}: {loss}", kernel.name));
    }
}

/// Where people find the original: beside the generations, under a name that stays.
pub fn for_people(artifact: &Artifact) -> PathBuf {
    let original = Path::new(&artifact.original);
    let place = original.parent().and_then(Path::parent).unwrap_or(Path::new(""));
    place.join(original.file_name().unwrap_or_default())
}

/// What the artifacts are made from, beside the sources, which cargo watches. The counter homes are no part
/// of it: a form depends on none but its own.
fn inputs(package: &KernelPackage, cpu: &str, built: &Path, forms: &Forms) -> Vec<(String, String)> {
    let executable = std::env::current_exe().map(|path| stamp(&path)).unwrap_or_default();
    let only: Vec<_> = forms.options.only.iter().map(ToString::to_string).collect();
    [
        (CODE_OBJECT, stamp(built)),
        ("target", package.directory_of(cpu)),
        ("panic-messages", package.panic_messages.to_string()),
        ("cargo-amdinst", executable),
        ("kernels", forms.options.kernels.clone().unwrap_or_default().join(",")),
        ("sites", only.join(",")),
        ("formatting", (!forms.options.skips_formatting).to_string()),
        ("abi", format!("{:?}", forms.options.abi).to_lowercase()),
        ("probe", format!("{:?}", forms.options.probe).to_lowercase()),
        ("level", format!("{:?}", forms.options.level).to_lowercase()),
        ("counters", format!("{:?}", package.counters).to_lowercase()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn files_of(artifact: &Artifact) -> impl Iterator<Item = &String> {
    let instrumented = artifact.instrumented.iter().flat_map(|form| form.file.iter().chain([&form.probes]));
    std::iter::once(&artifact.original).chain(instrumented)
}
