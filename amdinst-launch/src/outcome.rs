//! A launch in the emulator, and what it leaves behind.

use amdgpu_object::CodeObject;
use amdinst_emu::{Config, Execution, Launch, Machine, Program};
use amdinst_format::printed::Printed;

use crate::arguments::{Arguments, Placed};
use crate::error::LaunchError;
use crate::printed::printed_in;

/// What a launch left behind.
#[derive(Debug)]
pub struct Outcome {
    /// Its figures.
    pub execution: Execution,
    /// The contents of the argument buffers, in the order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    /// The lines that the kernel printed; `None` of one that has nothing to print with.
    pub printed: Option<Printed>,
}

impl Outcome {
    /// Launches a kernel on a machine of its own.
    ///
    /// # Errors
    /// When the code object cannot be loaded, or the kernel does not end well.
    pub fn of(
        object: &CodeObject,
        config: Config,
        arguments: &Arguments,
        launch: Launch,
    ) -> Result<Self, LaunchError> {
        let mut machine = Machine::for_code(object.target.arch, config);
        let (placed, program) = arguments.load(&mut machine, object)?;
        Self::placed(&mut machine, &program, object, &placed, launch)
    }

    /// Launches a kernel on a machine that has the program and the arguments.
    ///
    /// # Errors
    /// When the kernel does not end well.
    pub fn placed(
        machine: &mut Machine,
        program: &Program,
        object: &CodeObject,
        placed: &Placed,
        mut launch: Launch,
    ) -> Result<Self, LaunchError> {
        launch.kernarg = placed.kernarg.clone();
        let execution = machine
            .launch(program, &launch)
            .map_err(|fault| LaunchError::faulted(fault, machine, program, object, &launch))?;
        Ok(Self { execution, buffers: placed.read(machine)?, printed: printed_in(machine, program) })
    }
}
