//! Decides which kernels are instrumented, with which counter home, and writes down what is inserted where.

mod aliases;
mod attempt;
mod choice;
mod cost;
mod fit;
mod forms;
mod groups;
mod known;
mod later;
mod nearby;
mod paths;
mod places;
mod prepared;
mod probes;
mod properties;
mod remembered;
mod scratch;
mod selection;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub use probes::refused;

use aliases::Aliases;
use groups::KernelGroup;
pub(super) use known::ProcessorCache;
use remembered::KnownPlans;

use super::emit::assembler::{Assembled, Assembler};
use super::emit::sequence::EmitError;
use super::find::points::{Point, Points};
use super::find::sources::Sources;
use super::find::survey::{Survey, selected};
use super::options::{Abi, BUFFER_ARGUMENT, BUFFER_SYMBOL, Counters, Options, Probe};
use super::place::hazards;
use super::place::patches::{Patch, Patches};
use super::place::relocate::{Insertions, RelocateError, Relocated, Stays};
use super::refusal::{InstrumentError, Reason, Refusal};
use super::registers::scheme::Scheme;
use super::seed;
use super::selector::NoSuchSite;
use crate::analysis::dominators::Structure;
use crate::counters::{SiteForm, WaveIds};
use amdgpu_isa::EncodeError;
use amdgpu_object::rewrite::{KernelEdit, text_address};
use amdgpu_object::{CodeObject, Kernel};
use amdinst_format::probes::{AddressMap, Cost, KernelProbes, SiteFrame};
use amdinst_format::report::location;

/// What will be done to a code object. Made by [`plan()`](super::plan()), carried out by
/// [`apply()`](super::apply()).
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) kernels: Vec<KernelProbes>,
    pub(super) edits: Vec<KernelEdit>,
    pub(super) relocated: Option<Relocated>,
    pub(super) abi: Abi,
    unmatched: Vec<NoSuchSite>,
}

impl Plan {
    /// Every kernel that was asked for, in order of entry address.
    pub fn kernels(&self) -> &[KernelProbes] {
        &self.kernels
    }

    /// What of [`Options::only`] selects no site of these kernels. That is an error, unless another code
    /// object has it.
    pub fn unmatched(&self) -> &[NoSuchSite] {
        &self.unmatched
    }

    /// Where code will move; empty if nothing is instrumented.
    pub fn addresses(&self) -> AddressMap {
        self.relocated.as_ref().map(Relocated::map).unwrap_or_default()
    }
}

/// Plans as [`plan`](super::plan()) does, with what is known of the processor's code. Returns that with what
/// was learnt.
pub(super) fn plan_with(
    object: &CodeObject,
    options: &Options,
    known: ProcessorCache,
) -> Result<(Plan, ProcessorCache), InstrumentError> {
    let ProcessorCache { seen, touches, mut masks, mut plans, facts, assembler } = known;
    let survey = Survey::new(object, (seen, touches), &mut masks);
    let chosen = selected(object, options)?;
    let sources = Sources::new(object);
    let points = match options.probe {
        Probe::Branches => Points::sites(&survey),
        Probe::Blocks => Points::blocks(&survey, |function| properties::start(&survey, object, function)),
        Probe::Time => Points::none(&survey),
    };
    let mut planner = Planner {
        object,
        options,
        survey: &survey,
        assembler: assembler.clone(),
        hazards: hazards::ProgramFacts::new(&survey.program, facts),
        known: &mut plans,
        points,
        stays: Stays::find(object, &survey.program, &BTreeMap::new()),
        refusals: BTreeMap::new(),
        unmatched: Vec::new(),
        structures: RefCell::default(),
    };
    let has_buffer_symbol = object.variables.iter().any(|variable| variable.name == BUFFER_SYMBOL);
    let aliases = Aliases::of(object);
    for (function, kernel) in survey.kernels() {
        if chosen.contains(&kernel) || aliases.others(kernel).iter().any(|other| chosen.contains(other)) {
            let mut refusals = survey.obstacles(function, |pc| sources.frames(pc));
            refusals.extend(aliases.obstacle(object, kernel));
            if has_buffer_symbol || object.kept.is_some() || has_buffer_argument(&object.kernels[kernel]) {
                refusals.push(already_instrumented());
            }
            planner.refusals.insert(function, refusals);
        }
    }
    planner.select(&sources);
    if matches!(options.counters, Counters::SeedLds | Counters::SeedGlobal) {
        planner.points.retain(|_, point| seed::counts(survey.program.insts[point.inst].op));
    }
    let mut unmovable = BTreeMap::new();
    loop {
        let draft = planner.draft()?;
        let relocated = if draft.inserted.is_empty() {
            None
        } else {
            if let Some((pc, detail)) = planner.stays.why().filter(|_| object.version == 2) {
                return Err(not_relocatable(&sources, *pc, detail.clone()));
            }
            match Relocated::new(
                object,
                &survey.program,
                &draft.inserted,
                &planner.stays,
                text_address(object),
            ) {
                Ok(relocated) => Some(relocated),
                Err(RelocateError::NotRelocatable { pc, detail }) => {
                    let function = survey.program.function_at(pc).filter(|of| !unmovable.contains_key(of));
                    let Some(function) = function.filter(|_| object.version > 2) else {
                        return Err(not_relocatable(&sources, pc, detail));
                    };
                    planner.refuse_reaching(function, Reason::UnresolvedGetpc, &detail, sources.frames(pc));
                    unmovable.insert(function, (pc, detail));
                    planner.stays = Stays::find(object, &survey.program, &unmovable);
                    continue;
                }
                Err(error @ RelocateError::BranchOutOfRange { function, pc, .. }) => {
                    // Without the kernels that reach the function nothing is inserted into it.
                    let frames = sources.frames(pc);
                    planner.refuse_reaching(function, Reason::BranchOutOfRange, &error.to_string(), frames);
                    continue;
                }
            }
        };
        let mut plan = planner.finish(draft, relocated, &sources);
        plan.add_aliases(object, &aliases);
        plan.add_empty(object, options, &chosen);
        let facts = planner.hazards.into_facts();
        let (seen, touches) = survey.into_known();
        return Ok((plan, ProcessorCache { seen, touches, masks, plans, facts, assembler }));
    }
}

