//! Registers, code and cost of a group of kernels in one scheme.

use std::collections::BTreeMap;

use super::cost::{Added, bytes};
use super::groups::KernelGroup;
use super::later::At;
use super::prepared::{Counted, Prepared};
use super::{Draft, NoPlan, Planner};
use crate::analysis::modes::Modes;
use crate::analysis::program;
use crate::instrument::allocate::{Allocation, Borrow, Deferring, Request, Scheme};
use crate::instrument::assembler::{Assembled, HighestRegisters};
use crate::instrument::block_code::BlockCode;
use crate::instrument::borrowed::SCRATCH_OPERATIONS;
use crate::instrument::entry::Left;
use crate::instrument::exit::Exit;
use crate::instrument::hazards;
use crate::instrument::layout::{BorrowedVgprs, CounterPlace, SgprCounters};
use crate::instrument::options::{Abi, Level, Probe};
use crate::instrument::patches::Patches;
use crate::instrument::points::{Point, What};
use crate::instrument::refusal::Reason;
use crate::instrument::relocate::Patch;
use crate::instrument::seed::{self, SeedPlace};
use crate::instrument::sequence::Sequence;
use crate::instrument::site_code::{BASIC_COUNTERS, SiteCode};
use crate::instrument::stores;
use crate::instrument::survey::Survey;

