//! Registers, code and cost of a group of kernels in one scheme.

use std::collections::BTreeMap;
use std::iter::{repeat, repeat_n};

use super::cost::{Added, bytes};
use super::groups::KernelGroup;
use super::later::At;
use super::prepared::Prepared;
use super::properties::Counting;
use super::{Draft, NoPlan, Planner};
use crate::analysis::modes::Modes;
use crate::analysis::program;
use crate::instrument::emit::assembler::{Assembled, HighestRegisters};
use crate::instrument::emit::block::BlockCode;
use crate::instrument::emit::borrowed::SCRATCH_OPERATIONS;
use crate::instrument::emit::entry::Left;
use crate::instrument::emit::exit::Exit;
use crate::instrument::emit::sequence::{EmitError, Sequence};
use crate::instrument::emit::site::{BASIC_COUNTERS, SiteCode};
use crate::instrument::emit::workgroup::WorkgroupIds;
use crate::instrument::find::points::{Point, What};
use crate::instrument::find::survey::Survey;
use crate::instrument::options::{Abi, Level, Probe};
use crate::instrument::place::patches::{Patch, Patches};
use crate::instrument::place::{announced, hazards};
use crate::instrument::refusal::Reason;
use crate::instrument::registers::allocate::{Allocation, Deferring, Request};
use crate::instrument::registers::layout::{BorrowedVgprs, CounterPlace, Reserved, SgprCounters, Temps};
use crate::instrument::registers::needs::Counted;
use crate::instrument::registers::scheme::{Borrow, Scheme, SeedPlace};
use crate::instrument::registers::stores;
use crate::instrument::seed::{self, SeedRegisters};

/// A group of kernels that gets its code in one scheme.
struct Attempt<'a, 'p> {
    planner: &'a Planner<'p>,
    group: &'a KernelGroup,
    prepared: &'a Prepared<'p>,
    scheme: Scheme,
    reserved: Reserved,
    /// Registers of a scheme of 2022, if it is one.
    seed: Option<SeedRegisters>,
    /// Where counters are: those of the shared functions' points, then those of a kernel's own.
    places: Vec<CounterPlace>,
    /// By point: where its counters are among the places.
    ids: Vec<usize>,
    /// Where each kernel works out the address of its records before waves end, if all can: functions that
    /// end waves do not know for which.
    offsets: Option<BTreeMap<usize, At>>,
    /// By kernel: how many instructions do later what its prologue leaves, and what that is.
    later: BTreeMap<usize, (u32, Left)>,
    /// A function that kernels call ends waves: it does not know for which kernel, and writes the longest
    /// record.
    functions_end: bool,
    draft: Draft,
}

impl<'p> Planner<'p> {
    /// Registers, code and cost of a group in one scheme; `borrow` says what sites may use of what is in use.
    pub(super) fn attempt(
        &self,
        group: &KernelGroup,
        prepared: &Prepared<'p>,
        scheme: Scheme,
        borrow: Borrow,
    ) -> Result<Draft, NoPlan> {
        let (Allocation { reserved, places, temps }, seed) =
            self.registers(group, prepared, scheme, borrow)?;
        let offsets =
            || group.kernels.iter().map(|&kernel| Some((kernel, self.place_for_offset(kernel)?))).collect();
        let points = prepared.points().iter().map(|(_, point)| point.inst);
        let ends = group.patched().flat_map(|function| self.ends(function));
        let mut attempt = Attempt {
            planner: self,
            group,
            prepared,
            scheme,
            offsets: reserved.deferred.is_some().then(offsets).flatten(),
            reserved,
            seed,
            places,
            ids: prepared.ids(),
            later: BTreeMap::new(),
            functions_end: group.shared.iter().any(|&function| self.survey.ends_waves(function)),
            draft: Draft { patches: Patches::at(points.chain(ends).collect()), ..Draft::default() },
        };
        let borrowed_sgprs = temps.iter().map(|temps| temps.borrowed.len()).max().unwrap_or(0) as u32;
        attempt.count(temps)?;
        attempt.write_records()?;
        attempt.leave_for_later()?;
        attempt.edit_kernels()?;
        attempt.keep_apart()?;
        attempt.add_up(borrowed_sgprs);
        Ok(attempt.draft)
    }

