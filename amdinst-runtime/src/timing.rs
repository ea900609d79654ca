//! How long a launch takes on a device that is modelled.

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_core::report::{InstructionCycles, Modelled, WaveSpan};
use amdinst_emu::timing::{self, Model, Timeline, Timing};
use amdinst_emu::{Fault, Launch, Machine, Program};
use amdinst_explain::{InstructionLines, instruction_cycles, timing_report, wave_spans};
use amdinst_format::interface::{LaunchTiming, TimingReport};

use crate::request::Request;

/// Waves of a launch whose times are kept with the run, at most: for the picture on the report's page.
const SPANS: usize = 256;

/// A launch that was modelled.
#[derive(Clone, Debug)]
pub(crate) struct ModelledLaunch {
    kernel: String,
    original: TimingReport,
    instrumented: Option<TimingReport>,
    /// Where the original's cycles went.
    instructions: Vec<InstructionCycles>,
    /// When its waves ran, as far as that is kept.
    spans: Vec<WaveSpan>,
    /// When each wave of its forms ran, by the form's name; if timelines were asked for.
    waves: Option<Vec<(&'static str, Timing)>>,
    grid: [u32; 3],
}

impl ModelledLaunch {
    /// Of the original. With `timelines`, the waves are kept.
    pub(crate) fn new(request: &Request<'_>, timing: Timing, timelines: bool) -> Self {
        let lines = lines(&timing, &request.built.original);
        Self {
            kernel: request.kernel.to_owned(),
            original: timing_report(&timing, &lines),
            instrumented: None,
            instructions: instruction_cycles(&timing, &lines),
            spans: WaveSpan::first_units(wave_spans(&timing), SPANS),
            waves: timelines.then(|| vec![("original", timing)]),
            grid: request.grid,
        }
    }

    /// Adds the instrumented form, whose code object is `object`.
    pub(crate) fn add_instrumented(&mut self, object: &CodeObject, timing: Timing) {
        self.instrumented = Some(timing_report(&timing, &lines(&timing, object)));
        if let Some(waves) = &mut self.waves {
            waves.push(("instrumented", timing));
        }
    }

    /// The times, as tests get them.
    pub(crate) fn told(&self) -> LaunchTiming {
        LaunchTiming {
            kernel: self.kernel.clone(),
            original: self.original.clone(),
            instrumented: self.instrumented.clone(),
        }
    }

    /// The times, as a saved run has them.
    pub(crate) fn kept(&self) -> Modelled {
        let TimingReport { megahertz, cycles, waves, achieved_occupancy, .. } = self.original;
        Modelled {
            kernel: self.kernel.clone(),
            device: self.original.device.clone(),
            megahertz,
            cycles,
            instrumented_cycles: self.instrumented.as_ref().map(|timing| timing.cycles),
            waves,
            achieved_occupancy,
            instructions: self.instructions.clone(),
            spans: self.spans.clone(),
        }
    }

    /// When each wave ran, as a trace for viewers, if that was asked for.
    pub(crate) fn timeline(&self) -> Option<String> {
        let mut timeline = Timeline::default();
        for (form, timing) in self.waves.as_ref()? {
            timeline.add(form, timing, self.grid);
        }
        Some(timeline.to_json().to_string())
    }
}

/// Models a launch on a copy of a machine, which stays as it is.
pub(crate) fn model(
    device: Model,
    machine: &Machine,
    program: &Program,
    launch: &Launch,
) -> Result<Timing, Fault> {
    timing::simulate(&mut machine.clone(), program, launch, &device.parameters())
}

/// The source lines of a launch of `object`.
fn lines(timing: &Timing, object: &CodeObject) -> InstructionLines {
    InstructionLines::new(timing, SourceMap::new(object).ok().as_ref())
}
