//! The model's clock: which SIMD is next, which of its waves issue, and what that takes.
//!
//! Every time at which something completes is known when it begins, so the only events are visits of SIMDs
//! and ends of waves. They are taken in the order of time, then of numbers: one input gives one result.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use amdgpu_isa::{MemoryOperation, Op};
use amdgpu_object::{Resources, occupancy_in_slots};

use super::hierarchy::Hierarchy;
use super::instructions::{self, Category, Instruction, Work};
use super::outcome::{InstructionTime, Timing, WaveTime};
use super::parameters::Parameters;
use super::stall::{Breakdown, Stall};
use super::unit::{FrontCaches, SIMDS, Unit};
use super::wave::Resident;
use crate::check::{Fault, FaultKind, Trap, Wanted};
use crate::dispatch::{Barrier, Shared, run_slice};
use crate::exec::footprint::Footprint;
use crate::lds::Lds;
use crate::memory::is_scratch;
use crate::program::Context;
use crate::record::MaskCounters;
use crate::wave::Status;
use crate::wave::lanes_of;

/// Bytes between the private memories of workgroups, whose device addresses are the same.
const SCRATCH_STRIDE: u64 = 1 << 28;
/// Instructions of a workgroup between two looks whether the launch is to be stopped.
const ASKED: u64 = 1 << 12;
/// Cycles between two rounds of forgetting.
const FORGET: u64 = 1 << 12;

/// A workgroup that is resident.
#[derive(Debug, Default)]
struct ResidentWorkgroup {
    lds: Lds,
    /// Slots of its waves.
    waves: Vec<usize>,
    /// Waves that have neither ended nor left.
    resident: u32,
    /// Instructions that it may still run.
    budget: u64,
}

/// A dispatch under way.
pub(super) struct Engine<'a> {
    shared: &'a Shared<'a>,
    p: &'a Parameters,
    hierarchy: &'a mut Hierarchy,
    instructions: Vec<Instruction>,
    units: Vec<Unit>,
    /// When each launcher can launch another wave. Neighbouring compute units have different ones.
    launch_free: Vec<u64>,
    /// One for some compute units.
    front: &'a mut [FrontCaches],
    waves: Vec<Resident>,
    free_waves: Vec<usize>,
    groups: Vec<ResidentWorkgroup>,
    free_groups: Vec<usize>,
    /// Visits of SIMDs (number: four times the unit's, plus its own) and ends of waves (numbers behind
    /// those).
    events: BinaryHeap<Reverse<(u64, usize)>>,
    /// When each SIMD is visited next; `u64::MAX`: not until something happens.
    visits: Vec<u64>,
    /// Waves that a SIMD holds registers for.
    waves_per_simd: u32,
    lds_bytes: u32,
    /// What scalar registers of waves start with.
    scalars: [u32; 128],
    /// The next workgroup to place.
    next_group: u64,
    next_forget: u64,
    footprint: Footprint,
    timing: Timing,
}

impl<'a> Engine<'a> {
    pub(super) fn new(
        shared: &'a Shared<'a>,
        p: &'a Parameters,
        hierarchy: &'a mut Hierarchy,
        front: &'a mut [FrontCaches],
    ) -> Result<Self, Fault> {
        let arch = shared.program.target.arch;
        let resources = Resources {
            lds_bytes: shared.lds_bytes,
            workgroup_size: shared.launch.block.iter().product(),
            ..Resources::of(arch, &shared.kernel.metadata)
        };
        let slots = arch.limits().waves_per_simd.min(p.waves_per_simd);
        let occupancy = occupancy_in_slots(arch, &resources, slots);
        let waves_per_simd = slots.min(occupancy.by_vgprs).min(occupancy.by_sgprs);
        if shared.waves_per_group > waves_per_simd * SIMDS as u32 {
            let (waves, most) = (shared.waves_per_group, waves_per_simd * SIMDS as u32);
            return Err(Fault::dispatch(
                &shared.launch.kernel,
                format!("a workgroup of {waves} waves never fits: its registers leave room for {most}"),
            ));
        }
        let units = p.compute_units.max(1) as usize;
        let instructions = instructions::all(shared.program, p);
        let timing = Timing {
            parameters: p.clone(),
            cycles: 0,
            waves: Vec::new(),
            wave_instructions: 0,
            breakdown: Breakdown::default(),
            instructions: instructions
                .iter()
                .map(|instruction| InstructionTime { pc: instruction.pc, ..InstructionTime::default() })
                .collect(),
            occupancy,
            achieved: 0.0,
            traffic: Default::default(),
        };
        Ok(Self {
            shared,
            p,
            hierarchy,
            instructions,
            units: vec![Unit::new(p, arch.limits().lds_bytes); units],
            launch_free: vec![0; p.launchers.max(1) as usize],
            front,
            waves: Vec::new(),
            free_waves: Vec::new(),
            groups: Vec::new(),
            free_groups: Vec::new(),
            events: BinaryHeap::new(),
            visits: vec![u64::MAX; units * SIMDS],
            waves_per_simd,
            lds_bytes: shared.lds_bytes.next_multiple_of(arch.limits().lds_granule),
            scalars: shared.scalars(),
            next_group: 0,
            next_forget: FORGET,
            footprint: Footprint::default(),
            timing,
        })
    }