    /// The registers of a group in one scheme.
    fn registers(
        &self,
        group: &KernelGroup,
        prepared: &Prepared<'_>,
        scheme: Scheme,
        borrow: Borrow,
    ) -> Result<(Allocation, Option<SeedRegisters>), NoPlan> {
        let (probe, level) = (self.options.probe, self.options.level);
        if scheme.is_seed() && self.options.abi != Abi::Argument {
            let detail = "the schemes of 2022 have the buffer's address as an argument".to_owned();
            return Err(NoPlan::Refused(Reason::CountersDoNotFit, detail));
        }
        let may_defer = scheme == Scheme::Sgprs
            && prepared.far == 0
            && !group.functions.iter().any(|&function| self.survey.modes.concerns(function))
            && self.options.abi == Abi::Argument
            && probe == Probe::Branches;
        let deferring = || self.deferring(group);
        let request = Request {
            scheme,
            borrow,
            probe,
            level,
            sites: prepared.total,
            far: prepared.far,
            may_defer: if may_defer { Some(&deferring) } else { None },
            scratch: (borrow == Borrow::Scratch).then(|| self.scratch_slots(group)).transpose()?,
        };
        // What a site needs depends on where its counters are, not on which registers these are.
        let place = match scheme {
            Scheme::Sgprs if probe == Probe::Blocks => {
                CounterPlace::BlockSgprs { executions: 0, lanes: None }
            }
            Scheme::Sgprs => CounterPlace::Sgprs(SgprCounters::new(&[0; 5])),
            Scheme::VgprLanes => CounterPlace::Lanes { vgpr: 0, first: 0 },
            Scheme::Lds => CounterPlace::Lds,
            Scheme::Memory | Scheme::Seed(_) => CounterPlace::Memory,
        };
        // Those of 2022 take as much at each level.
        let level = if scheme.is_seed() { Level::Lanes } else { level };
        let places = repeat_n(CounterPlace::Memory, prepared.far).chain(repeat(place));
        let needs = prepared.counted.iter().zip(places).map(|(counted, place)| counted.needs(place, level));
        let needs = needs.collect();
        let component = &prepared.component;
        if let Scheme::Seed(place) = scheme {
            let (allocation, seed) = seed::allocate(component, request, place, needs)?;
            return Ok((allocation, Some(seed)));
        }
        Ok((component.allocate(request, needs)?, None))
    }

    /// What working out the address of records late can make use of; none if a kernel does not get what it
    /// takes.
    fn deferring(&self, group: &KernelGroup) -> Option<Deferring> {
        let ids: Option<Vec<WorkgroupIds>> =
            group.kernels.iter().map(|&kernel| self.workgroup_ids(kernel)).collect();
        let workgroup_ids = ids?.into_iter().filter_map(WorkgroupIds::sgprs).flatten().collect();
        // A site that several kernels share has one form for all.
        let forms = match group.kernels.first() {
            Some(&kernel) if group.shared.is_empty() && group.kernels.len() == 1 => self.site_forms(kernel),
            _ => Vec::new(),
        };
        Some(Deferring { workgroup_ids, forms })
    }

    /// Refuses a point where vector instructions may do something else than they say, if it counts by some or
    /// counts some.
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
        blocks
            .filter(|block| block.exit == program::Exit::End)
            .map(|block| self.survey.program.last_with_registers(block))
    }
}

impl Attempt<'_, '_> {
    /// Inserts what counts at each point.
    fn count(&mut self, temps: Vec<Temps>) -> Result<(), NoPlan> {
        let (points, counted) = (self.prepared.points(), &self.prepared.counted);
        for (number, temps) in temps.into_iter().enumerate() {
            let (function, point) = points[number];
            let patch = self.draft.patches.entry(point.inst);
            let (assembler, reserved, seed) = (&self.planner.assembler, &self.reserved, self.seed.as_ref());
            let (place, id) = (self.places[self.ids[number]], self.ids[number] as u32);
            let at_point = |error: EmitError| NoPlan::from(error).at(point.inst);
            match counted[number] {
                Counted::Site(facts) => {
                    let level = self.planner.options.level;
                    let code = SiteCode { assembler, level, place, reserved, temps, facts, id };
                    patch.before = code.before().map_err(at_point)?;
                    let after = seed.map_or_else(|| code.after(), |seed| seed.after(&code));
                    patch.after = after.map_err(at_point)?;
                }
                Counted::Block { .. } => {
                    let code = BlockCode { assembler, place, reserved, temps, id };
                    patch.before = code.code().map_err(at_point)?;
                }
            }
            self.planner.check_modes(function, point, patch)?;
        }
        Ok(())
    }

