//! One workgroup: its waves in turn, its LDS, its barriers; whether it waits for another one.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use super::barrier::Barrier;
use super::schedule::WaveTurns;
use super::slice::StepCount;
use super::tally::MemoryCounts;
use super::waiting::{self, Seen};
use super::{Shared, run_slice};
use crate::check::{Fault, FaultKind, Passed, Trap};
use crate::config::Config;
use crate::lds::{Arrivals, Lds};
use crate::memory::Ticket;
use crate::program::{Context, Tally};
use crate::races::DeviceScan;
use crate::record::{MaskCounters, MaskRecord, StepRecord};
use crate::watch::{Look, Polled, Round};
use crate::wave::{Status, Wave};

/// What runs the waves' time slices. A launch without an observer has [`Unobserved`], which costs nothing.
pub(crate) trait Observer {
    /// Runs a wave for at most `slice` steps, as [`run_slice`] does.
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>);
}

/// Nobody looks.
pub(crate) struct Unobserved;

impl Observer for Unobserved {
    #[inline(always)]
    fn slice(
        &mut self,
        shared: &Shared<'_>,
        context: &mut Context<'_>,
        slice: u64,
        counts: &mut [StepCount],
    ) -> (u64, Result<(), Box<Trap>>) {
        run_slice(context, shared.config, &shared.hot, slice, counts)
    }
}

/// Sums over waves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) waves: u64,
    pub(super) wave_instructions: u64,
    pub(super) lane_instructions: u64,
}

/// By step, the first wave that did what it may not do, where hardware lets that pass.
#[derive(Debug, Default)]
pub(super) struct LetPass(BTreeMap<u32, (u64, Fault)>);

impl LetPass {
    fn add(&mut self, step: u32, wave: u64, fault: impl FnOnce() -> Fault) {
        if self.0.get(&step).is_none_or(|(first, _)| wave < *first) {
            self.0.insert(step, (wave, fault()));
        }
    }

    /// Adds those of other workgroups.
    pub(super) fn extend(&mut self, others: Self) {
        others.0.into_iter().for_each(|(step, (wave, fault))| self.add(step, wave, || fault));
    }

    /// In order of step.
    pub(super) fn into_faults(self) -> Vec<Fault> {
        self.0.into_values().map(|(_, fault)| fault).collect()
    }
}

/// Why a workgroup does not run on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Turn {
    /// Its waves have ended.
    Ended,
    /// It has run as long as it may.
    Over,
}

/// A wave that waits for another workgroup, and for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiter {
    pub(super) wave: u32,
    step: u32,
    lane: u8,
    pub(super) awaited: Awaited,
}

/// What a wave waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Awaited {
    /// So many bytes of device memory at this address are to change.
    Change { address: u64, bytes: u8 },
    /// Waves are to come to this counter of global wave sync.
    Waves { resource: u32 },
}

impl Waiter {
    /// A wave that polls.
    fn polling(wave: u32, Polled { step, lane, address, bytes }: Polled) -> Self {
        Self { wave, step, lane: lane as u8, awaited: Awaited::Change { address, bytes } }
    }

    /// A wave that waits at global wave sync.
    fn synchronising(number: u32, wave: &Wave, ticket: Ticket) -> Self {
        let awaited = Awaited::Waves { resource: ticket.resource };
        Self { wave: number, step: wave.current, lane: wave.first_lane() as u8, awaited }
    }
}

/// The state that a workgroup runs in, and after it others, one after another.
pub(super) struct Group {
    /// Number of the workgroup.
    pub(super) index: u64,
    /// Wave-instructions that it may run yet.
    budget: u64,
    waves: Vec<Wave>,
    /// How many of them the workgroup has that runs.
    live: usize,
    /// Their turns, where they are not one after another.
    turns: Option<WaveTurns>,
    /// What their scalar registers start with.
    scalars: [u32; 128],
    lds: Lds,
    /// The look for what may be a race in device memory, if that is done.
    scan: Option<DeviceScan>,
    /// Mask counters of each wave by slot.
    counters: Vec<Vec<MaskRecord>>,
    pub(super) totals: Totals,
    pub(super) masks: Vec<MaskRecord>,
    /// By step, the first access to LDS out of range that hardware lets pass.
    /// Accesses to LDS out of range.
    pub(super) out_of_range: LetPass,
    /// Lanes that were asked for and do not exist.
    pub(super) missing_lanes: LetPass,
    /// What each step did, by wave, where asked for.
    steps: Vec<Vec<StepCount>>,
    pub(super) step_records: Vec<StepRecord>,
    /// What each step did in all waves, where only that is asked for.
    pub(super) executed: Vec<StepCount>,
    /// What memory instructions asked for, where that is summed up.
    pub(super) memory: Option<MemoryCounts>,
}