    /// Run the dispatch to its end.
    pub(super) fn run(mut self) -> Result<Timing, Fault> {
        self.place_everywhere();
        while let Some(Reverse((now, number))) = self.events.pop() {
            if now >= self.next_forget {
                self.hierarchy.forget(now);
                self.units.iter_mut().for_each(|unit| unit.memory.forget(now));
                self.next_forget = now + FORGET;
            }
            if number >= self.visits.len() {
                self.leave(now, number - self.visits.len());
            } else if self.visits[number] == now {
                self.visits[number] = u64::MAX;
                self.visit(now, number).map_err(|fault| *fault)?;
            }
            self.timing.cycles = self.timing.cycles.max(now);
        }
        match self.waiting() {
            Some(fault) => Err(*fault),
            None => Ok(self.finish()),
        }
    }

    /// The fault of workgroups that still wait for others, when nothing runs any more.
    fn waiting(&self) -> Option<Box<Fault>> {
        let waits = |resident: &&Resident| resident.wave.ticket.is_some();
        let first = self.waves.iter().filter(waits).min_by_key(|resident| resident.wave.index)?;
        let resource = first.wave.ticket?.resource;
        let groups: HashSet<usize> = self.waves.iter().filter(waits).map(|resident| resident.group).collect();
        let kind = FaultKind::Deadlock {
            waiting: groups.len() as u64,
            not_begun: self.shared.groups() - self.next_group,
            wanted: Box::new(Wanted::Waves { resource }),
        };
        Some(self.shared.locate(&first.wave, *Trap::new(kind)))
    }

    /// Let the waves go on that waited for other workgroups until now.
    fn release_synchronised(&mut self, now: u64) {
        for wave in 0..self.waves.len() {
            let resident = &mut self.waves[wave];
            if resident.wave.leave_sync(self.shared.memory.sync()) {
                let ready = (now + self.p.barrier).max(resident.since);
                (resident.ready, resident.cause) = (ready, Stall::Barrier);
                self.prepare(wave, ready);
                self.wake(wave);
            }
        }
    }

    fn finish(self) -> Timing {
        let mut timing = self.timing;
        timing.instructions.retain(|instruction| instruction.executions > 0);
        for instruction in &timing.instructions {
            timing.breakdown.add(&instruction.breakdown);
        }
        let resident: u64 = timing.waves.iter().map(WaveTime::residency).sum();
        let slots = self.units.len() as u64 * SIMDS as u64 * u64::from(timing.occupancy.max_waves_per_simd);
        timing.achieved = resident as f64 / (slots * timing.cycles.max(1)) as f64;
        timing.traffic = self.hierarchy.traffic;
        timing
    }

    /// Fill the device: workgroups go to the compute units in turn.
    fn place_everywhere(&mut self) {
        let mut unit = 0;
        let mut full = 0;
        while full < self.units.len() {
            full = if self.place(0, unit) { 0 } else { full + 1 };
            unit = (unit + 1) % self.units.len();
        }
    }

