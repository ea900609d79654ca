//! `cargo amdinst instrument`: make every branch that can diverge count what its waves do.

mod spool;
mod tally;
mod whole;

use std::fmt::Write as _;
use std::io::Write as _;

use amdgpu_object::{CodeObject, container};
use amdinst_core::instrument::SiteKind;
use amdinst_core::instrument::{
    self, Abi, BlockProbe, Cost, Counters, Home, InstrumentError, KernelProbes, LeftOut, Level, Options,
    Places, Probe, Refusal, probe_specs,
};
use amdinst_core::report::{self, Location};
use amdinst_text::count;
use serde::Serialize;

use super::input::{File, Input};
use super::inspect::place;
use super::inspect::view::SiteView;
use crate::cli::{AbiChoice, CounterChoice, Format, InstrumentArgs, LevelChoice, MeasureArgs, MeasureChoice};
use crate::context::Context;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::instrumenting::{all_selected, no_debug_info, symbols};
use crate::output;
use crate::together::Together;
use tally::Tally;

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// The instrumented kernels, or those of a plan: the JSON form.
#[derive(Debug, Serialize)]
pub struct View {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The file written; `None` with `--plan`.
    pub output: Option<String>,
    /// The probe map written; `None` with `--plan`, and where there are several.
    pub probe_map: Option<String>,
    /// Every probe map written.
    pub probe_maps: Vec<String>,
    /// Every kernel that was asked for, in order of entry address.
    pub kernels: Vec<InstrumentedKernelView>,
}

/// One kernel.
#[derive(Debug, Serialize)]
pub struct InstrumentedKernelView {
    /// Its name.
    pub name: String,
    /// What its code object was built for.
    pub target: String,
    /// The subject of the measurement.
    pub probe: Probe,
    /// Branches that can diverge, those in functions it may call included.
    pub sites: Vec<SiteView>,
    /// Blocks whose executions are counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockView>,
    /// Branches that can diverge and were not asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites_not_selected: Vec<LeftOutView>,
    /// Whether its counters are there to be read.
    pub instrumented: bool,
    /// Where they are stored.
    pub counter_storage: Option<Home>,
    /// Why there, in a sentence.
    pub why: String,
    /// The variable that its launcher sets to the buffer's address, with `--abi global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer_symbol: Option<String>,
    /// Its cost.
    pub cost: Cost,
    /// The code that was not instrumented, and why.
    pub refusals: Vec<Refusal>,
}

impl InstrumentedKernelView {
    fn new(target: &str, probes: &KernelProbes) -> Self {
        Self {
            name: probes.name.clone(),
            target: target.to_owned(),
            probe: probes.probe,
            sites: probes.sites.iter().map(|site| SiteView::new(site, &probes.places)).collect(),
            blocks: probes.blocks.iter().map(|block| BlockView::new(block, &probes.places)).collect(),
            sites_not_selected: probes
                .left_out
                .iter()
                .map(|site| LeftOutView::new(site, &probes.places))
                .collect(),
            instrumented: probes.is_instrumented(),
            counter_storage: probes.home,
            why: probes.why.clone(),
            buffer_symbol: probes.buffer_symbol.clone(),
            cost: probes.cost.clone(),
            refusals: probes.refusals.clone(),
        }
    }
}

/// A block whose executions are counted.
#[derive(Debug, Serialize)]
pub struct BlockView {
    /// Its number in the kernel's records.
    pub id: u32,
    /// Address of its first instruction.
    pub pc: u64,
    /// The address after its last one.
    pub end_pc: u64,
    /// Instructions.
    pub instructions: u32,
    /// Where its first instruction with a place stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// Symbol of the kernel or function it stands in.
    pub function: String,
}

impl BlockView {
    fn new(block: &BlockProbe, places: &Places) -> Self {
        Self {
            id: block.id,
            pc: block.pc,
            end_pc: block.end_pc,
            instructions: block.instructions,
            location: report::location(&places.frames(block.place)),
            function: (*block.function).to_owned(),
        }
    }
}

