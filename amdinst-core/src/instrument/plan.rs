//! Decides which kernels are instrumented, with which counter home, and writes down what is inserted where.

use std::collections::{BTreeMap, BTreeSet};

use super::allocate::{Allocation, Component, Scheme, Wanted, scc_tells_new};
use super::entry::Entry;
use super::exit::Exit;
use super::layout::{CounterPlace, Temps};
use super::map::{
    AddressMap, Cost, ExecWrite, ExecWriteClass, KernelProbes, Occupancy, ProbeOutcome, ProbeResult, Site,
    SiteKind, UniformBranch,
};
use super::options::{Counters, Options};
use super::probes;
use super::refusal::{InstrumentError, Reason, Refusal};
use super::relocate::{Patch, RelocateError, Relocated};
use super::site_code::SiteCode;
use super::sources::Sources;
use super::survey::{Survey, selected};
use crate::analysis::masks::{Narrowing, OtherWrite};
use crate::analysis::{Resources, occupancy, program};
use crate::counters::record_stride;
use crate::isa::{Reg, RegSet};
use crate::object::rewrite::{KernelEdit, MetadataEdit, text_address};
use crate::object::{CodeObject, Kernel, KernelArg, KernelDescriptor, KernelMetadata, UserSgpr};

/// VCC, FLAT_SCRATCH and XNACK_MASK, which are counted with the SGPRs.
const SPECIAL_SGPRS: u32 = 6;
/// Bytes of a kernel's stub for firmware that does not preload kernel arguments.
const PRELOAD_STUB: u64 = 256;

/// What will be done to a code object. Made by [`plan`], carried out by [`apply`](super::apply).
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) kernels: Vec<KernelProbes>,
    pub(super) edits: Vec<KernelEdit>,
    pub(super) relocated: Option<Relocated>,
}

impl Plan {
    /// Every kernel that was asked for, in order of entry address.
    pub fn kernels(&self) -> &[KernelProbes] {
        &self.kernels
    }

    /// Where code will move; empty if nothing is instrumented.
    pub fn addresses(&self) -> AddressMap {
        self.relocated.as_ref().map(|relocated| relocated.map.clone()).unwrap_or_default()
    }
}

/// Finds the sites of every kernel asked for, and plans their counters.
///
/// # Errors
/// When a kernel asked for does not exist, or something in `.text` cannot be moved. That a kernel or a site is refused is
/// no error, but told in [`KernelProbes::refusals`].
pub fn plan(object: &CodeObject, options: &Options) -> Result<Plan, InstrumentError> {
    let survey = Survey::new(object);
    let chosen = selected(object, options)?;
    let sources = Sources::new(object);
    let mut planner = Planner { object, options, survey: &survey, refusals: BTreeMap::new() };
    for (function, kernel) in survey.kernels() {
        if chosen.contains(&kernel) {
            planner.refusals.insert(function, survey.obstacles(function));
        }
    }
    loop {
        let draft = planner.draft();
        let relocated = if draft.patches.is_empty() {
            None
        } else {
            match Relocated::new(object, &survey.program, &draft.patches, text_address(object)) {
                Ok(relocated) => Some(relocated),
                Err(RelocateError::NotRelocatable { pc, detail }) => {
                    return Err(InstrumentError::NotRelocatable { pc, detail });
                }
                Err(error @ RelocateError::BranchOutOfRange { function, .. }) => {
                    // Without the kernels that reach the function nothing is inserted into it.
                    planner.refuse_reaching(function, Reason::BranchOutOfRange, &error.to_string());
                    continue;
                }
            }
        };
        return Ok(planner.finish(draft, relocated, &sources));
    }
}

struct Planner<'a> {
    object: &'a CodeObject,
    options: &'a Options,
    survey: &'a Survey,
    /// By function that is a chosen kernel: why it is refused; empty if it is not.
    refusals: BTreeMap<usize, Vec<Refusal>>,
}

/// A plan before code is laid out.
#[derive(Default)]
struct Draft {
    patches: BTreeMap<usize, Patch>,
    /// By function that is a kernel.
    kernels: BTreeMap<usize, DraftKernel>,
    /// Refusals of single sites, by the function they stand in.
    site_refusals: BTreeMap<usize, Vec<Refusal>>,
}