impl Group {
    pub(super) fn new(shared: &Shared<'_>) -> Self {
        let waves = shared.waves_per_group as usize;
        Self {
            index: 0,
            budget: 0,
            waves: (0..waves).map(|_| Wave::new(shared.program.target, shared.config.vectors)).collect(),
            live: waves,
            turns: None,
            scalars: shared.scalars(),
            lds: shared.lds(),
            scan: shared.look.scan().map(DeviceScan::new),
            counters: vec![vec![MaskRecord::default(); shared.mask_slots.len()]; waves],
            totals: Totals::default(),
            masks: Vec::new(),
            out_of_range: LetPass::default(),
            missing_lanes: LetPass::default(),
            steps: if shared.launch.record_steps {
                vec![vec![StepCount::default(); shared.program.steps.len()]; waves]
            } else {
                Vec::new()
            },
            step_records: Vec::new(),
            executed: if shared.launch.count_opcodes {
                vec![StepCount::default(); shared.program.steps.len()]
            } else {
                Vec::new()
            },
            memory: shared.memory_steps.clone().map(MemoryCounts::new),
        }
    }

    /// How many instructions the waves of all its workgroups have run.
    pub(super) fn wave_instructions(&self) -> u64 {
        self.totals.wave_instructions
    }

    /// Run the workgroup of this number to its end.
    pub(super) fn run(
        &mut self,
        shared: &Shared<'_>,
        index: u64,
        observer: &mut impl Observer,
    ) -> Result<(), Box<Fault>> {
        self.begin(shared, index);
        self.turn(shared, u64::MAX, observer).map(|_| ())
    }

    /// Take the workgroup of this number, at its start.
    pub(super) fn begin(&mut self, shared: &Shared<'_>, index: u64) {
        self.index = index;
        self.budget = shared.budget;
        self.lds.clear();
        let workgroup = shared.workgroup(index);
        self.live = shared.setup.waves(workgroup);
        self.turns = shared.config.schedule.map(|schedule| WaveTurns::new(schedule, index, self.live));
        self.lds.barrier = Arrivals { members: self.live as u32, signals: 0 };
        for (number, wave) in self.waves[..self.live].iter_mut().enumerate() {
            shared.start(wave, &self.scalars, index, workgroup, number as u32);
        }
    }

    /// Run the workgroup on, for so many wave-instructions at least, or to its end.
    pub(super) fn turn(
        &mut self,
        shared: &Shared<'_>,
        most: u64,
        observer: &mut impl Observer,
    ) -> Result<Turn, Box<Fault>> {
        let result = match shared.stopped() {
            Some(kind) => Err(self.stopped(shared, kind)),
            None => self.schedule(shared, most, observer),
        };
        let result = match result {
            Ok(Turn::Over) => return Ok(Turn::Over),
            Ok(Turn::Ended) => shared.meet(&self.waves[0], &mut self.lds, true).map(|()| Turn::Ended),
            Err(fault) => Err(fault),
        };
        self.finish(shared);
        result
    }

    /// The workgroup has ended, or had a fault: keep what it did.
    fn finish(&mut self, shared: &Shared<'_>) {
        let index = self.index;
        if let Some(scan) = &mut self.scan {
            scan.end_group();
            if let Some(lds) = self.lds.scan() {
                scan.add_lds(lds);
            }
        }
        if let Some(mut races) = shared.races() {
            let first = index * u64::from(shared.waves_per_group);
            races.doubts.extend(self.lds.take_doubts(), first);
        }
        if let Look::Trace(trace) = &shared.look {
            let first = index * u64::from(shared.waves_per_group);
            let waves = first..first + u64::from(shared.waves_per_group);
            let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
            trace.end_group(waves, self.lds.take_unwritten_reads());
        }
        for (step, Passed { wave, calls, trap }) in self.lds.take_passed() {
            self.out_of_range.add(step, wave, || *shared.locate_at(wave, step, calls, *trap));
        }
        for wave in &mut self.waves[..self.live] {
            for (step, Passed { wave, calls, trap }) in std::mem::take(&mut wave.missing_lanes) {
                self.missing_lanes.add(step, wave, || *shared.locate_at(wave, step, calls, *trap));
            }
            self.totals.waves += 1;
            self.totals.wave_instructions += wave.steps_run;
            self.totals.lane_instructions += wave.lanes_run;
        }
        self.take_masks(shared);
        self.take_steps(shared);
    }

