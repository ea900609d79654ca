//! How long a launch takes on a device that is modelled.

use std::path::{Path, PathBuf};

use amdinst_core::object::CodeObject;
use amdinst_core::object::lines::SourceMap;
use amdinst_core::report::{InstructionCycles, Modelled};
use amdinst_emu::timing::{self, InstructionLines, Model, Timeline, Timing, TimingReport};
use amdinst_emu::{Fault, Launch, Machine, Program};
use serde::Serialize;

use crate::launch::Request;

/// One launch, modelled. No figure is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LaunchTiming {
    /// The kernel's name.
    pub kernel: String,
    /// Its original.
    pub original: TimingReport,
    /// Its instrumented form, if it has one.
    pub instrumented: Option<TimingReport>,
    /// Where the original's cycles went.
    #[serde(skip)]
    pub(crate) instructions: Vec<InstructionCycles>,
}

impl LaunchTiming {
    /// Of the original, whose code object is `object`.
    fn new(kernel: &str, object: &CodeObject, timing: &Timing) -> Self {
        let lines = lines(timing, object);
        Self {
            kernel: kernel.to_owned(),
            original: timing.report(&lines),
            instrumented: None,
            instructions: timing.instruction_cycles(&lines),
        }
    }

    /// How much longer a wave is there in the instrumented form: the mean residencies' ratio.
    pub fn slowdown(&self) -> Option<f64> {
        let instrumented = self.instrumented.as_ref()?;
        Some(instrumented.residency.mean / self.original.residency.mean.max(1.0))
    }

    /// As a kept run has it.
    pub(crate) fn kept(&self) -> Modelled {
        let TimingReport { device, megahertz, cycles, waves, achieved_occupancy, .. } = self.original;
        Modelled {
            kernel: self.kernel.clone(),
            device: device.to_owned(),
            megahertz,
            cycles,
            instrumented_cycles: self.instrumented.as_ref().map(|timing| timing.cycles),
            waves,
            achieved_occupancy,
            instructions: self.instructions.clone(),
        }
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let TimingReport { device, cycles, residency, occupancy, .. } = &self.original;
        let mut text = format!(
            "{} modelled on {device}: {cycles} cycles, {:.0} a wave, {} waves a compute unit fit",
            self.kernel, residency.mean, occupancy.waves_per_cu
        );
        if let (Some(instrumented), Some(slowdown)) = (&self.instrumented, self.slowdown()) {
            text.push_str(&format!(
                "; instrumented {} cycles, {:.0} a wave: {slowdown:.2}x",
                instrumented.cycles, instrumented.residency.mean
            ));
        }
        text
    }
}

/// A launch that was modelled.
#[derive(Clone, Debug)]
pub(crate) struct ModelledLaunch {
    /// What is told of it.
    pub(crate) told: LaunchTiming,
    /// When each wave of its forms ran, by the form's name, and in which grid; if timelines were asked for.
    pub(crate) waves: Option<Waves>,
}

/// When each wave of a launch ran.
#[derive(Clone, Debug)]
pub(crate) struct Waves {
    /// Where its timeline goes.
    pub(crate) directory: PathBuf,
    grid: [u32; 3],
    forms: Vec<(&'static str, Timing)>,
}

impl ModelledLaunch {
    /// Of the original. With a directory for timelines, the waves are kept.
    pub(crate) fn new(request: &Request<'_>, timing: Timing, timelines: Option<&Path>) -> Self {
        let told = LaunchTiming::new(request.kernel, &request.built.original, &timing);
        let waves = timelines.map(|directory| Waves {
            directory: directory.to_owned(),
            grid: request.grid,
            forms: vec![("original", timing)],
        });
        Self { told, waves }
    }

    /// Adds the instrumented form, whose code object is `object`.
    pub(crate) fn add_instrumented(&mut self, object: &CodeObject, timing: Timing) {
        self.told.instrumented = Some(timing.report(&lines(&timing, object)));
        if let Some(waves) = &mut self.waves {
            waves.forms.push(("instrumented", timing));
        }
    }
}

impl Waves {
    /// As a trace for viewers.
    pub(crate) fn timeline(&self) -> Timeline {
        let mut timeline = Timeline::default();
        for (form, timing) in &self.forms {
            timeline.add(form, timing, self.grid);
        }
        timeline
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
    timing.instruction_lines(SourceMap::new(object).ok().as_ref())
}
