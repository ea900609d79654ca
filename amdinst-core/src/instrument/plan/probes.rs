//! What a plan tells of each kernel: its part of the probe map.

use std::collections::{BTreeSet, HashMap};

use amdgpu_isa::{NotInstrumented, Op};
use amdgpu_object::{CodeObject, Kernel};
use amdinst_format::probes::{
    BlockProbe, Cost, ExecWrite, ExecWriteClass, FileLines, KernelProbes, LeftOut, Places, ProbeOutcome,
    ProbeResult, Site, SiteKind, UniformBranch,
};

use super::nearby::Stands;
use super::places::KernelPlaces;
use super::{Draft, DraftKernel, Plan, Planner};
use crate::analysis::masks::{Narrowing, OtherWrite};
use crate::analysis::program::Located;
use crate::instrument::find::points::{Point, Stretch, What};
use crate::instrument::find::sources::Sources;
use crate::instrument::find::survey::Survey;
use crate::instrument::find::{probes, select};
use crate::instrument::options::{BUFFER_SYMBOL, Options, Probe, ProbeSpec};
use crate::instrument::place::relocate::Relocated;
use crate::instrument::refusal::{Reason, Refusal};

/// A kernel that counts nothing.
fn without_counters(object: &CodeObject, kernel: &Kernel, options: &Options, why: &str) -> KernelProbes {
    KernelProbes {
        name: kernel.name.clone(),
        probe: options.probe,
        lanes: crate::lanes(kernel.descriptor.wave_size(object.target.arch)),
        home: None,
        why: why.to_owned(),
        level: options.level,
        buffer_argument: None,
        wave_ids: None,
        site_forms: Vec::new(),
        packed_sites: 0,
        buffer_symbol: None,
        kernarg_segment_size: kernel.metadata.kernarg_segment_size,
        record_stride: 0,
        cost: Cost::default(),
        places: Places::default(),
        sites: Vec::new(),
        blocks: Vec::new(),
        left_out: Vec::new(),
        uniform: Vec::new(),
        exec_writes: Vec::new(),
        probes: Vec::new(),
        refusals: Vec::new(),
    }
}

/// The kernels of a code object for a processor whose code is not instrumented: each is refused, for that
/// reason.
pub fn refused(object: &CodeObject, options: &Options, why: NotInstrumented) -> Vec<KernelProbes> {
    let why = why.to_string();
    let refusal = || Refusal::of_kernel(Reason::Processor, why.clone());
    let kernels = object.kernels.iter();
    kernels
        .map(|kernel| KernelProbes {
            refusals: vec![refusal()],
            ..without_counters(object, kernel, options, &why)
        })
        .collect()
}

impl Plan {
    /// Lists the chosen kernels that have no instructions.
    pub(super) fn add_empty(&mut self, object: &CodeObject, options: &Options, chosen: &BTreeSet<usize>) {
        let kernels = object.kernels.iter().enumerate();
        let empty: Vec<_> =
            kernels.filter(|(index, kernel)| chosen.contains(index) && kernel.code.is_empty()).collect();
        if empty.is_empty() {
            return;
        }
        let why = "it has no instructions";
        self.kernels
            .extend(empty.into_iter().map(|(_, kernel)| without_counters(object, kernel, options, why)));
        let order: HashMap<&str, usize> =
            object.kernels.iter().enumerate().map(|(index, kernel)| (kernel.name.as_str(), index)).collect();
        self.kernels.sort_by_key(|probes| order.get(probes.name.as_str()).copied());
    }
}