    /// Place the next workgroup on a compute unit, if there is one and it has room.
    fn place(&mut self, now: u64, unit: usize) -> bool {
        if self.next_group >= self.shared.groups() {
            return false;
        }
        let workgroup = self.shared.workgroup(self.next_group);
        let waves = self.shared.setup.waves(workgroup) as u32;
        let place = &mut self.units[unit];
        let slots: u32 = place.simds.iter().map(|simd| self.waves_per_simd - simd.taken).sum();
        if slots < waves || place.lds_left < self.lds_bytes || waves > 1 && place.groups >= self.p.workgroups
        {
            return false;
        }
        place.lds_left -= self.lds_bytes;
        place.groups += 1;
        let index = self.next_group;
        self.next_group += 1;
        let slot = self.free_groups.pop().unwrap_or_else(|| {
            let lds = self.shared.lds();
            self.groups.push(ResidentWorkgroup { lds, ..ResidentWorkgroup::default() });
            self.groups.len() - 1
        });
        let group = &mut self.groups[slot];
        group.lds.clear();
        group.waves.clear();
        group.resident = waves;
        group.budget = self.shared.budget;
        for number in 0..waves {
            let wave = self.free_waves.pop().unwrap_or_else(|| {
                self.waves.push(Resident::new(self.shared.program.target, self.shared.config.vectors));
                self.waves.len() - 1
            });
            let launchers = self.launch_free.len();
            let launch_free = &mut self.launch_free[unit % launchers];
            let place = &mut self.units[unit];
            let simd = (0..SIMDS).min_by_key(|&simd| place.simds[simd].taken).unwrap_or(0);
            place.simds[simd].taken += 1;
            place.simds[simd].waves.push((wave, u64::MAX));
            let start = (now + self.p.workgroup_launch).max(*launch_free);
            *launch_free = start + self.p.wave_launch;
            let resident = &mut self.waves[wave];
            self.shared.start(&mut resident.wave, &self.scalars, index, workgroup, number);
            resident.begin(slot, unit, simd, start);
            self.groups[slot].waves.push(wave);
            self.prepare(wave, start);
            self.wake(wave);
        }
        true
    }

    /// The wave's SIMD is visited when it is ready, or sooner.
    fn wake(&mut self, wave: usize) {
        let Resident { unit, simd, ready, .. } = self.waves[wave];
        let waves = &mut self.units[unit].simds[simd].waves;
        if let Some(entry) = waves.iter_mut().find(|entry| entry.0 == wave) {
            entry.1 = ready;
        }
        self.visit_at(unit, simd, ready);
    }

    fn visit_at(&mut self, unit: usize, simd: usize, time: u64) {
        let time = in_turn(time, simd, self.p.turn);
        let number = unit * SIMDS + simd;
        if time < self.visits[number] {
            self.visits[number] = time;
            self.events.push(Reverse((time, number)));
        }
    }

    /// Waves have left a compute unit for good.
    fn leave(&mut self, now: u64, unit: usize) {
        let mut at = 0;
        while at < self.units[unit].ending.len() {
            let (time, simd, group) = self.units[unit].ending[at];
            if time > now {
                at += 1;
                continue;
            }
            let place = &mut self.units[unit];
            place.ending.swap_remove(at);
            place.simds[simd].taken -= 1;
            let members = &mut self.groups[group];
            members.resident -= 1;
            if members.resident == 0 {
                place.lds_left += self.lds_bytes;
                place.groups -= 1;
                self.free_waves.append(&mut members.waves);
                self.free_groups.push(group);
            }
        }
        while self.place(now, unit) {}
    }

    /// A SIMD's turn: of each category the oldest wave that is ready issues.
    fn visit(&mut self, now: u64, number: usize) -> Result<(), Box<Fault>> {
        let (unit, simd) = (number / SIMDS, number % SIMDS);
        let mut used = [false; Category::COUNT];
        let mut next = u64::MAX;
        let mut at = 0;
        while let Some(&(wave, ready)) = self.units[unit].simds[simd].waves.get(at) {
            if ready > now {
                next = next.min(ready);
                at += 1;
                continue;
            }
            let instruction = &self.instructions[self.waves[wave].wave.next as usize];
            let free = self.free_from(unit, simd, instruction);
            let category = instruction.category as usize;
            if free <= now && !used[category] {
                used[category] = true;
                if self.issue(now, wave)? {
                    self.units[unit].simds[simd].waves.remove(at);
                    continue;
                }
                let ready = self.waves[wave].ready;
                self.units[unit].simds[simd].waves[at].1 = ready;
                next = next.min(ready.max(now + self.p.turn));
            } else {
                next = next.min(free.max(now + self.p.turn));
            }
            at += 1;
        }
        if next != u64::MAX {
            self.visit_at(unit, simd, next);
        }
        Ok(())
    }

