//! How long a launch takes on a device that is modelled.

use amdinst_core::object::CodeObject;
use amdinst_core::object::lines::SourceMap;
use amdinst_core::report::{InstructionCycles, Modelled};
use amdinst_emu::timing::{self, InstructionLines, Model, Timing, TimingReport};
use amdinst_emu::{Fault, Launch, Machine, Program};
use serde::Serialize;

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
    pub(crate) fn new(kernel: &str, object: &CodeObject, timing: &Timing) -> Self {
        let lines = lines(timing, object);
        Self {
            kernel: kernel.to_owned(),
            original: timing.report(&lines),
            instrumented: None,
            instructions: timing.instruction_cycles(&lines),
        }
    }

    /// Adds what is told of the instrumented form, whose code object is `object`.
    pub(crate) fn add_instrumented(&mut self, object: &CodeObject, timing: &Timing) {
        self.instrumented = Some(timing.report(&lines(timing, object)));
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