struct DraftKernel {
    scheme: Scheme,
    why: String,
    stride: u32,
    buffer_argument: u32,
    cost: Cost,
    /// (function, site of that function) in the order of the record.
    sites: Vec<(usize, usize)>,
    edit: KernelEdit,
}

/// A prologue, and the instruction it stands before.
type Prologue = (usize, Vec<crate::isa::Inst>);

/// A component and what is counted in it.
struct Group {
    /// Functions that are kernels.
    kernels: BTreeSet<usize>,
    /// Functions that kernels share or call, and that may be patched.
    shared: BTreeSet<usize>,
    /// All functions that any of its kernels reaches.
    functions: BTreeSet<usize>,
}

impl Planner<'_> {
    fn kernel(&self, function: usize) -> &Kernel {
        let index = self.survey.program.functions[function].kernel.unwrap_or_default();
        &self.object.kernels[index]
    }

    fn refuse_reaching(&mut self, function: usize, reason: Reason, detail: &str) {
        let name = &self.survey.program.functions[function].name;
        for (kernel, refusals) in &mut self.refusals {
            if self.survey.reachable[*kernel].contains(&function) {
                refusals.push(Refusal { pc: None, reason, detail: format!("in `{name}`: {detail}") });
            }
        }
    }

    fn draft(&mut self) -> Draft {
        let mut draft = Draft::default();
        let accepted: BTreeSet<usize> = self
            .refusals
            .iter()
            .filter(|(_, refusals)| refusals.is_empty())
            .map(|(&kernel, _)| kernel)
            .collect();
        let patchable = self.patchable(&accepted, &mut draft);
        for group in self.groups(&accepted, &patchable) {
            match self.draft_group(&group) {
                Ok(Some(part)) => {
                    draft.patches.extend(part.patches);
                    draft.kernels.extend(part.kernels);
                }
                Ok(None) => {}
                Err((reason, detail)) => {
                    for &kernel in &group.kernels {
                        let refusal = Refusal { pc: None, reason, detail: detail.clone() };
                        self.refusals.entry(kernel).or_default().push(refusal);
                    }
                }
            }
        }
        draft
    }

    /// Functions (not kernels) in which code may be inserted: only instrumented kernels reach them.
    fn patchable(&self, accepted: &BTreeSet<usize>, draft: &mut Draft) -> BTreeSet<usize> {
        let survey = self.survey;
        let kernels: Vec<usize> = survey.kernels().map(|(function, _)| function).collect();
        // A kernel that calls through pointers may call any function.
        let wild = kernels.iter().any(|kernel| {
            !accepted.contains(kernel)
                && survey.obstacles(*kernel).iter().any(|refusal| refusal.reason == Reason::IndirectTarget)
        });
        let reached: BTreeSet<usize> =
            accepted.iter().flat_map(|&kernel| survey.reachable[kernel].iter().copied()).collect();
        let mut patchable = BTreeSet::new();
        for function in reached {
            if survey.program.functions[function].kernel.is_some() {
                continue;
            }
            let foreign = kernels
                .iter()
                .find(|kernel| !accepted.contains(kernel) && survey.reachable[**kernel].contains(&function));
            if foreign.is_none() && !wild {
                patchable.insert(function);
                continue;
            }
            let other = foreign.map_or("a kernel that calls through pointers", |&kernel| {
                survey.program.functions[kernel].name.as_str()
            });
            let refuse = |inst: usize| Refusal {
                pc: Some(survey.program.insts[inst].pc),
                reason: Reason::SharedFunction,
                detail: format!(
                    "`{}` is also called by `{other}`, which is not instrumented",
                    survey.program.functions[function].name
                ),
            };
            let sites = survey.masks[function].sites.iter().map(|site| site.inst);
            draft.site_refusals.insert(function, sites.map(refuse).collect());
        }
        patchable
    }

    /// Accepted kernels with something to count, joined where they share a patchable function.
    fn groups(&self, accepted: &BTreeSet<usize>, patchable: &BTreeSet<usize>) -> Vec<Group> {
        let survey = self.survey;
        let mut groups: Vec<Group> = Vec::new();
        for &kernel in accepted {
            let shared: BTreeSet<usize> = survey.reachable[kernel].intersection(patchable).copied().collect();
            let has_sites = |function: &usize| !survey.masks[*function].sites.is_empty();
            if !has_sites(&kernel) && !shared.iter().any(has_sites) {
                continue;
            }
            let mut group = Group {
                kernels: BTreeSet::from([kernel]),
                shared,
                functions: survey.reachable[kernel].clone(),
            };
            let (joined, apart): (Vec<Group>, Vec<Group>) =
                groups.into_iter().partition(|other| !other.shared.is_disjoint(&group.shared));
            for other in joined {
                group.kernels.extend(other.kernels);
                group.shared.extend(other.shared);
                group.functions.extend(other.functions);
            }
            groups = apart;
            groups.push(group);
        }
        groups
    }

    /// Tries the schemes that the options allow, cheapest first; those that lower occupancy only when no other is left.
    fn draft_group(&self, group: &Group) -> Result<Option<Draft>, (Reason, String)> {
        let schemes: &[Scheme] = match self.options.counters {
            Counters::Auto => &[Scheme::Sgprs, Scheme::VgprLanes, Scheme::Memory],
            Counters::Register => &[Scheme::Sgprs, Scheme::VgprLanes],
            Counters::Global => &[Scheme::Memory],
        };
        let mut failures: Vec<(Reason, String)> = Vec::new();
        let mut lowering: Option<Draft> = None;
        let mut passed: Vec<String> = Vec::new();
        for &scheme in schemes {
            match self.attempt(group, scheme) {
                Ok(mut draft) => {
                    let keeps =
                        |kernel: &DraftKernel| kernel.cost.occupancy.after >= kernel.cost.occupancy.before;
                    let keeps_all = draft.kernels.values().all(keeps);
                    for kernel in draft.kernels.values_mut() {
                        kernel.why = why(scheme, keeps_all, &passed, schemes.len() == 1);
                    }
                    if keeps_all {
                        return Ok(Some(draft));
                    }
                    passed.push(format!("{} would lower occupancy", described(scheme)));
                    lowering.get_or_insert(draft);
                }
                Err(failure) => {
                    passed.push(format!("{}: {}", described(scheme), failure.1));
                    failures.push(failure);
                }
            }
        }
        match (lowering, failures.pop()) {
            (Some(draft), _) => Ok(Some(draft)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(None),
        }
    }

    /// Registers, code and cost of a group in one scheme.
    fn attempt(&self, group: &Group, scheme: Scheme) -> Result<Draft, (Reason, String)> {
        let survey = self.survey;
        let (arch, level) = (self.object.target.arch, self.options.level);
        let sites_of =
            |function: usize| (0..survey.masks[function].sites.len()).map(move |site| (function, site));
        let shared_sites: Vec<(usize, usize)> =
            group.shared.iter().flat_map(|&function| sites_of(function)).collect();
        let most_own =
            group.kernels.iter().map(|&kernel| survey.masks[kernel].sites.len()).max().unwrap_or(0);
        let total = shared_sites.len() + most_own;

        let all_sites: Vec<(usize, usize)> = shared_sites
            .iter()
            .copied()
            .chain(group.kernels.iter().flat_map(|&kernel| sites_of(kernel)))
            .collect();
        let descriptors: Vec<&KernelDescriptor> =
            group.kernels.iter().map(|&kernel| &self.kernel(kernel).descriptor).collect();
        let vgprs = |descriptor: &&KernelDescriptor| descriptor.vector_registers(arch).vgprs;
        let component = Component {
            survey,
            functions: &group.functions,
            allotted_vgprs: descriptors.iter().map(vgprs).min().unwrap_or(0),
            most_vgprs: descriptors.iter().map(vgprs).max().unwrap_or(0),
        };
        // What a site needs depends on where its counters are, not on which registers these are.
        let probe_place = match scheme {
            Scheme::Sgprs => CounterPlace::Sgprs(super::layout::SgprCounters::new(&[0; 5])),
            Scheme::VgprLanes => CounterPlace::Lanes { vgpr: 0, first: 0 },
            Scheme::Memory => CounterPlace::Memory,
        };
        let nothing = super::layout::Owned::default();
        let code_of =
            |(function, site): (usize, usize)| self.site_code(function, site, probe_place, &nothing);
        let wanted: Vec<Wanted> = all_sites
            .iter()
            .map(|&(function, site)| Wanted { function, site, needs: code_of((function, site)).needs() })
            .collect();
        let Allocation { owned, places, temps } = component.allocate(scheme, level, total, &wanted)?;

        let mut draft = Draft::default();
        let mut added: BTreeMap<usize, Added> = BTreeMap::new();
        let mut own_index: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, (&(function, site), temps)) in all_sites.iter().zip(temps).enumerate() {
            let id = if number < shared_sites.len() {
                number
            } else {
                let own = own_index.entry(function).or_default();
                *own += 1;
                shared_sites.len() + *own - 1
            };
            let mut code = self.site_code(function, site, places[id], &owned);
            code.temps = temps;
            code.id = id as u32;
            let (before, after) = (code.before().map_err(encoding)?, code.after().map_err(encoding)?);
            added.entry(function).or_default().site(&before, &after);
            let patch = draft.patches.entry(survey.masks[function].sites[site].inst).or_default();
            (patch.before, patch.after) = (before, after);
        }

        // A function that ends waves does not know for which kernel: it writes the longest record.
        let functions_end = group.shared.iter().any(|&function| survey.ends_waves(function));
        let mut highest = HighestRegisters::default();
        for function in group.kernels.iter().chain(&group.shared).copied() {
            let own = survey.masks[function].sites.len();
            let is_kernel = survey.program.functions[function].kernel.is_some();
            let written = if is_kernel && !functions_end { shared_sites.len() + own } else { total };
            let exit = Exit { arch, home: scheme.home(), level, owned: &owned, places: &places[..written] };
            let code = exit.code().map_err(encoding)?;
            for block in &survey.program.functions[function].blocks {
                if block.exit == program::Exit::End {
                    let patch = draft.patches.entry(block.insts.end - 1).or_default();
                    patch.before.splice(0..0, code.iter().cloned());
                    added.entry(function).or_default().exit(&code);
                }
            }
        }
        for patch in draft.patches.values() {
            highest.see(patch, arch);
        }
        for &kernel in &group.kernels {
            let own = survey.masks[kernel].sites.len();
            let counted = if functions_end { total } else { shared_sites.len() + own };
            let stride = record_stride(counted as u32);
            let sites = shared_sites.iter().copied().chain(sites_of(kernel)).collect();
            let (drafted, entry) = self.kernel_edit(kernel, scheme, &owned, stride, sites, &highest)?;
            let (at, prologue) = entry;
            let mut cost = drafted.cost.clone();
            let mut sum = added.get(&kernel).cloned().unwrap_or_default();
            for function in survey.reachable[kernel].intersection(&group.shared) {
                sum.add(added.get(function));
            }
            cost.instructions_per_site = sum.per_site;
            cost.memory_operations_per_site = u32::from(scheme == Scheme::Memory);
            cost.epilogue = sum.epilogue;
            cost.prologue = prologue.len() as u32;
            cost.code_bytes = sum.bytes + bytes(&prologue);
            draft.patches.entry(at).or_default().entry = prologue;
            draft.kernels.insert(kernel, DraftKernel { cost, ..drafted });
        }
        Ok(draft)
    }

    fn site_code<'o>(
        &self,
        function: usize,
        site: usize,
        place: CounterPlace,
        owned: &'o super::layout::Owned,
    ) -> SiteCode<'o> {
        let survey = self.survey;
        let found = &survey.masks[function].sites[site];
        let inst = &survey.program.insts[found.inst].inst;
        let (_, after) = survey.liveness.around(&survey.program, function, found.block, found.inst);
        SiteCode {
            arch: self.object.target.arch,
            level: self.options.level,
            place,
            owned,
            temps: Temps::default(),
            saved: found.saves_old,
            scc_is_some: scc_tells_new(inst),
            scc_is_live: after.contains(Reg::SCC),
            old_is_nonzero: found.old_is_nonzero,
            vector: found.kind == Narrowing::Cmpx,
            id: 0,
        }
    }

    /// The new descriptor and metadata of a kernel, and its prologue with the instruction it stands before.
    fn kernel_edit(
        &self,
        function: usize,
        scheme: Scheme,
        owned: &super::layout::Owned,
        stride: u32,
        sites: Vec<(usize, usize)>,
        highest: &HighestRegisters,
    ) -> Result<(DraftKernel, Prologue), (Reason, String)> {
        let arch = self.object.target.arch;
        let survey = self.survey;
        let kernel = self.kernel(function);
        let original = kernel.descriptor;
        let mut descriptor = original;
        let limit = |error: &dyn std::fmt::Display| (Reason::DescriptorLimit, error.to_string());
        descriptor
            .set_user_sgpr(UserSgpr::KernargSegmentPtr, true)
            .map_err(|error| (Reason::KernargPointer, error.to_string()))?;
        descriptor.set_enable_sgpr_workgroup_id_x(true);
        descriptor.set_enable_sgpr_workgroup_id_y(true);
        descriptor.set_enable_sgpr_workgroup_id_z(true);
        descriptor.set_enable_vgpr_workitem_id(2);

        let entry_pc = survey.program.functions[function].range.start;
        let at =
            if original.user_sgprs().kernarg_preload.is_some() { entry_pc + PRELOAD_STUB } else { entry_pc };
        let at = survey.program.at(at).ok_or_else(|| {
            let detail =
                format!("no code follows the {PRELOAD_STUB} bytes for firmware that does not preload");
            (Reason::KernargPreload, detail)
        })?;
        let in_stub =
            |&(from, site): &(usize, usize)| from == function && survey.masks[from].sites[site].inst < at;
        if sites.iter().any(in_stub) {
            let detail = "a branch stands in the code for firmware that does not preload".to_owned();
            return Err((Reason::KernargPreload, detail));
        }

        let kernarg = kernel.metadata.kernarg_segment_size.max(original.kernarg_size());
        if kernarg > KernelMetadata::MAX_KERNARG_SEGMENT {
            return Err((Reason::DescriptorLimit, format!("a kernarg segment of {kernarg} bytes")));
        }
        let buffer_argument = kernarg.next_multiple_of(8);
        let kernarg_segment_size = buffer_argument + 8;
        descriptor.set_kernarg_size(kernarg_segment_size);
        let entry = Entry {
            arch,
            original,
            instrumented: descriptor,
            owned,
            keep_offsets: scheme == Scheme::Memory,
            buffer_argument,
            record_stride: stride,
        };
        let prologue = entry.code().map_err(encoding)?;
        let mut highest = highest.clone();
        highest.see(&Patch { entry: prologue.clone(), ..Patch::default() }, arch);

        // SGPRs.
        let sgprs_needed = highest.sgprs.max(entry.sgprs()) + SPECIAL_SGPRS;
        let allotted_sgprs = original.sgpr_count(arch);
        if sgprs_needed > allotted_sgprs {
            descriptor.set_sgpr_count(arch, sgprs_needed).map_err(|error| limit(&error))?;
        }
        let sgpr_count = kernel.metadata.sgpr_count.max(sgprs_needed);

        // VGPRs: the AGPRs, where they share the file, start after the VGPRs.
        let ids = if arch.is_gfx90a_plus() { 1 } else { 3 };
        let vgprs_needed = highest.vgprs.max(ids);
        let registers = original.vector_registers(arch);
        let metadata = &kernel.metadata;
        let mut vgpr_count = metadata.vgpr_count;
        if vgprs_needed > registers.vgprs {
            let agprs = match original.accum_offset(arch) {
                // The note knows how many of the allotted AGPRs are used.
                Some(_) if metadata.agpr_count > 0 => metadata.agpr_count.min(registers.agprs),
                Some(_) => survey.agprs(&survey.reachable[function]).min(registers.agprs),
                None => 0,
            };
            let offset = vgprs_needed.next_multiple_of(4);
            if original.accum_offset(arch).is_some() {
                descriptor.set_accum_offset(arch, offset).map_err(|error| limit(&error))?;
            }
            let all = if agprs > 0 { offset + agprs } else { vgprs_needed };
            descriptor
                .set_vgpr_count(arch, all.max(original.vgpr_count(arch)))
                .map_err(|error| limit(&error))?;
            vgpr_count = vgpr_count.max(all);
        } else if metadata.agpr_count == 0 || original.accum_offset(arch).is_none() {
            vgpr_count = vgpr_count.max(vgprs_needed);
        }

        let before = Resources::of(metadata);
        let after = Resources { sgprs: sgpr_count, vgprs: vgpr_count, ..before };
        let cost = Cost {
            sgprs: [metadata.sgpr_count, sgpr_count],
            vgprs: [metadata.vgpr_count, vgpr_count],
            occupancy: Occupancy {
                before: occupancy(arch, &before).waves_per_simd,
                after: occupancy(arch, &after).waves_per_simd,
            },
            ..Cost::default()
        };
        let argument = KernelArg {
            name: Some("amdinst_buffer".to_owned()),
            offset: buffer_argument,
            size: 8,
            value_kind: "global_buffer".to_owned(),
            address_space: Some("global".to_owned()),
        };
        let edit = KernelEdit {
            kernel: kernel.name.clone(),
            descriptor,
            metadata: MetadataEdit {
                kernarg_segment_size: Some(kernarg_segment_size),
                sgpr_count: Some(sgpr_count),
                vgpr_count: Some(vgpr_count),
                append_args: vec![argument],
                ..MetadataEdit::default()
            },
        };
        let drafted = DraftKernel { scheme, why: String::new(), stride, buffer_argument, cost, sites, edit };
        Ok((drafted, (at, prologue)))
    }

    fn finish(&self, draft: Draft, relocated: Option<Relocated>, sources: &Sources) -> Plan {
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
        Plan { kernels, edits, relocated }
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
        let survey = self.survey;
        let program = &survey.program;
        let arch = program.arch;
        let kernel = self.kernel(function);
        // Without a plan, list the sites there are.
        let listed: Vec<(usize, usize)> = match drafted {
            Some(drafted) => drafted.sites.clone(),
            None => survey.reachable[function]
                .iter()
                .flat_map(|&reached| (0..survey.masks[reached].sites.len()).map(move |site| (reached, site)))
                .collect(),
        };
        let mut sites: Vec<Site> = Vec::new();
        for (id, (owner, site)) in listed.into_iter().enumerate() {
            // The record has room for every shared function's sites; those of functions that this kernel never calls
            // stay zero in it.
            if !survey.reachable[function].contains(&owner) {
                continue;
            }
            let found = &survey.masks[owner].sites[site];
            let located = &program.insts[found.inst];
            sites.push(Site {
                id: id as u32,
                kind: match found.kind {
                    Narrowing::If => SiteKind::If,
                    Narrowing::LoopExit => SiteKind::LoopExit,
                    Narrowing::Cmpx => SiteKind::Cmpx,
                },
                pc: located.pc,
                new_pc: relocated.and_then(|new| new.instruction(located.pc)).unwrap_or_default(),
                instruction: located.inst.text(arch).to_string(),
                frames: sources.frames(located.pc),
                name: None,
                loop_depth: found.loop_depth,
                function: program.functions[owner].name.clone(),
                else_pcs: found.else_insts.iter().map(|&inst| program.insts[inst].pc).collect(),
            });
        }
        let (mut uniform, mut exec_writes) = (Vec::new(), Vec::new());
        let mut all_refusals = refusals.to_vec();
        for &reached in &survey.reachable[function] {
            let masks = &survey.masks[reached];
            for &inst in &masks.uniform {
                let located = &program.insts[inst];
                uniform.push(UniformBranch {
                    pc: located.pc,
                    instruction: located.inst.text(arch).to_string(),
                    frames: sources.frames(located.pc),
                    name: None,
                    function: program.functions[reached].name.clone(),
                });
            }
            for &(inst, class) in &masks.writes {
                exec_writes.push(ExecWrite { pc: program.insts[inst].pc, class: class_of(class) });
            }
            all_refusals.extend(survey.unclassified(reached));
            all_refusals.extend(draft.site_refusals.get(&reached).into_iter().flatten().cloned());
        }
        let mut locations = || {
            let blocks =
                survey.reachable[function].iter().flat_map(|&reached| &program.functions[reached].blocks);
            let insts = blocks.flat_map(|block| block.insts.clone());
            insts.map(|index| sources.frames(program.insts[index].pc)).collect()
        };
        // Only the probes that stand in this kernel or in what it calls; all if the source does not tell.
        let probes =
            self.options.probes.iter().filter(|probe| in_kernel(probe, kernel, self.object)).cloned();
        let probes: Vec<_> = probes.collect();
        let probes = probes::assign(&probes, &mut sites, &mut uniform, &mut locations);
        KernelProbes {
            name: kernel.name.clone(),
            home: drafted.map(|drafted| drafted.scheme.home()),
            why: drafted.map_or_else(
                || {
                    if refusals.is_empty() {
                        "it has no site".to_owned()
                    } else {
                        "it was refused".to_owned()
                    }
                },
                |drafted| drafted.why.clone(),
            ),
            level: self.options.level,
            buffer_argument: drafted.map(|drafted| drafted.buffer_argument),
            kernarg_segment_size: drafted
                .map_or(kernel.metadata.kernarg_segment_size, |drafted| drafted.buffer_argument + 8),
            record_stride: drafted.map_or(0, |drafted| drafted.stride),
            cost: drafted.map(|drafted| drafted.cost.clone()).unwrap_or_default(),
            sites,
            uniform,
            exec_writes,
            probes,
            refusals: all_refusals,
        }
    }
}