    /// How many points' counters are in a record that is written in a function.
    fn written(&self, function: usize) -> usize {
        let is_kernel = self.planner.survey.program.functions[function].kernel.is_some();
        if is_kernel && !self.functions_end {
            self.prepared.room(function).len() + self.planner.points.of(function).len()
        } else {
            self.prepared.total
        }
    }

    /// Inserts what writes the records where waves end.
    fn write_records(&mut self) -> Result<(), NoPlan> {
        let planner = self.planner;
        for function in self.group.patched() {
            let exit = Exit {
                arch: planner.object.target.arch,
                assembler: &planner.assembler,
                probe: planner.options.probe,
                home: self.scheme.home(),
                level: planner.options.level,
                reserved: &self.reserved,
                places: &self.places[..self.written(function)],
                early: self.offsets.is_some(),
            };
            let code = match &self.seed {
                Some(seed) => seed.epilogue(&planner.assembler, &self.reserved)?,
                None => exit.code()?,
            };
            for end in planner.ends(function) {
                let patch = self.draft.patches.entry(end);
                // After what counts the block that ends here.
                if !patch.before.is_empty() {
                    self.draft.counting_ends.insert(end, patch.before.len());
                }
                patch.before.extend(planner.plain_mode(function, end)?);
                patch.before.extend(code.iter().cloned());
            }
        }
        Ok(())
    }

    /// Inserts what prologues leave for later.
    fn leave_for_later(&mut self) -> Result<(), NoPlan> {
        let Some(deferred) = &self.reserved.deferred else { return Ok(()) };
        for &kernel in &self.group.kernels {
            let points = self.prepared.points().iter().zip(&self.ids);
            let own = points.filter(|((function, _), _)| *function == kernel);
            let counts = own.filter(|&(_, &id)| self.places[id].starts_at_zero());
            let counts: Vec<Point> = counts.map(|(&(_, point), _)| point).collect();
            let at = self.offsets.as_ref().and_then(|offsets| offsets.get(&kernel).copied());
            let registers = (deferred, &self.reserved.counters[..]);
            let left = self.planner.later(&mut self.draft, kernel, at, &counts, registers)?;
            self.later.insert(kernel, left);
        }
        Ok(())
    }

    /// Makes the new descriptor, metadata and prologue of each kernel.
    fn edit_kernels(&mut self) -> Result<(), NoPlan> {
        for &kernel in &self.group.kernels {
            let highest = self.highest(kernel);
            let count = self.written(kernel);
            let own = self.planner.points.of(kernel).iter().map(|&point| (kernel, point));
            let counting = Counting {
                scheme: self.scheme,
                reserved: &self.reserved,
                seed: self.seed.as_ref(),
                counted: count as u32,
                packing: self.reserved.packed.then(|| stores::packing(&self.places[..count])).flatten(),
                points: self.prepared.room(kernel).iter().copied().chain(own).collect(),
                highest,
                left: self.later.get(&kernel).map(|&(_, left)| left).unwrap_or_default(),
            };
            let (drafted, entries) = self.planner.kernel_edit(kernel, counting)?;
            self.draft.patches.entry(entries.at).entry = entries.prologue;
            if let Some((first, stub)) = entries.stub {
                self.draft.patches.entry(first).instead = stub;
            }
            self.draft.kernels.insert(kernel, drafted);
        }
        Ok(())
    }