impl Planner<'_> {
    pub(super) fn finish(&self, draft: Draft, relocated: Option<Relocated>, sources: &Sources) -> Plan {
        let mut kernels = Vec::new();
        let mut edits = Vec::new();
        for (&function, refusals) in &self.refusals {
            let drafted = draft.kernels.get(&function);
            if let Some(drafted) = drafted {
                edits.push(drafted.edit.clone());
            }
            kernels.push(self.kernel_probes(
                function,
                refusals,
                drafted,
                &draft,
                relocated.as_ref(),
                sources,
            ));
        }
        drop_absent_probes(&mut kernels);
        Plan { kernels, edits, relocated, abi: self.options.abi, unmatched: self.unmatched.clone() }
    }

    fn kernel_probes(
        &self,
        function: usize,
        refusals: &[Refusal],
        drafted: Option<&DraftKernel>,
        draft: &Draft,
        relocated: Option<&Relocated>,
        sources: &Sources,
    ) -> KernelProbes {
        let kernel = self.kernel(function);
        let mut places = KernelPlaces::new(sources);
        let (mut sites, blocks) = self.counted(function, drafted, relocated, &mut places);
        let number = sites.len();
        // For the time being those that were left out are among the sites, so that a probe finds all its own.
        sites.extend(self.left_out(function).map(|(owner, site)| self.site(owner, site, &mut places)));
        let mut uniform = self.uniform(function, &mut places);
        // A `#[probe]` stands on a branch: without branches there is nothing to tell of it.
        let mut probes = match self.options.probe {
            Probe::Branches => self.assigned(function, &mut sites, &mut uniform, &places),
            Probe::Blocks | Probe::Time => Vec::new(),
        };
        let left_out = sites
            .split_off(number)
            .into_iter()
            .map(|Site { kind, pc, place, name, .. }| LeftOut { kind, pc, place, name });
        let left_out: Vec<LeftOut> = left_out.collect();
        probes.iter_mut().for_each(drop_left_out);
        let exec_writes = self.exec_writes(function);
        let why = match drafted {
            Some(drafted) => drafted.why.clone(),
            None => self.why_not(!refusals.is_empty(), !left_out.is_empty()).to_owned(),
        };
        let refusals = self.all_refusals(function, refusals, draft, sources);
        KernelProbes {
            name: kernel.name.clone(),
            probe: self.options.probe,
            lanes: crate::lanes(self.survey.program.wave_size()),
            home: drafted.map(|drafted| drafted.scheme.home()),
            why,
            level: self.options.level,
            buffer_argument: drafted.and_then(|drafted| drafted.buffer_argument),
            wave_ids: drafted.and_then(|drafted| drafted.wave_ids),
            site_forms: drafted.map(|drafted| drafted.site_forms.clone()).unwrap_or_default(),
            packed_sites: drafted.map_or(0, |drafted| drafted.packed_sites),
            buffer_symbol: drafted
                .filter(|drafted| drafted.buffer_argument.is_none())
                .map(|_| BUFFER_SYMBOL.to_owned()),
            kernarg_segment_size: drafted
                .and_then(|drafted| drafted.edit.metadata.kernarg_segment_size)
                .unwrap_or(kernel.metadata.kernarg_segment_size),
            record_stride: drafted.map_or(0, |drafted| drafted.stride),
            cost: drafted.map(|drafted| drafted.cost.clone()).unwrap_or_default(),
            places: places.finish(),
            sites,
            blocks,
            left_out,
            uniform,
            exec_writes,
            probes,
            refusals,
        }
    }

    /// The sites and blocks with counters of a kernel; without a plan for it, those that could have some.
    fn counted(
        &self,
        function: usize,
        drafted: Option<&DraftKernel>,
        relocated: Option<&Relocated>,
        places: &mut KernelPlaces<'_>,
    ) -> (Vec<Site>, Vec<BlockProbe>) {
        let reachable = &self.survey.reachable[function];
        let listed: Vec<(usize, Point)> = match drafted {
            Some(drafted) => drafted.points.clone(),
            None => reachable
                .iter()
                .flat_map(|&reached| self.points.of(reached).iter().map(move |&point| (reached, point)))
                .collect(),
        };
        let (mut sites, mut blocks) = (Vec::with_capacity(listed.len()), Vec::new());
        // The record has room for every shared function's sites; those of functions that this kernel never
        // calls stay zero in it.
        let counted = (0..).zip(listed).filter(|(_, (owner, _))| reachable.contains(owner));
        for (id, (owner, point)) in counted {
            match point.what {
                What::Site(site) => {
                    // 0 in the map says that the new code does not have it.
                    let new_pc = relocated.and_then(|new| new.instruction(self.site_pc(owner, site)));
                    sites.push(Site {
                        id,
                        new_pc: new_pc.unwrap_or_default(),
                        ..self.site(owner, site, places)
                    });
                }
                What::Block(stretch) => blocks.push(self.block(owner, stretch, id, places)),
            }
        }
        (sites, blocks)
    }

    /// The writes of EXEC that are no sites, in a kernel and what it may call.
    fn exec_writes(&self, function: usize) -> Vec<ExecWrite> {
        let Survey { program, masks, reachable, .. } = self.survey;
        let writes = reachable[function].iter().flat_map(|&reached| &masks[reached].writes);
        writes
            .map(|&(inst, class)| ExecWrite { pc: program.insts[inst].pc, class: class_of(class) })
            .collect()
    }

    /// The refusals of a kernel itself, and of sites in it and in what it may call, with their places.
    fn all_refusals(
        &self,
        function: usize,
        of_kernel: &[Refusal],
        draft: &Draft,
        sources: &Sources,
    ) -> Vec<Refusal> {
        let Options { only, probes, probe, .. } = self.options;
        let asked_for = |refusal: &Refusal| {
            only.is_empty()
                || refusal.pc.is_some_and(|pc| select::concerns(only, probes, &sources.frames(pc)))
        };
        let mut refusals = of_kernel.to_vec();
        for &reached in &self.survey.reachable[function] {
            if *probe == Probe::Branches {
                refusals.extend(self.survey.unclassified(reached).filter(asked_for));
            }
            refusals.extend(draft.site_refusals.get(&reached).into_iter().flatten().cloned());
        }
        for refusal in &mut refusals {
            if let Some(pc) = refusal.pc {
                refusal.frames = sources.frames(pc);
            }
        }
        refusals
    }

    /// Why a kernel without a plan has no counters, by whether it was refused, and whether sites were left
    /// out.
    const fn why_not(&self, is_refused: bool, has_left_out: bool) -> &'static str {
        match (is_refused, has_left_out, self.options.probe) {
            (false, _, Probe::Blocks) => "none of its blocks was asked for",
            (false, false, _) => "it has no site",
            (false, true, _) => "none of its sites was asked for",
            (true, ..) => "it was refused",
        }
    }

    fn site_pc(&self, function: usize, site: usize) -> u64 {
        let Survey { program, masks, .. } = self.survey;
        program.insts[masks[function].sites[site].inst].pc
    }

    /// A site as the map tells of it, without a place in the record.
    pub(super) fn site(&self, function: usize, site: usize, places: &mut KernelPlaces<'_>) -> Site {
        let Survey { program, masks, .. } = self.survey;
        let found = &masks[function].sites[site];
        let located = &program.insts[found.inst];
        let Stands { own, nearby, is_near } = self.stands(function, found, places.sources);
        Site {
            id: NOT_COUNTED,
            kind: match found.kind {
                Narrowing::If => SiteKind::If,
                Narrowing::LoopExit => SiteKind::LoopExit,
            },
            pc: located.pc,
            new_pc: 0,
            instruction: program.text(found.inst).clone(),
            place: places.of(own),
            nearby: nearby.into_iter().filter_map(|chain| places.of(chain)).collect(),
            is_near,
            name: None,
            loop_depth: found.loop_depth,
            function: program.functions[function].name.clone(),
            else_pcs: found.else_insts.iter().map(|&inst| program.insts[inst].pc).collect(),
        }
    }

    fn block(&self, function: usize, stretch: Stretch, id: u32, kernel: &mut KernelPlaces<'_>) -> BlockProbe {
        let Survey { program, masks, .. } = self.survey;
        let pcs = |(first, end): (usize, usize)| [program.insts[first].pc, program.insts[end - 1].end()];
        let [pc, end_pc] = pcs(stretch.insts);
        let insts = &program.insts[stretch.insts.0..stretch.insts.1];
        // A spill, which takes all lanes and is said to be part of some line.
        let whole_wave = stretch.lanes.0.checked_sub(1).is_some_and(|before| {
            let writes = &masks[function].writes;
            let found = writes.binary_search_by_key(&before, |&(inst, _)| inst);
            found.is_ok_and(|found| writes[found].1 == OtherWrite::WholeWave)
        });
        // A lane that is told by its number is read and written whether it is active or not: most often for a
        // spill, too.
        let by_lane = |located: &Located| {
            let by_number = matches!(located.op, Op::v_readlane_b32 | Op::v_writelane_b32);
            !whole_wave && !located.encoding.is_scalar() && !by_number
        };
        let placed: Vec<_> = insts.iter().map(|located| kernel.sources.frames(located.pc)).collect();
        let (mut lines, mut scalar_lines) = (BTreeSet::new(), BTreeSet::new());
        for ((at, located), frames) in (stretch.insts.0..).zip(insts).zip(&placed) {
            let by_lane = (stretch.lanes.0..stretch.lanes.1).contains(&at) && by_lane(located);
            let places = frames.iter().filter_map(|frame| Some((frame.file.clone()?, frame.line?)));
            if by_lane { &mut lines } else { &mut scalar_lines }.extend(places);
        }
        scalar_lines.retain(|place| !lines.contains(place));
        BlockProbe {
            id,
            pc,
            end_pc,
            lanes_pcs: pcs(stretch.lanes),
            instructions: insts.len() as u32,
            place: insts.iter().find_map(|located| kernel.at(located.pc)),
            lines: FileLines::of_places(lines),
            scalar_lines: FileLines::of_places(scalar_lines),
            function: program.functions[function].name.clone(),
        }
    }

    /// The branches that all lanes take alike in a kernel and what it may call.
    pub(super) fn uniform(&self, kernel: usize, places: &mut KernelPlaces<'_>) -> Vec<UniformBranch> {
        let Survey { program, masks, reachable, .. } = self.survey;
        let of = |&function: &usize| masks[function].uniform.iter().map(move |&inst| (function, inst));
        let branch = |(function, inst): (usize, usize)| {
            let located = &program.insts[inst];
            UniformBranch {
                pc: located.pc,
                instruction: program.text(inst).clone(),
                place: places.at(located.pc),
                name: None,
                function: program.functions[function].name.clone(),
            }
        };
        reachable[kernel].iter().flat_map(of).map(branch).collect()
    }

    /// Gives sites and uniform branches of a kernel the names of their probes.
    pub(super) fn assigned(
        &self,
        function: usize,
        sites: &mut [Site],
        uniform: &mut [UniformBranch],
        places: &KernelPlaces<'_>,
    ) -> Vec<ProbeOutcome> {
        let Survey { program, reachable, .. } = self.survey;
        let mut locations = || {
            let blocks = reachable[function].iter().flat_map(|&reached| &program.functions[reached].blocks);
            let insts = blocks.flat_map(|block| block.insts.clone());
            insts.map(|index| places.sources.frames(program.insts[index].pc)).collect()
        };
        // Only the probes that stand in this kernel or in what it calls; all if the source does not tell.
        let kernel = self.kernel(function);
        let probes =
            self.options.probes.iter().filter(|probe| in_kernel(probe, kernel, self.object)).cloned();
        let probes: Vec<_> = probes.collect();
        probes::assign(&probes, sites, uniform, places.places(), &mut locations)
    }
}