/// Whether a probe may concern a kernel: probes in another kernel's own source do not.
fn in_kernel(probe: &super::ProbeSpec, kernel: &Kernel, object: &CodeObject) -> bool {
    // Its path may be written out, and the kernel's symbol is the last part of it.
    let function = probe.function.rsplit("::").next().unwrap_or(&probe.function);
    function == kernel.name || object.kernels.iter().all(|other| other.name != function)
}

/// A probe of a function that several kernels could call concerns those in whose code it was found. One that was
/// found nowhere stays listed as removed with every kernel, so that it is never silently gone.
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

fn encoding(error: crate::isa::EncodeError) -> (Reason, String) {
    (Reason::DescriptorLimit, format!("the probe cannot be encoded: {error}"))
}

const fn described(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Sgprs => "counters in SGPRs",
        Scheme::VgprLanes => "counters in lanes of VGPRs",
        Scheme::Memory => "counters in memory",
    }
}

fn why(scheme: Scheme, keeps_occupancy: bool, passed: &[String], asked_for: bool) -> String {
    let mut text = described(scheme).to_owned();
    text.push_str(match (asked_for, keeps_occupancy) {
        (true, true) => ", as asked for",
        (true, false) => ", as asked for; they lower occupancy",
        (false, true) => " fit without lowering occupancy",
        (false, false) => ": no other way keeps occupancy either",
    });
    for reason in passed {
        text.push_str("; ");
        text.push_str(reason);
    }
    text
}