    /// The highest registers of what is inserted where the waves of a kernel may come by.
    fn highest(&self, kernel: usize) -> HighestRegisters {
        let Survey { program, reachable, .. } = self.planner.survey;
        let comes_by = |&function: &usize| function == kernel || reachable[kernel].contains(&function);
        let mut highest = HighestRegisters::default();
        for function in self.group.patched().filter(comes_by) {
            let blocks = program.functions[function].blocks.iter();
            for (_, patch) in blocks.flat_map(|block| self.draft.patches.range(block.insts.clone())) {
                highest.see(patch.before.iter().chain(&patch.after));
            }
        }
        highest
    }

    /// Adds the wait states that all this needs.
    fn keep_apart(&mut self) -> Result<(), NoPlan> {
        let Planner { survey, assembler, hazards, .. } = self.planner;
        for function in self.group.patched() {
            let code = (&survey.program.functions[function], survey.summary(function).slow);
            hazards::settle(hazards, assembler, code, &mut self.draft.patches)?;
            announced::take_back(&survey.program, assembler, code.0, &mut self.draft.patches)?;
        }
        Ok(())
    }

    /// Fills in what each kernel costs.
    fn add_up(&mut self, borrowed_sgprs: u32) {
        let added = self.added();
        let (memory, lds) = self.operations();
        let Reserved { borrowed_vgprs, scratch, .. } = self.reserved;
        for (kernel, drafted) in &mut self.draft.kernels {
            let mut sum = added.get(kernel).cloned().unwrap_or_default();
            for function in self.planner.survey.reachable[*kernel].intersection(&self.group.shared) {
                sum.add(added.get(function));
            }
            let prologue = self.draft.patches.get(drafted.entry).map_or(&[][..], |patch| &patch.entry);
            let later = self.later.get(kernel).map_or(0, |&(count, _)| count);
            let cost = &mut drafted.cost;
            cost.instructions_per_site = sum.per_site;
            cost.memory_operations_per_site = memory;
            cost.lds_operations_per_site = lds;
            cost.epilogue = sum.epilogue;
            cost.prologue = prologue.len() as u32 + later;
            cost.code_bytes = sum.bytes + bytes(prologue);
            cost.borrowed_sgprs = borrowed_sgprs;
            cost.borrowed_vgprs = borrowed_vgprs.vgprs() + u32::from(scratch.is_some());
        }
    }

    /// What was inserted in each function.
    fn added(&self) -> BTreeMap<usize, Added> {
        let Self { planner, draft, .. } = self;
        let mut added: BTreeMap<usize, Added> = BTreeMap::new();
        for function in self.group.patched() {
            let sum = added.entry(function).or_default();
            for point in planner.points.of(function) {
                if let Some(patch) = draft.patches.get(point.inst) {
                    sum.site(draft.counting_and_exit(point.inst, patch).0, &patch.after);
                }
            }
            for end in planner.ends(function) {
                if let Some(patch) = draft.patches.get(end) {
                    let (counting, exit) = draft.counting_and_exit(end, patch);
                    sum.exit(if exit.is_empty() { counting } else { exit });
                }
            }
        }
        added
    }

    /// Operations on memory, and on LDS, that an execution of a site takes.
    fn operations(&self) -> (u32, u32) {
        let (probe, level) = (self.planner.options.probe, self.planner.options.level);
        let one_by_one = match (self.reserved.borrowed_vgprs, level, probe) {
            (BorrowedVgprs::Both, Level::Lanes, probe) => probe.words(),
            (BorrowedVgprs::Both, Level::Basic, Probe::Branches) => BASIC_COUNTERS,
            _ => 1,
        };
        let counts = probe != Probe::Time;
        let (memory, lds) = match self.scheme {
            Scheme::Memory if counts => (one_by_one, 0),
            // At most: in what only pointers reach.
            Scheme::Sgprs | Scheme::VgprLanes if self.prepared.far > 0 => (1, 0),
            Scheme::Lds if counts => (0, 1),
            Scheme::Seed(SeedPlace::Memory) => (seed::OPERATIONS, 0),
            Scheme::Seed(SeedPlace::Lds) => (0, seed::OPERATIONS),
            _ => (0, 0),
        };
        let scratch = if self.reserved.scratch.is_some() { SCRATCH_OPERATIONS } else { 0 };
        (memory + scratch, lds)
    }
}