fn not_relocatable(sources: &Sources, pc: u64, detail: String) -> InstrumentError {
    let place = sources.frames(pc).first().map(|frame| location(std::slice::from_ref(frame)).to_string());
    InstrumentError::NotRelocatable { place, pc, detail }
}

/// Whether the kernel takes a buffer for counters: it is instrumented.
fn has_buffer_argument(kernel: &Kernel) -> bool {
    kernel.metadata.args.iter().any(|arg| arg.name.as_deref() == Some(BUFFER_ARGUMENT))
}

/// What was inserted counts what the code does, so it must not be counted itself.
fn already_instrumented() -> Refusal {
    let detail = "instrumented already: instrument the original".to_owned();
    Refusal::of_kernel(Reason::AlreadyInstrumented, detail)
}

struct Planner<'a> {
    object: &'a CodeObject,
    options: &'a Options,
    survey: &'a Survey,
    assembler: Assembler,
    hazards: hazards::ProgramFacts<'a>,
    /// Kernels that were planned before.
    known: &'a mut KnownPlans,
    /// What is counted.
    points: Points,
    /// What cannot move.
    stays: Stays,
    /// What of the options selects nothing.
    unmatched: Vec<NoSuchSite>,
    /// Loops of the functions that were asked for them.
    structures: RefCell<BTreeMap<usize, Rc<Structure>>>,
    /// By function that is a chosen kernel: why it is refused; empty if it is not.
    refusals: BTreeMap<usize, Vec<Refusal>>,
}

/// A plan before code is laid out.
#[derive(Default)]
struct Draft {
    /// Of the group that is planned.
    patches: Patches,
    /// Of all that were.
    inserted: Insertions,
    /// By function that is a kernel.
    kernels: BTreeMap<usize, DraftKernel>,
    /// Instructions that count a block, where it is counted at an end of waves.
    counting_ends: BTreeMap<usize, usize>,
    /// Refusals of single sites, by the function they stand in.
    site_refusals: BTreeMap<usize, Vec<Refusal>>,
}

impl Draft {
    /// What stands before an instruction: the code that counts, and, where a block is counted at an end of
    /// waves, the end's.
    fn counting_and_exit<'p>(&self, at: usize, patch: &'p Patch) -> (&'p [Assembled], &'p [Assembled]) {
        match self.counting_ends.get(&at) {
            Some(&count) => patch.before.split_at(count.min(patch.before.len())),
            None => (&patch.before, &[]),
        }
    }
}

#[derive(Clone, Debug)]
struct DraftKernel {
    scheme: Scheme,
    why: String,
    stride: u32,
    /// With the ABI that has one.
    buffer_argument: Option<u32>,
    /// With strides behind that.
    wave_ids: Option<WaveIds>,
    /// Of all sites; empty if all are counts.
    site_forms: Vec<SiteForm>,
    /// Sites of its records, if these are packed.
    packed_sites: u32,
    cost: Cost,
    /// (function, point in it) in the order of the record.
    points: Vec<(usize, Point)>,
    edit: KernelEdit,
    /// The instruction that its prologue stands before.
    entry: usize,
    /// SGPRs that it has, if its metadata does not tell of more.
    sgprs_needed: u32,
    /// Its prologue has to be kept apart from what is behind that if loads may be issued again.
    makes_clause: bool,
    /// The scheme keeps occupancy, and none that was tried before would have worked at all.
    is_first_choice: bool,
}