/// A branch that can diverge and was not asked for.
#[derive(Debug, Serialize)]
pub struct LeftOutView {
    /// Its kind.
    pub kind: SiteKind,
    /// Address of the narrowing instruction.
    pub pc: u64,
    /// Where it stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// Its probe's name.
    pub name: Option<String>,
}

impl LeftOutView {
    fn new(site: &LeftOut, places: &Places) -> Self {
        let location = report::location(&places.frames(site.place));
        Self { kind: site.kind, pc: site.pc, location, name: site.name.clone() }
    }
}

impl From<CounterChoice> for Counters {
    fn from(choice: CounterChoice) -> Self {
        choice.home().map_or(Self::Auto, Self::from)
    }
}

impl From<InstrumentError> for Failure {
    fn from(error: InstrumentError) -> Self {
        let exit = match error {
            InstrumentError::NoSuchKernel { .. } | InstrumentError::NoSuchSite(_) => Exit::Usage,
            InstrumentError::NothingInstrumented(_) => Exit::NothingInstrumented,
            InstrumentError::NotRelocatable { .. } | InstrumentError::NotInstrumented(_) => Exit::Unsupported,
            InstrumentError::Internal { .. } | InstrumentError::Inconsistent(_) => {
                return Self::internal(error);
            }
            _ => Exit::BadInput,
        };
        Self::new(exit, error)
    }
}

impl From<AbiChoice> for Abi {
    fn from(choice: AbiChoice) -> Self {
        match choice {
            AbiChoice::Argument => Self::Argument,
            AbiChoice::Global => Self::Global,
        }
    }
}

impl From<LevelChoice> for Level {
    fn from(choice: LevelChoice) -> Self {
        match choice {
            LevelChoice::Basic => Self::Basic,
            LevelChoice::Lanes => Self::Lanes,
        }
    }
}

impl From<MeasureChoice> for Probe {
    fn from(choice: MeasureChoice) -> Self {
        match choice {
            MeasureChoice::Branches => Self::Branches,
            MeasureChoice::Blocks => Self::Blocks,
            MeasureChoice::Time => Self::Time,
        }
    }
}

/// The instrumenter's options by the arguments.
///
/// # Errors
/// Branches are chosen where whole kernels are measured.
pub fn options(args: &MeasureArgs) -> CommandResult<Options> {
    let (only, what) = (args.selectors(), args.what());
    if let Some(selector) = only.first().filter(|_| what == MeasureChoice::Time) {
        let message = format!("{selector} chooses branches, and the time is that of whole kernels");
        return Err(Failure::msg(Exit::Usage, message).help("choose kernels with --kernel"));
    }
    Ok(Options {
        probe: what.into(),
        level: args.level.unwrap_or_default().into(),
        counters: args.counters.unwrap_or_default().into(),
        abi: args.abi.unwrap_or_default().into(),
        only,
        skips_formatting: !args.formatting,
        ..Options::default()
    })
}