    /// From when on the unit that an instruction needs takes it.
    fn free_from(&self, unit: usize, simd: usize, instruction: &Instruction) -> u64 {
        let place = &self.units[unit];
        let lanes = &place.simds[simd];
        match instruction.work {
            Work::Vector => lanes.vector_free,
            Work::Matrix { .. } => lanes.matrix_free.max(lanes.vector_free),
            Work::VectorMemory(_) if self.p.fixed.is_none() => place.memory.accepts_from(self.p),
            Work::Lds { .. } if self.p.fixed.is_none() => place.lds.accepts_from(simd, self.p),
            _ => 0,
        }
    }

    /// A wave issues its next instruction; whether it has ended.
    fn issue(&mut self, now: u64, wave: usize) -> Result<bool, Box<Fault>> {
        let number = self.waves[wave].wave.next as usize;
        let shared = self.shared;
        let step = &shared.program.steps[number];
        let work = self.instructions[number].work;
        self.account(now, wave, number);

        // Where it goes is known before it runs: it may change its own address.
        let mut scalar = None;
        match work {
            Work::VectorMemory(_) | Work::Lds { addressed: true, .. } => {
                self.footprint.vector(&self.waves[wave].wave, step);
                self.private_addresses(wave);
            }
            Work::ScalarMemory { clock: false, .. } => {
                scalar = Footprint::scalar(&self.waves[wave].wave, step)
            }
            _ => {}
        }

        let group = self.waves[wave].group;
        let resident = &mut self.waves[wave];
        resident.wave.status = Status::Running;
        let mut context = Context {
            wave: &mut resident.wave,
            lds: &mut self.groups[group].lds,
            memory: shared.memory,
            watch: shared.look.watch(None),
            round: None,
            program: shared.program,
            counters: MaskCounters::default(),
            tally: None,
            trap: None,
        };
        let (used, outcome) = run_slice(&mut context, shared.config, &shared.hot, 1, &mut []);
        outcome.map_err(|trap| shared.locate(&resident.wave, *trap))?;
        if matches!(step.op, Op::s_memtime | Op::s_memrealtime) {
            resident.wave.set_s64(step.sdst, now);
        }
        self.timing.wave_instructions += used;
        let budget = &mut self.groups[group].budget;
        *budget = budget.saturating_sub(used);
        // Asking costs more than an instruction.
        if budget.is_multiple_of(ASKED)
            && let Some(kind) = shared.stopped()
        {
            return Err(shared.locate(&self.waves[wave].wave, *Trap::new(kind)));
        }

        let taken = self.waves[wave].wave.next as usize != number + 1;
        self.perform(now, wave, number, scalar, taken);
        if matches!(
            step.op,
            Op::ds_gws_barrier | Op::ds_gws_sema_v | Op::ds_gws_sema_br | Op::ds_gws_sema_release_all
        ) {
            self.release_synchronised(now);
        }
        match self.waves[wave].wave.status {
            Status::Ended | Status::Halted => {
                self.end(now, wave);
                self.release(now, group)?;
                return Ok(true);
            }
            Status::AtSync => {
                let resident = &mut self.waves[wave];
                (resident.ready, resident.cause) = (u64::MAX, Stall::Barrier);
            }
            Status::AtBarrier => {
                let resident = &mut self.waves[wave];
                (resident.ready, resident.cause) = (u64::MAX, Stall::Barrier);
                self.release(now, group)?;
            }
            Status::Running | Status::Yielded => {
                if self.groups[group].budget == 0 {
                    let waiting = self.groups[group].waves.iter();
                    let waiting = waiting.filter(|&&wave| self.waves[wave].wave.status == Status::AtBarrier);
                    let kind = FaultKind::Budget { budget: shared.budget, waiting: waiting.count() as u32 };
                    return Err(shared.locate(&self.waves[wave].wave, *Trap::new(kind)));
                }
                let ready = self.waves[wave].ready;
                self.prepare(wave, ready);
            }
        }
        Ok(false)
    }