impl Planner<'_> {
    fn kernel(&self, function: usize) -> &Kernel {
        let index = self.survey.program.functions[function].kernel;
        let index = index.expect("only functions that are kernels are planned for");
        &self.object.kernels[index]
    }

    fn refuse_reaching(&mut self, function: usize, reason: Reason, detail: &str, frames: Vec<SiteFrame>) {
        let name = &self.survey.program.functions[function].name;
        for (kernel, refusals) in &mut self.refusals {
            if self.survey.reachable[*kernel].contains(&function) {
                let refusal = Refusal::of_kernel(reason, format!("in `{name}`: {detail}"));
                refusals.push(Refusal { frames: frames.clone(), ..refusal });
            }
        }
    }

    /// The plan for some kernels contradicts itself.
    fn internal(&self, kernels: &BTreeSet<usize>, inst: Option<usize>, what: String) -> InstrumentError {
        let program = &self.survey.program;
        let name = |&function: &usize| program.functions[function].name.clone();
        InstrumentError::Internal {
            kernel: kernels.first().map(name).unwrap_or_default().to_string(),
            pc: inst.map(|inst| program.insts[inst].pc),
            what,
        }
    }

    fn draft(&mut self) -> Result<Draft, InstrumentError> {
        let (mut draft, accepted, patchable) = loop {
            let mut draft = Draft::default();
            let accepted: BTreeSet<usize> = self
                .refusals
                .iter()
                .filter(|(_, refusals)| refusals.is_empty())
                .map(|(&kernel, _)| kernel)
                .collect();
            let patchable = self.patchable(&accepted, &mut draft);
            let lost = self.lose_records(&accepted, &patchable);
            if lost.is_empty() {
                break (draft, accepted, patchable);
            }
            // Functions that these call may be shared with others.
            for (kernel, refusal) in lost {
                self.refusals.entry(kernel).or_default().push(refusal);
            }
        };
        for group in self.groups(&accepted, &patchable) {
            if let Some(kernel) = group.lone_kernel()
                && let Some(plan) = self.remembered(kernel, &mut draft.inserted)
            {
                draft.kernels.insert(kernel, plan);
                continue;
            }
            for (group, part) in self.draft_what_fits(group, &mut draft) {
                self.settle(&group, part, &mut draft)?;
            }
        }
        draft.inserted.sort();
        Ok(draft)
    }

    /// Takes over what a group got, or refuses its kernels.
    fn settle(
        &mut self,
        group: &KernelGroup,
        part: Result<Option<Draft>, NoPlan>,
        draft: &mut Draft,
    ) -> Result<(), InstrumentError> {
        let before = draft.inserted.len();
        let part = part.and_then(|part| match part {
            Some(part) => {
                draft.inserted.add(&part.patches)?;
                Ok(Some(part.kernels))
            }
            None => Ok(None),
        });
        match part {
            Ok(Some(kernels)) => {
                if let Some(kernel) = group.lone_kernel()
                    && let Some(plan) = kernels.get(&kernel)
                {
                    self.remember(kernel, (&draft.inserted, before), plan);
                }
                draft.kernels.extend(kernels);
            }
            Ok(None) => {}
            Err(NoPlan::Internal { inst, what }) => return Err(self.internal(&group.kernels, inst, what)),
            Err(NoPlan::Refused(reason, detail)) => {
                for &kernel in &group.kernels {
                    let refusal = Refusal::of_kernel(reason, detail.clone());
                    self.refusals.entry(kernel).or_default().push(refusal);
                }
            }
        }
        Ok(())
    }
}

/// Why a group of kernels has no plan.
#[derive(Debug)]
pub(super) enum NoPlan {
    /// The kernels cannot be instrumented in this way.
    Refused(Reason, String),
    /// The plan contradicts itself, at an instruction if it is about one: a defect of ours.
    Internal {
        /// Its number in the program.
        inst: Option<usize>,
        what: String,
    },
}

impl NoPlan {
    /// At an instruction.
    fn at(self, inst: usize) -> Self {
        match self {
            Self::Internal { what, .. } => Self::Internal { inst: Some(inst), what },
            refused => refused,
        }
    }
}

impl From<(Reason, String)> for NoPlan {
    fn from((reason, detail): (Reason, String)) -> Self {
        Self::Refused(reason, detail)
    }
}

impl From<EmitError> for NoPlan {
    fn from(error: EmitError) -> Self {
        match error {
            EmitError::Encode(_) => Self::Refused(Reason::DescriptorLimit, error.to_string()),
            EmitError::Missing(_) => Self::Internal { inst: None, what: error.to_string() },
        }
    }
}

impl From<EncodeError> for NoPlan {
    fn from(error: EncodeError) -> Self {
        EmitError::from(error).into()
    }
}