impl Planner<'_> {
    /// Registers, code and cost of a group in one scheme; `borrow` says what sites may use of what is in use.
    pub(super) fn attempt(
        &self,
        group: &KernelGroup,
        prepared: &Prepared<'_>,
        scheme: Scheme,
        borrow: Borrow,
    ) -> Result<Draft, NoPlan> {
        let survey = self.survey;
        let (arch, level) = (self.object.target.arch, self.options.level);
        if scheme.is_seed() && self.options.abi != Abi::Argument {
            let detail = "the schemes of 2022 have the buffer's address as an argument".to_owned();
            return Err(NoPlan::Refused(Reason::CountersDoNotFit, detail));
        }
        let Prepared { points, shared, total, counted, component } = prepared;
        let (shared, total) = (*shared, *total);
        let may_defer = scheme == Scheme::Sgprs
            && !group.functions.iter().any(|&function| survey.modes.concerns(function))
            && self.options.abi == Abi::Argument
            && self.options.probe == Probe::Branches;
        let deferring = || {
            let ids = group.kernels.iter().map(|&kernel| self.workgroup_ids(kernel));
            // A site that several kernels share has one form for all.
            let forms = match group.kernels.first() {
                Some(&kernel) if group.shared.is_empty() && group.kernels.len() == 1 => {
                    self.site_forms(kernel)
                }
                _ => Vec::new(),
            };
            Some(Deferring { workgroup_ids: ids.collect::<Option<Vec<_>>>()?.concat(), forms })
        };
        let request = Request {
            scheme,
            borrow,
            probe: self.options.probe,
            level,
            sites: total,
            may_defer: if may_defer { Some(&deferring) } else { None },
            scratch: (borrow == Borrow::Scratch).then(|| self.scratch_slots(group)).transpose()?,
        };
        // What a site needs depends on where its counters are, not on which registers these are.
        let probe_place = match scheme {
            Scheme::Sgprs if self.options.probe == Probe::Blocks => {
                CounterPlace::BlockSgprs { executions: 0, lanes: None }
            }
            Scheme::Sgprs => CounterPlace::Sgprs(SgprCounters::new(&[0; 5])),
            Scheme::VgprLanes => CounterPlace::Lanes { vgpr: 0, first: 0 },
            Scheme::Lds => CounterPlace::Lds,
            Scheme::Memory => CounterPlace::Memory,
            Scheme::Seed(_) => CounterPlace::Seed,
        };
        let needs = counted.iter().map(|counted| counted.needs(probe_place, level)).collect();
        let Allocation { reserved, places, temps } = component.allocate(request, needs)?;

        // Where each kernel works out the address of its records before waves end, if all can: functions that end waves do not know
        // for which.
        let offsets =
            || group.kernels.iter().map(|&kernel| Some((kernel, self.place_for_offset(kernel)?))).collect();
        let offsets: Option<BTreeMap<usize, At>> = reserved.deferred.is_some().then(offsets).flatten();

        let functions = || group.kernels.iter().chain(&group.shared).copied();
        let ends = functions().flat_map(|function| self.ends(function));
        let patches = Patches::at(points.iter().map(|(_, point)| point.inst).chain(ends).collect());
        let mut draft = Draft { patches, ..Draft::default() };
        // Where the counters of each point are among the places.
        let mut ids = Vec::with_capacity(points.len());
        // The kernel whose own points these are, and where the first of them is.
        let mut own = (None, shared);
        let borrowed_sgprs = temps.iter().map(|temps| temps.borrowed.len()).max().unwrap_or(0) as u32;
        for (number, ((&(function, point), counted), temps)) in
            points.iter().zip(counted).zip(temps).enumerate()
        {
            let id = if number < shared {
                number
            } else {
                if own.0 != Some(function) {
                    own = (Some(function), number);
                }
                shared + number - own.1
            };
            ids.push(id);
            let patch = draft.patches.entry(point.inst);
            let (assembler, reserved, place, id) = (&self.assembler, &reserved, places[id], id as u32);
            match *counted {
                Counted::Site(facts) => {
                    let code = SiteCode { assembler, level, place, reserved, temps, facts, id };
                    patch.before = code.before().map_err(|error| NoPlan::from(error).at(point.inst))?;
                    patch.after = code.after().map_err(|error| NoPlan::from(error).at(point.inst))?;
                }
                Counted::Block { .. } => {
                    let code = BlockCode { assembler, place, reserved, temps, id };
                    patch.before = code.code().map_err(|error| NoPlan::from(error).at(point.inst))?;
                }
            }
            self.check_modes(function, point, patch)?;
        }

        // A function that ends waves does not know for which kernel: it writes the longest record.
        let functions_end = group.shared.iter().any(|&function| survey.ends_waves(function));
        for function in functions() {
            let own = self.points.of(function).len();
            let is_kernel = survey.program.functions[function].kernel.is_some();
            let written = if is_kernel && !functions_end { shared + own } else { total };
            let exit = Exit {
                arch,
                assembler: &self.assembler,
                probe: self.options.probe,
                home: scheme.home(),
                level,
                reserved: &reserved,
                places: &places[..written],
                early: offsets.is_some(),
            };
            let code = exit.code()?;
            for end in self.ends(function) {
                let patch = draft.patches.entry(end);
                // After what counts the block that ends here.
                if !patch.before.is_empty() {
                    draft.counting_ends.insert(end, patch.before.len());
                }
                patch.before.extend(self.plain_mode(function, end)?);
                patch.before.extend(code.iter().cloned());
            }
        }
        let counted = |kernel: usize| match functions_end {
            true => total,
            false => shared + self.points.of(kernel).len(),
        };
        let mut later: BTreeMap<usize, (u32, Left)> = BTreeMap::new();
        if let Some(deferred) = &reserved.deferred {
            for &kernel in &group.kernels {
                let own = points.iter().zip(&ids).filter(|((function, _), _)| *function == kernel);
                let counts =
                    own.filter(|&(_, &id)| places[id].starts_at_zero()).map(|(&(_, point), _)| point);
                let at = offsets.as_ref().and_then(|offsets| offsets.get(&kernel).copied());
                let left = self.later(
                    &mut draft,
                    kernel,
                    at,
                    &counts.collect::<Vec<_>>(),
                    (deferred, &reserved.counters),
                )?;
                later.insert(kernel, left);
            }
        }
        let mut highest = HighestRegisters::default();
        for (_, patch) in draft.patches.iter() {
            highest.see(patch.before.iter().chain(&patch.after));
        }
        for &kernel in &group.kernels {
            let own = self.points.of(kernel).iter().map(|&point| (kernel, point));
            let points = points[..shared].iter().copied().chain(own).collect();
            let left = later.get(&kernel).map(|&(_, left)| left).unwrap_or_default();
            let count = counted(kernel);
            let packing = if reserved.packed { stores::packing(&places[..count]) } else { None };
            let counts = (count as u32, packing, points);
            let (drafted, entries) = self.kernel_edit(kernel, scheme, &reserved, counts, &highest, left)?;
            draft.patches.entry(entries.at).entry = entries.prologue;
            if let Some((first, stub)) = entries.stub {
                draft.patches.entry(first).instead = stub;
            }
            draft.kernels.insert(kernel, drafted);
        }
        for function in functions() {
            let code = (&survey.program.functions[function], survey.summary(function).slow);
            hazards::settle(&self.hazards, &self.assembler, code, &mut draft.patches)?;
        }
        self.add_up(group, scheme, reserved.borrowed_vgprs, &mut draft);
        for (number, kernel) in &mut draft.kernels {
            kernel.cost.prologue += later.get(number).map_or(0, |&(count, _)| count);
            kernel.cost.borrowed_sgprs = borrowed_sgprs;
            kernel.cost.borrowed_vgprs =
                reserved.borrowed_vgprs.vgprs() + u32::from(reserved.scratch.is_some());
            if reserved.scratch.is_some() {
                kernel.cost.memory_operations_per_site += SCRATCH_OPERATIONS;
            }
        }
        Ok(draft)
    }

    /// Refuses a point where vector instructions may do something else than they say, if it counts by some or counts some.
    fn check_modes(&self, function: usize, point: Point, patch: &Patch) -> Result<(), NoPlan> {
        let Survey { program, modes, .. } = self.survey;
        if !modes.concerns(function) {
            return Ok(());
        }
        let before = |inst: usize| modes.before(program, function, point.block, inst);
        let on = before(point.inst);
        // What is skipped does not run, though it is come by.
        let skips =
            |inst: usize| before(inst).has(Modes::SKIPPED) && !program.insts[inst].encoding.is_scalar();
        let counts_skipped = match point.what {
            What::Site(_) => skips(point.inst),
            What::Block(stretch) => (stretch.insts.0..stretch.insts.1).any(skips),
        };
        let is_scalar = |inst: &Assembled| inst.encoding.is_scalar();
        let is_plain = on.is_none() || patch.before.iter().chain(&patch.after).all(is_scalar);
        if is_plain && !counts_skipped {
            return Ok(());
        }
        let what = if counts_skipped || on.has(Modes::SKIPPED) {
            "vector instructions may be skipped (MODE.VSKIP)"
        } else {
            "VGPRs may be addressed by an index (`s_set_gpr_idx_on`)"
        };
        let (name, pc) = (&program.functions[function].name, program.insts[point.inst].pc);
        let detail = format!("in `{name}` at {pc:#x}: {what}, so nothing can be counted there");
        Err(NoPlan::Refused(Reason::IndexedRegisters, detail))
    }

    /// What has vector instructions do what they say, before an end of waves where they may not.
    fn plain_mode(&self, function: usize, end: usize) -> Result<Vec<Assembled>, NoPlan> {
        let Survey { program, modes, .. } = self.survey;
        let blocks = &program.functions[function].blocks;
        let block = blocks.partition_point(|block| block.insts.end <= end);
        let on = modes.before(program, function, block, end);
        let mut code = Sequence::new(&self.assembler);
        code.leave_modes(on);
        Ok(code.finish()?)
    }

    /// The instructions of a function at which waves end.
    fn ends(&self, function: usize) -> impl Iterator<Item = usize> {
        let blocks = self.survey.program.functions[function].blocks.iter();
        blocks.filter(|block| block.exit == program::Exit::End).map(|block| block.insts.end - 1)
    }

    /// Fills in what each kernel of a drafted group costs.
    fn add_up(&self, group: &KernelGroup, scheme: Scheme, borrowed_vgprs: BorrowedVgprs, draft: &mut Draft) {
        let survey = self.survey;
        let mut added: BTreeMap<usize, Added> = BTreeMap::new();
        for &function in group.kernels.iter().chain(&group.shared) {
            let sum = added.entry(function).or_default();
            for point in self.points.of(function) {
                if let Some(patch) = draft.patches.get(point.inst) {
                    sum.site(draft.counting_and_exit(point.inst, patch).0, &patch.after);
                }
            }
            for end in self.ends(function) {
                if let Some(patch) = draft.patches.get(end) {
                    let (counting, exit) = draft.counting_and_exit(end, patch);
                    sum.exit(if exit.is_empty() { counting } else { exit });
                }
            }
        }
        for (kernel, drafted) in &mut draft.kernels {
            let mut sum = added.get(kernel).cloned().unwrap_or_default();
            for function in survey.reachable[*kernel].intersection(&group.shared) {
                sum.add(added.get(function));
            }
            let prologue = draft.patches.get(drafted.entry).map_or(&[][..], |patch| &patch.entry);
            drafted.cost.instructions_per_site = sum.per_site;
            let counts = self.options.probe != Probe::Time;
            let operations = match (borrowed_vgprs, self.options.level, self.options.probe) {
                (BorrowedVgprs::Both, Level::Lanes, probe) => probe.words(),
                (BorrowedVgprs::Both, Level::Basic, Probe::Branches) => BASIC_COUNTERS,
                _ => 1,
            };
            let (memory, lds) = match scheme {
                Scheme::Memory if counts => (operations, 0),
                Scheme::Lds if counts => (0, 1),
                Scheme::Seed(SeedPlace::Memory) => (seed::OPERATIONS, 0),
                Scheme::Seed(SeedPlace::Lds) => (0, seed::OPERATIONS),
                _ => (0, 0),
            };
            drafted.cost.memory_operations_per_site = memory;
            drafted.cost.lds_operations_per_site = lds;
            drafted.cost.epilogue = sum.epilogue;
            drafted.cost.prologue = prologue.len() as u32;
            drafted.cost.code_bytes = sum.bytes + bytes(prologue);
        }
    }
}