/// Runs the command.
///
/// # Errors
/// When the file cannot be read, holds several code objects to choose from, or nothing in it can be
/// instrumented; then nothing is written.
pub fn run(context: &mut Context, args: &InstrumentArgs) -> CommandResult {
    if let Some(output) = args.output.as_ref().filter(|_| !args.plan) {
        output::check_file(output)?;
    }
    let file = File::open(&args.input.file)?;
    if args.output.is_some() && !args.plan && args.is_whole() {
        // Before what may take minutes: unpacking, and instrumenting what is found.
        let in_file = || args.input.file.display().to_string();
        container::replaceable(file.bytes()).or_exit_with(Exit::Unsupported, in_file)?;
    }
    let input = Input::new(&args.input, &file)?.tell_odd_names(context).to_instrument();
    if let Some(output) = args.output.as_ref().filter(|_| !args.plan && args.is_whole()) {
        return whole::run(context, args, &file, &input, output);
    }
    let all = args.output.is_some().then_some("instrument all of them with --whole");
    let found = input.one(args.kernel.first().map(String::as_str), all)?;
    let object = &found.object;
    let target = object.target.to_string();
    let kernels = (!args.kernel.is_empty()).then(|| symbols(object, &args.kernel));
    let probes = probe_specs(object).or_exit(Exit::BadInput)?;
    let options = Options { kernels, probes, ..options(&args.measuring)? };

    let progress = context.shell.progress("Planning", args.input.file.display(), 0);
    let plan = instrument::plan(object, &options)?;
    drop(progress);
    all_selected(&plan)?;
    let views = |probes: &[KernelProbes]| {
        probes.iter().map(|probes| InstrumentedKernelView::new(&target, probes)).collect()
    };
    let Some(output) = args.output.as_ref().filter(|_| !args.plan) else {
        let view = View {
            schema: SCHEMA,
            output: None,
            probe_map: None,
            probe_maps: Vec::new(),
            kernels: views(plan.kernels()),
        };
        return print(&view, args.format).map(|()| Exit::Success);
    };

    if found.embedded {
        context.shell.note(format_args!(
            "{} holds several code objects; the one for {target} is instrumented and written on its own",
            args.input.file.display()
        ));
    }
    let progress = context.shell.progress("Instrumenting", args.input.file.display(), 0);
    let instrumented = instrument::apply(object, plan)?;
    drop(progress);
    if let Some(reason) = instrumented.debug_info.problem() {
        context.shell.warn(no_debug_info(&target, reason));
    }
    let map_path = output::probe_map_path(output);
    let mut pair = Together::default();
    let failed = || format!("cannot write {}", output.display());
    pair.add(output, |file| file.write_all(&instrumented.bytes)).or_exit_with(Exit::OutputFailed, failed)?;
    let there = std::fs::read(output).ok().and_then(|bytes| CodeObject::parse(bytes).ok());
    let between = |old: &[u8]| for_both(&instrumented.map_file, old, there.as_ref()?);
    pair.add_companion(&map_path, &instrumented.map_file, between)
        .or_exit_with(Exit::OutputFailed, || format!("cannot write {}", map_path.display()))?;
    pair.put().or_exit_with(Exit::OutputFailed, failed)?;

    let view = View {
        schema: SCHEMA,
        output: Some(output.display().to_string()),
        probe_map: Some(map_path.display().to_string()),
        probe_maps: vec![map_path.display().to_string()],
        kernels: views(&instrumented.map.kernels),
    };
    if args.format == Format::Json {
        output::print_json(&view)?;
    }
    let mut tally = Tally::default();
    tally.add(&instrumented.map.kernels);
    Ok(tally.tell(context, format_args!("{} and {}", output.display(), map_path.display())))
}

/// The map's file with the one before it that belongs to the code object which is there. Who was killed may
/// have left a file with two.
fn for_both(new: &[u8], old: &[u8], there: &CodeObject) -> Option<Vec<u8>> {
    let fits = |both: &Vec<u8>| instrument::map_for(both, there).is_ok();
    instrument::with_before(new, old).filter(fits).or_else(|| {
        let old: serde_json::Value = serde_json::from_slice(old).ok()?;
        let mut before = serde_json::to_vec(old.get("before")?).ok()?;
        before.push(b'\n');
        instrument::with_before(new, &before).filter(fits)
    })
}

fn print(view: &View, format: Format) -> CommandResult<()> {
    match format {
        Format::Json => output::print_json(view),
        Format::Human => output::print(&human(view)),
    }
}

