//! `run --report`: the instrumented kernel beside the original, compared in memory and in counts.

use amdgpu_object::{CodeObject, Kernel};
use amdinst_core::counters::{Layout, Probe, decode};
use amdinst_core::instrument::{self, KernelProbes, Options, ProbeMap, probe_specs};
use amdinst_core::names;
use amdinst_core::report::oracle;
use amdinst_core::report::{self, Report};
use amdinst_emu::timing::Model;
use amdinst_emu::{Config, FaultKind, Launch, Machine, Program, Room};
use amdinst_explain::{native_blocks, native_counts, native_ticks};
use amdinst_runtime::stopping;

use super::bind::{Arguments, Placed};
use super::model::{Modelled, model};
use super::room;
use super::{LaunchError, Outcome, fault};
use crate::commands::instrument::all_selected;
use crate::exit::{CommandResult, Exit, Failure, OrExit as _};

/// Disagreements that are told.
const TOLD: usize = 10;

/// What the comparison came to.
#[derive(Debug)]
pub struct Checked {
    /// The divergence report, `memory_equal` and `oracle_equal` filled in.
    pub report: Report,
    /// The first disagreements.
    pub disagreements: Vec<String>,
    /// Wave-instructions of the instrumented kernel; `None` when it was not instrumented.
    pub instrumented_instructions: Option<u64>,
    /// How long the instrumented kernel takes, if a device was given to model it on.
    pub timing: Option<Modelled>,
}

impl Checked {
    /// How the process ends.
    pub fn exit(&self) -> Exit {
        if self.report.memory_equal == Some(false) || self.report.oracle_equal == Some(false) {
            Exit::Mismatch
        } else if self.instrumented_instructions.is_none() && !self.report.refusals.is_empty() {
            Exit::NothingInstrumented
        } else if !self.report.refusals.is_empty() {
            Exit::SomeRefused
        } else {
            Exit::Success
        }
    }
}

/// A code object with its instrumented form.
#[derive(Debug)]
pub struct Instrumented<'a> {
    object: &'a CodeObject,
    plan: instrument::Plan,
    /// Nothing was left out by choice.
    counts_all: bool,
    /// What the plan gives; `None` when no kernel was instrumented.
    rewritten: Option<(CodeObject, ProbeMap)>,
}

/// Instruments the kernel, runs it on a machine filled like the original's, and compares; models it too, if a device is given.
///
/// # Errors
/// When the kernel cannot be instrumented at all, or runs differently than its original does.
pub fn check(
    object: &CodeObject,
    kernel: &Kernel,
    options: Options,
    arguments: &Arguments,
    launch: &Launch,
    original: &Outcome,
    device: Option<Model>,
) -> CommandResult<Checked> {
    Instrumented::new(object, options)?.check(kernel, arguments, launch, original, device)
}

impl<'a> Instrumented<'a> {
    /// Instruments as `options` say; the probes are the code object's own.
    ///
    /// # Errors
    /// When that cannot be done at all.
    pub fn new(object: &'a CodeObject, options: Options) -> CommandResult<Self> {
        let options = Options { probes: probe_specs(object).or_exit(Exit::BadInput)?, ..options };
        let plan = instrument::plan(object, &options)?;
        all_selected(&plan)?;
        let rewritten = if plan.kernels().iter().any(KernelProbes::is_instrumented) {
            let instrumented = instrument::apply(object, plan.clone())?;
            let rewritten = CodeObject::parse(instrumented.bytes).map_err(|error| {
                let told = "the instrumented code object cannot be read back";
                Failure::internal(anyhow::Error::new(error).context(told))
            })?;
            Some((rewritten, instrumented.map))
        } else {
            None
        };
        Ok(Self { object, plan, counts_all: options.only.is_empty(), rewritten })
    }