/// The highest registers that inserted code uses, plus one.
#[derive(Clone, Debug, Default)]
struct HighestRegisters {
    sgprs: u32,
    vgprs: u32,
}

impl HighestRegisters {
    fn see(&mut self, patch: &Patch, arch: crate::Arch) {
        for inst in patch.entry.iter().chain(&patch.before).chain(&patch.after) {
            let effects = inst.effects(arch);
            let mut all: RegSet = effects.reads;
            all.union_with(&effects.writes);
            all.union_with(&effects.partial);
            for reg in all.iter() {
                if let Some(number) = reg.as_sgpr() {
                    self.sgprs = self.sgprs.max(u32::from(number) + 1);
                } else if let Some(number) = reg.as_vgpr() {
                    self.vgprs = self.vgprs.max(u32::from(number) + 1);
                }
            }
        }
    }
}

/// What was added to a function.
#[derive(Clone, Debug, Default)]
struct Added {
    /// Least and most instructions of a site.
    per_site: [u32; 2],
    sites: u32,
    epilogue: u32,
    bytes: u64,
}

impl Added {
    fn site(&mut self, before: &[crate::isa::Inst], after: &[crate::isa::Inst]) {
        let count = (before.len() + after.len()) as u32;
        self.per_site = match self.sites {
            0 => [count; 2],
            _ => [self.per_site[0].min(count), self.per_site[1].max(count)],
        };
        self.sites += 1;
        self.bytes += bytes(before) + bytes(after);
    }

    fn exit(&mut self, code: &[crate::isa::Inst]) {
        self.epilogue = self.epilogue.max(code.len() as u32);
        self.bytes += bytes(code);
    }

    fn add(&mut self, other: Option<&Self>) {
        let Some(other) = other else { return };
        if other.sites > 0 {
            self.per_site = match self.sites {
                0 => other.per_site,
                _ => [self.per_site[0].min(other.per_site[0]), self.per_site[1].max(other.per_site[1])],
            };
        }
        self.sites += other.sites;
        self.epilogue = self.epilogue.max(other.epilogue);
        self.bytes += other.bytes;
    }
}

fn bytes(code: &[crate::isa::Inst]) -> u64 {
    code.iter().map(|inst| u64::from(inst.size)).sum()
}
