//! What a plan tells of each kernel: its part of the probe map.

use super::{Draft, DraftKernel, Plan, Planner};
use crate::analysis::masks::{Narrowing, OtherWrite};
use crate::instrument::map::{
    ExecWrite, ExecWriteClass, KernelProbes, ProbeOutcome, ProbeResult, Site, SiteKind, UniformBranch,
};
use crate::instrument::options::ProbeSpec;
use crate::instrument::probes;
use crate::instrument::refusal::Refusal;
use crate::instrument::relocate::Relocated;
use crate::instrument::sources::Sources;
use crate::object::{CodeObject, Kernel};

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
fn in_kernel(probe: &ProbeSpec, kernel: &Kernel, object: &CodeObject) -> bool {
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