    /// Runs a kernel's instrumented form on a machine filled like the original's, and compares; models it too, if a device is given.
    ///
    /// # Errors
    /// When it runs differently than its original does.
    pub fn check(
        &self,
        kernel: &Kernel,
        arguments: &Arguments,
        launch: &Launch,
        original: &Outcome,
        device: Option<Model>,
    ) -> CommandResult<Checked> {
        let object = self.object;
        let planned = self.plan.kernels().iter().find(|probes| probes.name == kernel.name);
        let planned =
            planned.ok_or_else(|| Failure::msg(Exit::BadInput, "the plan leaves the kernel out"))?;
        let target = object.target.to_string();
        let (grid, block) = (launch.grid, launch.block);
        let (rewritten, map) = match &self.rewritten {
            Some((rewritten, map)) if planned.is_instrumented() => (rewritten, map),
            // Nothing to count, or refused: the original alone can still show that no narrowing was overlooked.
            _ => {
                let demangled = names::demangled(&planned.name);
                let report = Report::new(&report::Launch {
                    probes: planned,
                    demangled: demangled.as_deref(),
                    target: &target,
                    grid,
                    block,
                    records: &[],
                    seconds: None,
                });
                let report = report.or_exit(Exit::BadInput)?;
                return Ok(Checked {
                    report,
                    disagreements: Vec::new(),
                    instrumented_instructions: None,
                    timing: None,
                });
            }
        };
        let probes = map.kernel(&kernel.name).unwrap_or(planned);
        let layout = probes.layout(grid, block);
        let ready = || Ready::new(rewritten, probes, &layout, arguments, launch);
        let (outcome, buffer) = ready().and_then(Ready::launch).map_err(|error| {
            let failure = match error {
                LaunchError::Fault(fault) if fault.kind == FaultKind::Stopped => {
                    return LaunchError::Fault(fault).failure(object);
                }
                LaunchError::Fault(fault) => {
                    Failure::msg(Exit::Mismatch, fault::told(&fault, object, &|pc| map.original_pc(pc)))
                }
                error => return error.failure(object),
            };
            failure.note("the original kernel ends well, its instrumented form does not").help(
                "if `--check uninitialised,races` finds nothing, this is a bug in cargo-amdinst: please report it",
            )
        })?;

        let records = decode(&buffer).map_err(Failure::internal)?;
        let demangled = names::demangled(&probes.name);
        let described = report::Launch {
            probes,
            demangled: demangled.as_deref(),
            target: &target,
            grid,
            block,
            records: &records,
            seconds: None,
        };
        let mut report = Report::new(&described).or_exit(Exit::Mismatch)?;
        let execution = &original.execution;
        let disagreements = match probes.probe {
            Probe::Branches => {
                let native = native_counts(&execution.masks, records.len());
                oracle::compare(probes, &records, &native, TOLD)
            }
            Probe::Blocks => {
                let native = native_blocks(&execution.steps, records.len());
                oracle::compare_blocks(probes, &records, &native, self.counts_all, TOLD)
            }
            Probe::Time => {
                let ticks = native_ticks(object, &execution.steps, records.len());
                oracle::compare_times(&records, &ticks, TOLD)
            }
        };
        let mut told: Vec<_> = disagreements.iter().map(ToString::to_string).collect();
        report.oracle_equal = Some(disagreements.is_empty());
        let different = first_difference(&original.buffers, &outcome.buffers);
        report.memory_equal = Some(different.is_none());
        told.extend(different);
        let timing = match device {
            Some(device) => {
                let modelled = ready().and_then(|ready| {
                    let Ready { mut machine, program, launch, .. } = ready;
                    model(rewritten, device, &mut machine, &program, &launch)
                });
                Some(modelled.map_err(|error| error.failure(object))?)
            }
            None => None,
        };
        Ok(Checked {
            report,
            disagreements: told,
            instrumented_instructions: Some(outcome.execution.wave_instructions),
            timing,
        })
    }
}

/// An instrumented kernel that can be launched: a machine with its arguments and its counter buffer.
struct Ready {
    machine: Machine,
    program: Program,
    placed: Placed,
    launch: Launch,
    /// Where the counter buffer is, and what it begins with.
    address: u64,
    buffer: Vec<u8>,
}

impl Ready {
    fn new(
        object: &CodeObject,
        probes: &KernelProbes,
        layout: &Layout,
        arguments: &Arguments,
        launch: &Launch,
    ) -> Result<Self, LaunchError> {
        room::check(Room::here(), [layout.buffer_size()])
            .map_err(|(_, error)| LaunchError::NoRoom { waves: layout.waves(), error })?;
        let mut config = Config::default();
        config.stop = Some(stopping::flag());
        let mut machine = Machine::new(object.target.arch, config);
        let placed = arguments.place(&mut machine)?;
        let buffer = layout.initial_buffer();
        let address = machine.alloc(buffer.len() as u64, 256, "counter buffer")?;
        machine.write(address, &buffer)?;
        let mut kernarg = placed.kernarg.clone();
        let program = machine.load(object)?;
        probes.set_argument(&mut kernarg, layout, address)?;
        if let Some(variable) = probes.buffer_symbol.as_ref().and_then(|name| program.variable(name)) {
            machine.write(variable, &address.to_le_bytes())?;
        }
        let launch = Launch {
            kernarg,
            record_masks: false,
            record_steps: false,
            count_opcodes: false,
            ..launch.clone()
        };
        Ok(Self { machine, program, placed, launch, address, buffer })
    }

    /// Launches it; gives what it left in the buffers, and its records.
    fn launch(mut self) -> Result<(Outcome, Vec<u8>), LaunchError> {
        let execution = self.machine.launch(&self.program, &self.launch)?;
        self.machine.read(self.address, &mut self.buffer)?;
        Ok((Outcome { execution, buffers: self.placed.read(&self.machine)? }, self.buffer))
    }
}

/// The first byte in which the argument buffers differ, told for people.
fn first_difference(original: &[Vec<u8>], instrumented: &[Vec<u8>]) -> Option<String> {
    original.iter().zip(instrumented).enumerate().find_map(|(buffer, (one, other))| {
        let at = one.iter().zip(other).position(|(a, b)| a != b)?;
        Some(format!(
            "memory differs: buffer {}, byte {at}: {:#04x} after the original, {:#04x} after the instrumented kernel",
            buffer + 1,
            one[at],
            other[at]
        ))
    })
}
