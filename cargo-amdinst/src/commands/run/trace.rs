//! `run --trace`: the instructions of one wave, with what each did to the registers.

use std::fmt::Write as _;

use amdgpu_isa::Reg;
use amdgpu_object::CodeObject;
use amdgpu_object::lines::SourceMap;
use amdinst_emu::trace::{self, Keep, Trace, TraceError, TracedStep, Watch, WaveId};
use amdinst_emu::{Config, Fault, Launch, Machine, MemorySpace};
use amdinst_launch::{Arguments, LaunchError};
use amdinst_text::count;
use serde::Serialize;

use super::fault;
use crate::commands::source::Sources;
use crate::exit::{CommandResult, Exit, Failure};
use crate::output::short_path;

/// Columns that an instruction takes before its registers.
const INSTRUCTION: usize = 44;

/// What to trace, as the command line says.
#[derive(Clone, Copy, Debug)]
pub struct TraceChoice {
    /// The wave, if one is named.
    pub wave: Option<WaveId>,
    /// The lane, if one is named.
    pub lane: Option<u8>,
    /// Instructions that are shown, at most.
    pub limit: u32,
    /// The instructions that ran last are shown, not the first.
    pub last: bool,
}

impl TraceChoice {
    /// Without a fault: the first wave and lane, and what it ran first. With one: the wave and lane at fault,
    /// and what led there.
    fn watch(&self, fault: Option<&Fault>) -> Watch {
        let at_fault = fault.filter(|fault| fault.pc.is_some());
        let wave = self.wave.unwrap_or_else(|| {
            at_fault.map_or(WaveId::Index(0), |fault| WaveId::Of(fault.workgroup, fault.wave))
        });
        Watch {
            wave,
            lane: self.lane.or(at_fault.and_then(|fault| fault.lane)).unwrap_or(0),
            limit: self.limit as usize,
            keep: if self.last || at_fault.is_some() { Keep::Last } else { Keep::First },
        }
    }
}

/// A trace: the JSON form.
#[derive(Debug, Serialize)]
pub struct TraceView {
    /// Index of the wave in the launch.
    pub wave: u64,
    /// Its workgroup in x, y, z.
    pub workgroup: [u32; 3],
    /// Its index there.
    pub wave_in_workgroup: u32,
    /// The lane whose vector registers are shown.
    pub lane: u8,
    /// Instructions that the wave ran.
    pub executed: u64,
    /// The instructions that are shown, in the order of execution.
    pub steps: Vec<StepView>,
}

/// An executed instruction.
#[derive(Debug, Serialize)]
pub struct StepView {
    /// How many instructions the wave had run before.
    pub number: u64,
    /// Address in the code object.
    pub pc: u64,
    /// The instruction, as LLVM writes it.
    pub text: String,
    /// Source file of the innermost inlined function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The lane works in this instruction: it is on, or the instruction is a scalar one.
    pub active: bool,
    /// EXEC before.
    pub exec_before: String,
    /// EXEC after.
    pub exec: String,
    /// Registers read, with their values before. EXEC is left out.
    pub reads: Vec<RegisterView>,
    /// Registers written, with their values after. EXEC is left out.
    pub writes: Vec<RegisterView>,
    /// Where the lane accesses memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<AccessView>,
    #[serde(skip)]
    exec_changes: Option<u64>,
}

/// A register and its value.
#[derive(Debug, Serialize)]
pub struct RegisterView {
    /// Its name.
    pub register: String,
    /// Its 32 bits; of a vector register the lane's.
    pub value: u32,
}

/// A place in memory.
#[derive(Debug, Serialize)]
pub struct AccessView {
    /// `memory`, or `lds`.
    pub space: &'static str,
    /// Device address, or offset into LDS.
    pub address: u64,
    /// The buffer or other allocation that the address is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocation: Option<String>,
    /// Offset from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
}

/// Traces a launch of the original kernel on a machine of its own. `fault` is how the launch ended, if it did
/// not end well.
///
/// # Errors
/// No such wave or lane, or a launch that cannot begin.
pub(super) fn of_launch(
    object: &CodeObject,
    config: Config,
    arguments: &Arguments,
    launch: &Launch,
    choice: &TraceChoice,
    fault: Option<&Fault>,
) -> CommandResult<TraceView> {
    let prepare = || {
        let mut machine = Machine::for_code(object.target.arch, config);
        let (placed, program) = arguments.load(&mut machine, object)?;
        Ok((machine, placed, program))
    };
    let (mut machine, placed, program) = prepare().map_err(|error| fault::failure(error, object))?;
    let launch = Launch { kernarg: placed.kernarg, ..launch.without_records() };
    match trace::trace(&mut machine, &program, &launch, &choice.watch(fault)) {
        Ok(trace) => Ok(TraceView::new(trace, object)),
        Err(TraceError::Launch(fault)) => Err(fault::failure(LaunchError::from(*fault), object)),
        Err(error) => Err(Failure::new(Exit::Usage, error)),
    }
}

