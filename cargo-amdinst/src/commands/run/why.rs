//! `run --why`: where an element of a buffer has its value from, and what led to a fault.

use amdgpu_object::CodeObject;
use amdinst_core::report::why::ValueOrigin;
use amdinst_emu::{Config, Fault, Launch, Machine};
use amdinst_explain::origin::{Lost, Rerun, why, why_fault};
use amdinst_launch::language::ElementAt;
use amdinst_launch::{Arguments, LaunchError};

use super::fault;
use crate::exit::{CommandResult, Exit, Failure};

/// Bytes of an element whose type nothing tells.
const DWORD: u64 = 4;

/// Launches the original kernel on a machine of its own, as often as it takes to follow the value back.
///
/// # Errors
/// There is no such element, the launch does not end well, or it is too long.
pub(super) fn of_element(
    object: &CodeObject,
    config: Config,
    arguments: &Arguments,
    launch: &Launch,
    asked: &ElementAt,
) -> CommandResult<ValueOrigin> {
    let buffer = arguments.buffer(&asked.argument, "--why")?;
    let bytes = buffer.element.map_or(DWORD, |element| element.size() as u64);
    let elements = buffer.bytes / bytes;
    if asked.index >= elements {
        let message = format!("--why {asked}: {} has {elements} elements", buffer.what());
        return Err(Failure::msg(Exit::Usage, message));
    }
    let mut machine = Machine::for_code(object.target.arch, config);
    let failed = |error: LaunchError| fault::failure(error, object);
    let (placed, program) = arguments.load(&mut machine, object).map_err(failed)?;
    let launch = Launch { kernarg: placed.kernarg.clone(), ..launch.without_records() };
    let before = machine.snapshot();
    let execution = machine.launch(&program, &launch).map_err(|fault| failed(fault.into()))?;
    let first = placed.buffers[buffer.index].0 + asked.index * bytes;
    // The upper dword of a double has its sign and its exponent.
    let dword = (first + bytes.saturating_sub(DWORD)) & !(DWORD - 1);
    let mut value = [0; DWORD as usize];
    machine.read(dword, &mut value).map_err(|error| failed(error.into()))?;
    let of = (execution.wave_instructions, &before);
    let mut rerun = Rerun::new(&mut machine, &program, object, &launch, of).map_err(lost)?;
    why(&mut rerun, asked.to_string(), dword, u32::from_le_bytes(value)).map_err(lost)
}

/// Launches the original kernel on a machine of its own, as often as it takes to follow its fault back.
///
/// # Errors
/// The launch cannot begin, or no value of the kernel's leads to such a fault.
pub(super) fn of_fault(
    object: &CodeObject,
    config: Config,
    arguments: &Arguments,
    launch: &Launch,
    fault: &Fault,
) -> CommandResult<ValueOrigin> {
    let mut machine = Machine::for_code(object.target.arch, config);
    let (placed, program) =
        arguments.load(&mut machine, object).map_err(|error| fault::failure(error, object))?;
    let launch = Launch { kernarg: placed.kernarg.clone(), ..launch.without_records() };
    let before = machine.snapshot();
    // How long it is, the first time tells.
    let mut rerun = Rerun::new(&mut machine, &program, object, &launch, (1, &before)).map_err(lost)?;
    let nothing = || Failure::msg(Exit::Usage, "--why fault: no value of the kernel's leads to this fault");
    why_fault(&mut rerun, fault).map_err(lost)?.ok_or_else(nothing)
}

fn lost(lost: Lost) -> Failure {
    match lost {
        Lost::TooLong => Failure::new(Exit::Unsupported, lost)
            .help("a smaller grid, or fewer elements, often show the same"),
        lost => Failure::new(Exit::BadInput, lost),
    }
}