    /// Private memory has the same device addresses in every workgroup, and other places.
    fn private_addresses(&mut self, wave: usize) {
        let group = self.waves[wave].group as u64;
        let footprint = &mut self.footprint;
        for lane in lanes_of(footprint.global) {
            if is_scratch(footprint.address[lane]) {
                footprint.address[lane] += group * SCRATCH_STRIDE;
            }
        }
    }

    /// Where the wave's cycles until now went.
    fn account(&mut self, now: u64, wave: usize, number: usize) {
        let resident = &self.waves[wave];
        let record = &mut self.timing.instructions[number];
        let breakdown = &mut record.breakdown;
        record.executions += 1;
        breakdown.issue += self.p.turn;
        let waited = now - resident.since;
        let own = match resident.ready > resident.since {
            true => in_turn(resident.ready, resident.simd, self.p.turn).min(now) - resident.since,
            false => 0,
        };
        breakdown.stalls[resident.cause as usize] += own;
        let busy = match self.instructions[number].category {
            Category::Vector => Stall::VectorBusy,
            Category::Scalar => Stall::ScalarBusy,
            Category::VectorMemory => Stall::VectorMemoryBusy,
            Category::Lds => Stall::LdsBusy,
            Category::Special => Stall::SpecialBusy,
        };
        breakdown.stalls[busy as usize] += waited - own;
    }

    /// What an instruction that has run keeps busy, when its results are there, and when the wave can go on.
    fn perform(&mut self, now: u64, wave: usize, number: usize, scalar: Option<(u64, u8)>, taken: bool) {
        let p = self.p;
        let instruction = &self.instructions[number];
        let resident = &mut self.waves[wave];
        let (unit, simd) = (resident.unit, resident.simd);
        let place = &mut self.units[unit];
        let cost = instruction.cost;
        let banks = &self.shared.program.target.arch.limits().lds_banks;
        let (busy, latency) = (u64::from(cost.busy), u64::from(cost.latency));
        resident.since = now + p.turn;
        (resident.ready, resident.cause) = (resident.since, Stall::Dependency);
        let mut results = now + latency;
        match instruction.work {
            Work::Vector => place.simds[simd].vector_free = now + busy,
            Work::Matrix { alone } => {
                place.simds[simd].matrix_free = now + busy;
                if alone {
                    place.simds[simd].vector_free = now + busy;
                }
            }
            Work::Scalar => resident.wait(now + busy, Stall::ScalarBusy),
            Work::ScalarMemory { clock, .. } => {
                let end = match (p.fixed, scalar) {
                    (Some(fixed), _) => now + fixed.scalar,
                    (None, Some((address, bytes))) if !clock => {
                        self.front[p.front_of(unit)].load(now, address, bytes, self.hierarchy, p)
                    }
                    _ => now + p.scalar_hit[0],
                };
                results = end;
                resident.local.push(now, end, Stall::ScalarMemory);
            }
            Work::VectorMemory(access) => {
                let mut end = now + 1;
                if let Some(fixed) = p.fixed {
                    end = now + fixed.vector;
                } else {
                    let global = self.footprint.global != 0 || self.footprint.local == 0;
                    if global {
                        end = place.memory.access(now, access, &self.footprint, self.hierarchy, p);
                    }
                    if self.footprint.local != 0 {
                        end = end.max(place.lds.access(now, simd, access, Some((&self.footprint, banks)), p));
                    }
                }
                // Vector memory returns in order.
                end = end.max(resident.vector.last());
                results = end;
                if instruction.vm_cnt {
                    resident.vector.push(now, end, Stall::VectorMemory);
                }
                if instruction.lgkm_cnt {
                    resident.local.push(now, end, Stall::VectorMemory);
                }
                if matches!(access.operation, MemoryOperation::Store) {
                    results = now;
                }
            }
            Work::Lds { access, addressed } => {
                let end = match p.fixed {
                    Some(fixed) => now + fixed.lds,
                    None => {
                        let footprint = addressed.then_some((&self.footprint, banks));
                        place.lds.access(now, simd, access, footprint, p)
                    }
                };
                results = end;
                resident.local.push(now, end, Stall::Lds);
            }
            Work::Branch => {
                let cycles = if taken { p.branch_taken } else { p.branch_not_taken };
                resident.wait(now + cycles, Stall::Branch);
            }
            Work::Nop { states } => resident.wait(now + p.nop_state * u64::from(states), Stall::Pause),
            Work::Sleep { units } => resident.wait(now + p.sleep_unit * u64::from(units), Stall::Pause),
            Work::Wait(_) | Work::Barrier | Work::End | Work::Nothing => {}
        }
        resident.results(instruction, results);
    }