/// The number of a site that has no place in the record.
const NOT_COUNTED: u32 = u32::MAX;

/// Of the sites of a probe, leaves those that count. A probe without such was left out.
fn drop_left_out(outcome: &mut ProbeOutcome) {
    if let ProbeResult::Sites(ids) = &mut outcome.result {
        ids.retain(|&id| id != NOT_COUNTED);
        if ids.is_empty() {
            outcome.result = ProbeResult::LeftOut;
        }
    }
}

/// Whether a probe may concern a kernel: probes in another kernel's own source do not.
fn in_kernel(probe: &ProbeSpec, kernel: &Kernel, object: &CodeObject) -> bool {
    // Its path may be written out, and the kernel's symbol is the last part of it.
    let function = probe.function.rsplit("::").next().unwrap_or(&probe.function);
    function == kernel.name || object.kernels.iter().all(|other| other.name != function)
}

/// A probe of a function that several kernels could call concerns those in whose code it was found. One that
/// was found nowhere stays listed as removed with every kernel, so that it is never silently gone.
fn drop_absent_probes(kernels: &mut [KernelProbes]) {
    let present = |outcome: &ProbeOutcome| outcome.result != ProbeResult::Removed;
    let found: Vec<_> = kernels
        .iter()
        .flat_map(|kernel| kernel.probes.iter().filter(|outcome| present(outcome)))
        .map(|outcome| outcome.probe.clone())
        .collect();
    for kernel in kernels {
        kernel.probes.retain(|outcome| present(outcome) || !found.contains(&outcome.probe));
    }
}

const fn class_of(class: OtherWrite) -> ExecWriteClass {
    match class {
        OtherWrite::Else => ExecWriteClass::Else,
        OtherWrite::Join => ExecWriteClass::Join,
        OtherWrite::Restore => ExecWriteClass::Restore,
        OtherWrite::WholeWave => ExecWriteClass::WholeWave,
        OtherWrite::Constant => ExecWriteClass::Constant,
        OtherWrite::Unclassified => ExecWriteClass::Unclassified,
    }
}
