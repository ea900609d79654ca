//! `run --timing`: how long a launch takes on a device that is modelled.

use std::path::Path;

use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_emu::timing::{self, Model, Timeline, Timing};
use amdinst_emu::{Config, Launch, Machine, Program};
use amdinst_explain::{InstructionLines, timing_report};
use amdinst_format::interface::TimingReport;
use amdinst_launch::{Arguments, LaunchError};

use super::fault;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};
use crate::output;

/// A launch, modeled.
#[derive(Debug)]
pub struct Modelled {
    /// When each wave ran.
    pub timing: Timing,
    /// Its report.
    pub report: TimingReport,
}

/// Models a launch of the original kernel on a machine of its own.
///
/// # Errors
/// When the device is another processor than the code object is for, or the kernel does not end well.
pub(super) fn original(
    object: &CodeObject,
    device: Model,
    arguments: &Arguments,
    launch: &Launch,
) -> CommandResult<Modelled> {
    let run = || {
        let mut config = Config::default();
        config.member = Some(device.arch());
        let mut machine = Machine::for_code(object.target.arch, config);
        let (placed, program) = arguments.load(&mut machine, object)?;
        let launch = Launch { kernarg: placed.kernarg, ..launch.clone() };
        model(object, device, &mut machine, &program, &launch)
    };
    run().map_err(|error| fault::failure(error, object))
}

/// Models a launch on a machine that has the program and the arguments.
pub(super) fn model(
    object: &CodeObject,
    device: Model,
    machine: &mut Machine,
    program: &Program,
    launch: &Launch,
) -> Result<Modelled, LaunchError> {
    let timing = timing::simulate(machine, program, launch, &device.parameters())?;
    let lines = InstructionLines::new(&timing, SourceMap::new(object).ok().as_ref());
    let report = timing_report(&timing, &lines);
    Ok(Modelled { timing, report })
}

/// Writes when each wave of some launches, each with a name, was on which SIMD.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn write_timeline(
    path: &Path,
    launches: &[(&str, &Timing)],
    launch: &Launch,
) -> CommandResult<()> {
    let mut timeline = Timeline::default();
    for (name, timing) in launches {
        timeline.add(name, timing, launch.grid);
    }
    let mut bytes = amdinst_text::json::to_vec(&timeline.to_json()).or_exit(Exit::OutputFailed)?;
    bytes.push(b'\n');
    output::write_file(path, &bytes)
}

/// The device, if its processor runs the code object.
///
/// # Errors
/// When it is not.
pub(super) fn for_target(object: &CodeObject, device: Option<Model>) -> CommandResult<Option<Model>> {
    match device.filter(|device| !device.arch().runs(object.target.arch)) {
        Some(device) => {
            let (name, arch) = (device.parameters().name, device.arch());
            let message = format!("{name} is a {arch}; the code object is for {}", object.target.arch);
            Err(Failure::msg(Exit::Usage, message))
        }
        None => Ok(device),
    }
}
