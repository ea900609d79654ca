//! A launch that runs again, to look at one more of its steps.

use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

use amdgpu_isa::{Target, WaveSize};
use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_emu::trace::{self, Keep, Moment, TraceError, TracedStep, Watch, WaveId, WrittenPlace};
use amdinst_emu::{Fault, Launch, Machine, Program, Snapshot};
use amdinst_format::probes::SiteFrame;
use amdinst_format::report::Location;

use crate::fault::{frames, nearest_frame};
use crate::panic::Panic;

/// Instructions of a wave that are looked at in one launch.
const WINDOW: usize = 1 << 14;

/// Stretches of a lane that are kept.
const WINDOWS: usize = 4;

/// Launches that one question may take.
const LAUNCHES: u32 = 300;

/// Wave-instructions that they may run altogether: each is looked at by itself.
const INSTRUCTIONS: u64 = 300_000_000;

/// Why a value cannot be followed further.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Lost {
    /// It would take too many launches, or too long ones.
    TooLong,
    /// The launch cannot begin.
    Launch(Box<Fault>),
    /// The kernel's code or its trace says something that cannot be: an internal error.
    Internal(&'static str),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the launch is too long to be followed back"),
            Self::Launch(fault) => write!(f, "the launch does not run again: {fault}"),
            Self::Internal(what) => write!(f, "internal error: {what}; please report this"),
        }
    }
}

impl std::error::Error for Lost {}

/// A launch, and all that it takes to run it again.
#[derive(Debug)]
pub struct Rerun<'a> {
    machine: &'a mut Machine,
    program: &'a Program,
    launch: Launch,
    before: &'a Snapshot,
    lines: Option<SourceMap>,
    /// The processor, with the size of the kernel's waves.
    target: Target,
    /// The workspace's directory: files in there are named from there.
    root: Option<&'a str>,
    /// Stretches of lanes' instructions, in order; the newest last.
    windows: HashMap<(u64, u8), Vec<Vec<Rc<TracedStep>>>>,
    writers: HashMap<(WrittenPlace, Option<Moment>), Option<Moment>>,
    /// Wave-instructions that one launch takes, as far as they are known.
    instructions: u64,
    launches: u32,
    /// What all may take.
    most: u64,
}