/// The plan for people.
fn human(view: &View) -> String {
    let mut text = String::new();
    for (index, kernel) in view.kernels.iter().enumerate() {
        let gap = if index > 0 { "\n" } else { "" };
        let _ = writeln!(text, "{gap}{} ({})", kernel.name, kernel.target);
        let home = kernel.counter_storage.map_or("none", Home::name);
        let title = if kernel.probe == Probe::Time { "times" } else { "counters" };
        let _ = writeln!(text, "  {title:<10}  {home}: {}", kernel.why);
        if kernel.instrumented {
            write_cost(&mut text, kernel);
        }
        write_points(&mut text, kernel);
        for refusal in &kernel.refusals {
            let _ = writeln!(text, "  refused     {}", report::refusal_text(refusal));
        }
    }
    text
}

/// The cost of an instrumented kernel: instructions, registers, memory and waves.
fn write_cost(text: &mut String, kernel: &InstrumentedKernelView) {
    let cost = &kernel.cost;
    let [least, most] = cost.instructions_per_site;
    let instructions =
        if least == most { count(least, "instruction") } else { format!("{least} to {most} instructions") };
    let at_site = match kernel.probe {
        Probe::Branches => format!(
            "{instructions} at a site ({} to memory, {} to LDS), ",
            cost.memory_operations_per_site, cost.lds_operations_per_site
        ),
        Probe::Blocks => format!(
            "{instructions} a block ({} to memory, {} to LDS), ",
            cost.memory_operations_per_site, cost.lds_operations_per_site
        ),
        Probe::Time => "instructions: ".to_owned(),
    };
    let _ = writeln!(
        text,
        "  cost        {at_site}{} at entry, {} before each end; {} bytes of code",
        cost.prologue, cost.epilogue, cost.code_bytes
    );
    if let Some(symbol) = &kernel.buffer_symbol {
        let _ = writeln!(text, "  buffer      its address in the variable `{symbol}`");
    }
    let [sgprs, sgprs_after] = cost.sgprs;
    let [vgprs, vgprs_after] = cost.vgprs;
    let _ = writeln!(text, "  registers   SGPRs {sgprs} -> {sgprs_after}, VGPRs {vgprs} -> {vgprs_after}");
    if cost.borrowed_sgprs + cost.borrowed_vgprs > 0 {
        let _ = writeln!(
            text,
            "  borrowed    up to {} SGPRs and lanes of {} VGPRs in use, at each site",
            cost.borrowed_sgprs, cost.borrowed_vgprs
        );
    }
    let [scratch, scratch_after] = cost.scratch;
    if scratch != scratch_after {
        let _ = writeln!(text, "  scratch     {scratch} -> {scratch_after} bytes a work-item");
    }
    let [lds, lds_after] = cost.lds;
    let _ = writeln!(text, "  LDS         {lds} -> {lds_after} bytes");
    let occupancy = cost.occupancy;
    let _ = writeln!(
        text,
        "  occupancy   {} -> {} waves a SIMD, limited by {}",
        occupancy.before,
        occupancy.after,
        occupancy.limiter_after.name()
    );
}

/// The sites or blocks of a kernel: how many, and a line for each.
fn write_points(text: &mut String, kernel: &InstrumentedKernelView) {
    let left_out = match kernel.sites_not_selected.len() {
        0 => String::new(),
        number => format!(", {number} not selected"),
    };
    if kernel.probe == Probe::Branches {
        let _ = writeln!(text, "  sites       {}{left_out}", kernel.sites.len());
    }
    if kernel.probe == Probe::Blocks {
        let _ = writeln!(text, "  blocks      {}, each with counters of its own", kernel.blocks.len());
    }
    for block in &kernel.blocks {
        let _ = writeln!(
            text,
            "    {:>3}  {:#08x}  {:<28} {}",
            block.id,
            block.pc,
            place(&block.location),
            count(block.instructions, "instruction")
        );
    }
    for site in &kernel.sites {
        let name = site.name.as_deref().map_or(String::new(), |name| format!("  `{name}`"));
        let _ = writeln!(
            text,
            "    {:>3}  {:<10} {:#08x}  {:<28} {}{name}",
            site.id,
            site.kind.name(),
            site.pc,
            place(&site.location),
            site.instruction
        );
    }
}
