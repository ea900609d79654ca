//! One workgroup: its waves in turn, its LDS, its barriers.

use std::sync::PoisonError;

use super::barrier::Barrier;
use super::slice::StepCount;
use super::{MaskRecord, Shared, StepRecord, run_slice};
use crate::check::{Fault, FaultKind, Trap};
use crate::exec::Context;
use crate::lds::Lds;
use crate::races::DeviceScan;
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

/// The state that one host thread runs workgroups in, one after another.
pub(super) struct Group {
    waves: Vec<Wave>,
    /// How many of them the workgroup has that runs.
    live: usize,
    /// What their scalar registers start with.
    scalars: [u32; 128],
    lds: Lds,
    /// The look for what may be a race in device memory, if that is done.
    scan: Option<DeviceScan>,
    /// Mask counters of each wave by slot.
    counters: Vec<Vec<MaskRecord>>,
    pub(super) totals: Totals,
    pub(super) masks: Vec<MaskRecord>,
    /// What each step did, by wave, where asked for.
    steps: Vec<Vec<StepCount>>,
    pub(super) step_records: Vec<StepRecord>,
    /// What each step did in all waves, where only that is asked for.
    pub(super) executed: Vec<StepCount>,
}

impl Group {
    pub(super) fn new(shared: &Shared<'_>) -> Self {
        let waves = shared.waves_per_group as usize;
        let slots = if shared.launch.record_masks { shared.program.exec_writers.len() } else { 0 };
        Self {
            waves: (0..waves).map(|_| Wave::new(shared.program.target, shared.config.vectors)).collect(),
            live: waves,
            scalars: shared.scalars(),
            lds: Lds::new(shared.lds_bytes, shared.patterns.lds, &shared.look),
            scan: shared.look.scan().map(DeviceScan::new),
            counters: vec![vec![MaskRecord::default(); slots]; waves],
            totals: Totals::default(),
            masks: Vec::new(),
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
        self.lds.clear();
        let workgroup = shared.workgroup(index);
        self.live = shared.setup.waves(workgroup);
        for (number, wave) in self.waves[..self.live].iter_mut().enumerate() {
            shared.start(wave, &self.scalars, index, workgroup, number as u32);
        }
        let result = if shared.is_stopped() {
            Err(shared.locate(&self.waves[0], *Trap::new(FaultKind::Stopped)))
        } else {
            self.schedule(shared, observer).and_then(|()| shared.meet(&self.waves[0], &mut self.lds, true))
        };
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
        if let Some(trace) = shared.look.trace() {
            let first = index * u64::from(shared.waves_per_group);
            let waves = first..first + u64::from(shared.waves_per_group);
            let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
            trace.end_group(waves, self.lds.take_unwritten_reads());
        }
        for wave in &self.waves[..self.live] {
            self.totals.waves += 1;
            self.totals.wave_instructions += wave.steps_run;
            self.totals.lane_instructions += wave.lanes_run;
        }
        self.take_masks(shared);
        self.take_steps(shared);
        result
    }

    fn schedule(&mut self, shared: &Shared<'_>, observer: &mut impl Observer) -> Result<(), Box<Fault>> {
        let mut budget = shared.budget;
        loop {
            let mut running = 0u32;
            for number in 0..self.live {
                if !matches!(self.waves[number].status, Status::Running | Status::Yielded) {
                    continue;
                }
                running += 1;
                let slice = budget.min(shared.config.time_slice);
                let wave = &mut self.waves[number];
                wave.status = Status::Running;
                let mut context = Context {
                    wave,
                    lds: &mut self.lds,
                    memory: shared.memory,
                    races: shared.look.races(),
                    focus: shared.look.focus(),
                    scan: self.scan.as_mut(),
                    trace: shared.look.trace(),
                    program: shared.program,
                    counters: &mut self.counters[number],
                    trap: None,
                };
                let counts = self.steps.get_mut(number).unwrap_or(&mut self.executed);
                let (used, outcome) = observer.slice(shared, &mut context, slice, counts);
                budget -= used;
                let outcome = outcome.and_then(|()| {
                    let alive = matches!(self.waves[number].status, Status::Running | Status::Yielded);
                    if alive && budget == 0 {
                        let at_barrier = |wave: &&Wave| wave.status == Status::AtBarrier;
                        let waiting = self.waves[..self.live].iter().filter(at_barrier).count() as u32;
                        return Err(Trap::new(FaultKind::Budget { budget: shared.budget, waiting }));
                    }
                    if alive && shared.is_stopped() {
                        return Err(Trap::new(FaultKind::Stopped));
                    }
                    Ok(())
                });
                outcome.map_err(|trap| shared.locate(&self.waves[number], *trap))?;
            }
            match Barrier::of(self.waves[..self.live].iter(), shared.config) {
                Barrier::Waits if running == 0 => {
                    return match Barrier::halted(&self.waves[..self.live]) {
                        Some((wave, kind)) => Err(shared.locate(&self.waves[wave], *Trap::new(kind))),
                        None => Ok(()),
                    };
                }
                Barrier::Waits => {}
                Barrier::Passes => {
                    let waves = self.waves[..self.live].iter_mut();
                    waves
                        .filter(|wave| wave.status == Status::AtBarrier)
                        .for_each(|wave| wave.status = Status::Running);
                    shared.meet(&self.waves[0], &mut self.lds, false)?;
                    if let Some(scan) = &mut self.scan {
                        scan.pass_barrier();
                    }
                }
                Barrier::Fails(wave, kind) => {
                    return Err(shared.locate(&self.waves[wave], *Trap::new(kind)));
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
            for (counter, step) in counters.iter_mut().zip(&shared.program.exec_writers) {
                if counter.writes > 0 {
                    let pc = shared.program.pc(&shared.program.steps[*step as usize]);
                    self.masks.push(MaskRecord { pc, wave: wave.index, ..*counter });
                    *counter = MaskRecord::default();
                }
            }
        }
    }
}