impl<'a> Rerun<'a> {
    /// A launch of a code object's kernel, which ran so many wave-instructions from the memory of a snapshot;
    /// at least so many, if it ended with a fault.
    ///
    /// # Errors
    /// The code object has no such kernel.
    pub fn new(
        machine: &'a mut Machine,
        program: &'a Program,
        object: &CodeObject,
        launch: &Launch,
        (instructions, before): (u64, &'a Snapshot),
    ) -> Result<Self, Lost> {
        let kernel = object.kernel(&launch.kernel).ok_or(Lost::Internal("no such kernel"))?;
        let arch = object.target.arch;
        Ok(Self {
            machine,
            program,
            launch: launch.without_records(),
            before,
            lines: SourceMap::new(object).ok(),
            target: Target { arch, wave: kernel.descriptor.wave_size(arch) },
            root: None,
            windows: HashMap::new(),
            writers: HashMap::new(),
            instructions,
            launches: 0,
            most: INSTRUCTIONS,
        })
    }

    /// This, with files in the workspace's directory named from there.
    #[must_use]
    pub const fn in_workspace(mut self, root: Option<&'a str>) -> Self {
        self.root = root;
        self
    }

    /// This, with so many wave-instructions at most for the whole question.
    #[must_use]
    pub const fn within(mut self, wave_instructions: u64) -> Self {
        self.most = wave_instructions;
        self
    }

    /// The processor, with the size of the kernel's waves.
    pub(super) const fn target(&self) -> Target {
        self.target
    }

    pub(super) const fn wave(&self) -> WaveSize {
        self.target.wave
    }

    /// Waves of a workgroup.
    pub(super) fn waves_of_group(&self) -> u64 {
        self.launch.waves_per_group(self.wave()).max(1).into()
    }

    /// The number of a work-item in its workgroup, x fastest, and the workgroup in x, y, z.
    pub(super) fn work_item(&self, at: Moment) -> (u64, [u32; 3]) {
        let waves = self.waves_of_group();
        let first = at.wave % waves * u64::from(self.wave().lanes());
        (first + u64::from(at.lane), self.launch.workgroup(at.wave / waves))
    }

    /// The next launch may run.
    fn charge(&mut self) -> Result<(), Lost> {
        let most = u64::from(LAUNCHES).min(self.most / self.instructions.max(1));
        if u64::from(self.launches) >= most {
            return Err(Lost::TooLong);
        }
        self.launches += 1;
        self.machine.restore_all(self.before);
        Ok(())
    }

    /// The stretch of a lane's instructions that ends before the moment's.
    fn window(&mut self, at: Moment) -> Result<&[Rc<TracedStep>], Lost> {
        let covers = |steps: &Vec<Rc<TracedStep>>| {
            let (first, last) = (steps.first()?, steps.last()?);
            Some(first.number < at.number && at.number <= last.number + 1)
        };
        let windows = self.windows.get(&(at.wave, at.lane)).map_or(&[][..], |windows| windows);
        let known = windows.iter().position(|window| covers(window) == Some(true));
        if known.is_none() && at.number > 0 {
            self.charge()?;
            let watch = Watch {
                wave: WaveId::Index(at.wave),
                lane: at.lane,
                limit: WINDOW,
                keep: Keep::Before(at.number),
            };
            let traced = trace::trace(self.machine, self.program, &self.launch, &watch);
            let steps = match traced {
                Ok(trace) => {
                    self.instructions = self.instructions.max(trace.launched);
                    trace.steps.into_iter().map(Rc::new).collect()
                }
                Err(TraceError::Launch(fault)) => return Err(Lost::Launch(fault)),
                Err(_) => return Err(Lost::Internal("no such wave")),
            };
            let windows = self.windows.entry((at.wave, at.lane)).or_default();
            if windows.len() == WINDOWS {
                windows.remove(0);
            }
            windows.push(steps);
        }
        let windows = self.windows.get(&(at.wave, at.lane)).map_or(&[][..], |windows| windows);
        let steps = known.map_or_else(|| windows.last(), |known| windows.get(known));
        let steps = steps.map_or(&[][..], |steps| steps);
        Ok(&steps[..steps.partition_point(|step| step.number < at.number)])
    }

    /// The last instruction before a moment that is one of these.
    pub(super) fn last(
        &mut self,
        at: Moment,
        is_one: impl Fn(&TracedStep) -> bool,
    ) -> Result<Option<Rc<TracedStep>>, Lost> {
        let mut at = at;
        loop {
            let window = self.window(at)?;
            if let Some(found) = window.iter().rev().find(|step| is_one(step)) {
                return Ok(Some(found.clone()));
            }
            match window.first() {
                Some(first) if first.number > 0 => at.number = first.number,
                _ => return Ok(None),
            }
        }
    }

    /// The instruction of a moment.
    pub(super) fn step(&mut self, at: Moment) -> Result<Rc<TracedStep>, Lost> {
        let behind = Moment { number: at.number + 1, ..at };
        let found = self.window(behind)?.last().filter(|step| step.number == at.number);
        found.cloned().ok_or(Lost::Internal("an instruction that did not run again"))
    }

    /// The store or atomic that wrote a byte last, in the launch or before a moment of it.
    pub(super) fn last_write(
        &mut self,
        place: WrittenPlace,
        before: Option<Moment>,
    ) -> Result<Option<Moment>, Lost> {
        if let Some(known) = self.writers.get(&(place, before)) {
            return Ok(*known);
        }
        self.charge()?;
        let found = trace::last_write(self.machine, self.program, &self.launch, place, before);
        let found = found.map_err(Lost::Launch)?;
        self.writers.insert((place, before), found);
        Ok(found)
    }

    /// The index in the launch of a workgroup's wave.
    pub(super) fn wave_of(&self, workgroup: [u32; 3], wave: u32) -> u64 {
        self.launch.workgroup_index(workgroup) * self.waves_of_group() + u64::from(wave)
    }

    /// Whether an instruction is part of a Rust panic.
    pub(super) fn panics(&self, step: &TracedStep) -> bool {
        Panic::of(&self.frames(step)).is_some()
    }

    /// The functions of an instruction and of the calls that led there, innermost first.
    fn frames(&self, step: &TracedStep) -> Vec<SiteFrame> {
        let pcs = std::iter::once(step.pc).chain(step.calls.iter().copied());
        self.lines.as_ref().map(|lines| frames(lines, pcs, self.root)).unwrap_or_default()
    }

    /// The nearest place of the user's that an instruction was compiled from, or one of the calls that led
    /// there.
    pub(super) fn location(&self, step: &TracedStep) -> Location {
        nearest_frame(&self.frames(step)).map(Location::from).unwrap_or_default()
    }

    /// The allocation that a byte of device memory is in, and how far.
    pub(super) fn allocation(&self, address: u64) -> (String, u64) {
        match self.machine.allocation_around(address) {
            Some((start, _, label)) => (label.to_owned(), address - start),
            None => (String::new(), address),
        }
    }
}