impl TraceView {
    fn new(trace: Trace, object: &CodeObject) -> Self {
        let map = SourceMap::new(object).ok();
        let step = |step: TracedStep| {
            let frame = map.as_ref().and_then(|map| map.frames(step.pc).into_iter().next());
            let frame = frame.filter(|frame| frame.line > 0);
            let registers = |values: Vec<(Reg, u32)>| {
                let view =
                    |(register, value): (Reg, u32)| RegisterView { register: register.to_string(), value };
                values.into_iter().map(view).collect()
            };
            StepView {
                number: step.number,
                pc: step.pc,
                text: step.text.to_string(),
                file: frame.as_ref().map(|frame| frame.file.to_string()),
                line: frame.as_ref().map(|frame| frame.line),
                active: step.active,
                exec_before: format!("{:#018x}", step.exec_before),
                exec: format!("{:#018x}", step.exec),
                reads: registers(step.reads),
                writes: registers(step.writes),
                access: step.access.map(|access| {
                    let (allocation, offset) = access.inside.unzip();
                    let space = if access.space == MemorySpace::Lds { "lds" } else { "memory" };
                    AccessView { space, address: access.address, allocation, offset }
                }),
                exec_changes: (step.exec != step.exec_before).then_some(step.exec),
            }
        };
        Self {
            wave: trace.index,
            workgroup: trace.workgroup,
            wave_in_workgroup: trace.wave,
            lane: trace.lane,
            executed: trace.executed,
            steps: trace.steps.into_iter().map(step).collect(),
        }
    }

    /// For people: source lines as headings, and a line for each instruction.
    pub fn human(&self) -> String {
        let Self { wave, workgroup: [x, y, z], wave_in_workgroup, lane, executed, steps } = self;
        let mut text = format!(
            "wave {wave} (workgroup {x},{y},{z}, wave {wave_in_workgroup} of it), lane {lane}: {}",
            count(*executed, "instruction")
        );
        // Writing to a String cannot fail, here and below.
        match steps.first() {
            Some(first) if (steps.len() as u64) < *executed => {
                let _ = write!(text, ", {} to {} shown", first.number, first.number + steps.len() as u64 - 1);
                text.push_str(" (--trace-limit shows more)");
            }
            _ => {}
        }
        text.push('\n');
        if let Some(first) = steps.first() {
            let _ = writeln!(text, "exec={}", first.exec_before);
        }
        let mut sources = Sources::default();
        let mut place = None;
        for step in steps {
            let here = step.file.as_deref().zip(step.line);
            if here != place
                && let Some((file, line)) = here
            {
                let source = sources.line(file, line).map(str::trim).unwrap_or_default();
                let _ = writeln!(text, "{}", format!("{}:{line}  {source}", short_path(file)).trim_end());
            }
            place = here.or(place);
            step.write(&mut text);
        }
        text
    }
}

impl StepView {
    fn write(&self, text: &mut String) {
        let start = text.len();
        let _ = write!(text, "{:>8}  {:x}  {:INSTRUCTION$}", self.number, self.pc, self.text);
        let list = |text: &mut String, registers: &[RegisterView]| {
            for RegisterView { register, value } in registers {
                let _ = match register.as_str() {
                    "scc" => write!(text, " scc={value}"),
                    _ => write!(text, " {register}={value:08x}"),
                };
            }
        };
        if !self.active {
            text.push_str("  lane off");
        } else if self.writes.is_empty() && self.access.is_some() {
            // A store: what it reads is what it does.
            text.push_str("  reads");
            list(text, &self.reads);
        }
        if !self.writes.is_empty() {
            text.push(' ');
            list(text, &self.writes);
        }
        if let Some(access) = &self.access {
            let _ = match (&access.allocation, access.offset) {
                (Some(allocation), Some(offset)) => write!(text, "  at {allocation}+{offset:#x}"),
                _ => write!(text, "  at {} {:#x}", access.space, access.address),
            };
        }
        if let Some(exec) = self.exec_changes {
            let _ = write!(text, "  exec={exec:#018x} ({})", count(exec.count_ones(), "lane"));
        }
        let end = text.trim_end_matches(' ').len();
        text.truncate(end.max(start));
        text.push('\n');
    }
}