    /// What a wave's steps can reach, and where they are counted.
    fn context<'a>(
        &'a mut self,
        shared: &'a Shared<'_>,
        number: usize,
        round: Option<&'a mut Round>,
    ) -> (Context<'a>, &'a mut [StepCount]) {
        let context = Context {
            wave: &mut self.waves[number],
            lds: &mut self.lds,
            memory: shared.memory,
            watch: shared.look.watch(self.scan.as_mut()),
            round,
            program: shared.program,
            counters: MaskCounters { first: shared.mask_slots.start, records: &mut self.counters[number] },
            tally: self.memory.as_mut().map(|counts| counts as &mut dyn Tally),
            trap: None,
        };
        (context, self.steps.get_mut(number).unwrap_or(&mut self.executed))
    }

    /// The first of its waves, if each that runs waits for another workgroup. Runs some of their steps.
    ///
    /// # Errors
    /// A fault of such a step, or that a wave never ends.
    pub(super) fn waits(&mut self, shared: &Shared<'_>) -> Result<Option<Waiter>, Box<Fault>> {
        let (mut first, mut asks, mut running) = (None, false, None);
        for number in 0..self.live {
            let wave = &self.waves[number];
            if let Some(ticket) = wave.ticket {
                if shared.memory.sync().is_open(ticket) {
                    return Ok(None);
                }
                asks = true;
                first = first.or(Some(Waiter::synchronising(number as u32, wave, ticket)));
                continue;
            }
            if !wave.status.runs() {
                continue;
            }
            let Some(round) = self.goes_round(shared, number)? else { return Ok(None) };
            if !round.asks && !round.reads_lds {
                return Err(self.endless(shared, number, false));
            }
            asks |= round.asks;
            running = running.or(Some(number));
            // One that asks for something in LDS waits for another wave of its workgroup.
            first = first.or(round.polled.map(|polled| Waiter::polling(number as u32, polled)));
        }
        match running {
            Some(number) if !asks => Err(self.endless(shared, number, true)),
            _ => Ok(first),
        }
    }

    /// The fault of a wave that goes round for ever.
    fn endless(&mut self, shared: &Shared<'_>, number: usize, reads: bool) -> Box<Fault> {
        let waits = |wave: &&Wave| wave.status == Status::AtBarrier;
        let waiting = self.waves[..self.live].iter().filter(waits).count() as u32;
        let fault = self.fault(shared, number, *Trap::new(FaultKind::Endless { reads, waiting }));
        self.finish(shared);
        fault
    }

    /// The loop that a wave goes round, if that is one that leaves all as it was.
    fn goes_round(&mut self, shared: &Shared<'_>, number: usize) -> Result<Option<Round>, Box<Fault>> {
        let config = Config { fast_layer: false, ..shared.config.clone() };
        let mut look = waiting::Look::new(&self.waves[number], &self.lds);
        let mut round = Round::default();
        for _ in 0..waiting::WINDOW.min(usize::try_from(self.budget).unwrap_or(usize::MAX)) {
            let Some(step) = shared.program.steps.get(self.waves[number].next as usize) else { break };
            if waiting::Look::cannot_see(step) {
                break;
            }
            waiting::begin(&mut round, step);
            self.waves[number].status = Status::Running;
            let (mut context, counts) = self.context(shared, number, Some(&mut round));
            let (used, outcome) = run_slice(&mut context, &config, &shared.hot, 1, counts);
            self.budget = self.budget.saturating_sub(used);
            if let Err(trap) = outcome {
                let fault = shared.locate(&self.waves[number], *trap);
                self.finish(shared);
                return Err(fault);
            }
            let wave = &self.waves[number];
            if !wave.status.runs() {
                break;
            }
            match look.step(step, wave, &self.lds, &round) {
                Seen::Nothing => {}
                Seen::Round => return Ok(Some(round)),
                Seen::GetsOn => break,
            }
        }
        Ok(None)
    }

    /// The fault of a wave that waits for what will not come.
    pub(super) fn located(&self, shared: &Shared<'_>, waiter: &Waiter, kind: FaultKind) -> Box<Fault> {
        let wave = &self.waves[waiter.wave as usize];
        let trap = Trap { lane: Some(waiter.lane), ..*Trap::new(kind) };
        self.with_waves(shared, shared.locate_at(wave.index, waiter.step, wave.calls.steps().collect(), trap))
    }

    /// The fault of a wave.
    fn fault(&self, shared: &Shared<'_>, number: usize, trap: Trap) -> Box<Fault> {
        self.with_waves(shared, shared.locate(&self.waves[number], trap))
    }

    /// A fault with where all waves are, if it keeps the workgroup from going on.
    fn with_waves(&self, shared: &Shared<'_>, mut fault: Box<Fault>) -> Box<Fault> {
        if fault.kind.is_of_all_waves() {
            fault.waves = shared.standing(&self.waves[..self.live]);
        }
        fault
    }

    /// Where it is when the launch is stopped, for that reason: the first wave that runs.
    pub(super) fn stopped(&self, shared: &Shared<'_>, kind: FaultKind) -> Box<Fault> {
        let number = self.waves[..self.live].iter().position(|wave| wave.status.runs());
        self.fault(shared, number.unwrap_or(0), *Trap::new(kind))
    }

    /// Wave-instructions that the workgroup has run.
    pub(super) fn ran(&self, shared: &Shared<'_>) -> u64 {
        shared.budget - self.budget
    }

    /// Takes wave-instructions off what the workgroup may run yet. False if there are none left.
    pub(super) fn charge(&mut self, steps: u64) -> bool {
        self.budget = self.budget.saturating_sub(steps);
        self.budget > 0
    }

    fn schedule(
        &mut self,
        shared: &Shared<'_>,
        most: u64,
        observer: &mut impl Observer,
    ) -> Result<Turn, Box<Fault>> {
        let last = self.budget.saturating_sub(most);
        loop {
            if last > 0 && self.budget <= last {
                return Ok(Turn::Over);
            }
            let mut running = 0u32;
            self.turns.iter_mut().for_each(WaveTurns::shuffle);
            for turn in 0..self.live {
                let number = self.turns.as_ref().map_or(turn, |turns| turns.wave(turn));
                if !self.waves[number].status.runs() {
                    continue;
                }
                running += 1;
                let length = self.turns.as_mut().map_or(shared.config.time_slice, WaveTurns::length);
                let slice = self.budget.min(length);
                self.waves[number].status = Status::Running;
                let (mut context, counts) = self.context(shared, number, None);
                let (used, outcome) = observer.slice(shared, &mut context, slice, counts);
                self.budget -= used;
                let outcome = outcome.and_then(|()| {
                    let alive = self.waves[number].status.runs();
                    if alive && self.budget == 0 {
                        let at_barrier = |wave: &&Wave| wave.status == Status::AtBarrier;
                        let waiting = self.waves[..self.live].iter().filter(at_barrier).count() as u32;
                        return Err(Trap::new(FaultKind::Budget { budget: shared.budget, waiting }));
                    }
                    match shared.stopped() {
                        Some(kind) if alive => Err(Trap::new(kind)),
                        _ => Ok(()),
                    }
                });
                outcome.map_err(|trap| self.fault(shared, number, *trap))?;
            }
            let mut left = false;
            for wave in &mut self.waves[..self.live] {
                let waited = wave.status == Status::AtBarrier;
                wave.leave_barrier();
                left |= waited && wave.status == Status::Running || wave.leave_sync(shared.memory.sync());
            }
            if running == 0 && !left && self.waves[..self.live].iter().any(|wave| wave.ticket.is_some()) {
                return Ok(Turn::Over);
            }
            match Barrier::of(self.waves[..self.live].iter(), shared.config) {
                Barrier::Waits if left => {}
                Barrier::Waits if running == 0 => {
                    return match Barrier::stuck(&self.waves[..self.live]) {
                        Some((wave, kind)) => Err(self.fault(shared, wave, *Trap::new(kind))),
                        None => Ok(Turn::Ended),
                    };
                }
                Barrier::Waits => {}
                Barrier::Passes => {
                    self.waves[..self.live].iter_mut().for_each(Wave::pass_barrier);
                    self.lds.barrier.signals = 0;
                    shared.meet(&self.waves[0], &mut self.lds, false)?;
                    if let Some(scan) = &mut self.scan {
                        scan.pass_barrier();
                    }
                }
                Barrier::Fails(wave, kind) => {
                    return Err(self.fault(shared, wave, *Trap::new(kind)));
                }
            }
        }
    }

    /// Move what the waves' steps did to the launch's records.
    fn take_steps(&mut self, shared: &Shared<'_>) {
        for (wave, counts) in self.waves[..self.live].iter().zip(&mut self.steps) {
            for (number, count) in counts.iter_mut().enumerate().filter(|(_, count)| count.executions > 0) {
                let StepCount { executions, lanes } = std::mem::take(count);
                let pc = shared.program.pc(&shared.program.steps[number]);
                self.step_records.push(StepRecord { pc, wave: wave.index, executions, lanes });
                if let Some(all) = self.executed.get_mut(number) {
                    all.executions += executions;
                    all.lanes += lanes;
                }
            }
        }
    }

    /// Move the waves' mask counters to the launch's records.
    fn take_masks(&mut self, shared: &Shared<'_>) {
        for (wave, counters) in self.waves[..self.live].iter().zip(&mut self.counters) {
            for (counter, step) in
                counters.iter_mut().zip(&shared.program.exec_writers[shared.mask_slots.clone()])
            {
                if counter.writes > 0 {
                    let pc = shared.program.pc(&shared.program.steps[*step as usize]);
                    self.masks.push(MaskRecord { pc, wave: wave.index, ..*counter });
                    *counter = MaskRecord::default();
                }
            }
        }
    }
}