    /// What holds back the wave's next instruction: its code, registers, counters.
    fn prepare(&mut self, wave: usize, from: u64) {
        let p = self.p;
        let resident = &mut self.waves[wave];
        let Some(next) = self.instructions.get(resident.wave.next as usize) else { return };
        let line = self.shared.program.device_address(next.pc) / 64;
        if p.fixed.is_none() && line != resident.line {
            resident.line = line;
            let ready = self.front[p.front_of(resident.unit)].fetch(from, line, self.hierarchy, p);
            resident.wait(ready, Stall::Fetch);
        }
        resident.need(next, p);
    }

    /// A wave has issued its last instruction: its slot is free when its stores are done.
    fn end(&mut self, now: u64, wave: usize) {
        let resident = &mut self.waves[wave];
        resident.time.end = now + self.p.turn;
        let index = resident.wave.index as usize;
        if self.timing.waves.len() <= index {
            self.timing.waves.resize(index + 1, WaveTime::default());
        }
        self.timing.waves[index] = resident.time;
        let gone = resident.settled().max(resident.time.end);
        let (unit, simd, group) = (resident.unit, resident.simd, resident.group);
        self.units[unit].ending.push((gone, simd, group));
        self.events.push(Reverse((gone, self.visits.len() + unit)));
    }

    /// The waves of a workgroup have met at a barrier, or have ended.
    fn meet(&mut self, group: usize, ended: bool) -> Result<(), Box<Fault>> {
        let group = &mut self.groups[group];
        let wave = &self.waves[group.waves[0]].wave;
        self.shared.meet(wave, &mut group.lds, ended)
    }

    /// Let the waves at a barrier go on if no other is to come.
    fn release(&mut self, now: u64, group: usize) -> Result<(), Box<Fault>> {
        let waves = self.groups[group].waves.iter().map(|&wave| &self.waves[wave].wave);
        match Barrier::of(waves, self.shared.config) {
            Barrier::Waits => {
                let mut waves = self.groups[group].waves.iter().map(|&wave| &self.waves[wave].wave);
                let ended = waves.all(|wave| matches!(wave.status, Status::Ended | Status::Halted));
                if !ended {
                    return Ok(());
                }
                let waves = self.groups[group].waves.iter().map(|&wave| &self.waves[wave].wave);
                if let Some((number, kind)) = Barrier::stuck(waves) {
                    let wave = self.groups[group].waves[number];
                    return Err(self.shared.locate(&self.waves[wave].wave, *Trap::new(kind)));
                }
                return self.meet(group, true);
            }
            Barrier::Passes => self.meet(group, false)?,
            Barrier::Fails(number, kind) => {
                let wave = self.groups[group].waves[number];
                return Err(self.shared.locate(&self.waves[wave].wave, *Trap::new(kind)));
            }
        }
        for at in 0..self.groups[group].waves.len() {
            let wave = self.groups[group].waves[at];
            let resident = &mut self.waves[wave];
            if resident.wave.status != Status::AtBarrier {
                continue;
            }
            resident.wave.status = Status::Running;
            let ready = (now + self.p.barrier).max(resident.since);
            (resident.ready, resident.cause) = (ready, Stall::Barrier);
            self.prepare(wave, ready);
            self.wake(wave);
        }
        Ok(())
    }
}

/// The first visit of a SIMD from a time on.
fn in_turn(time: u64, simd: usize, turn: u64) -> u64 {
    let phase = simd as u64 % turn;
    (time + turn - phase).div_ceil(turn) * turn + phase - turn
}
