//! How long a dispatch takes: a model of a CDNA2 device's compute units, caches and memory.
//!
//! The model drives the emulator: it decides cycle by cycle which wave of which compute unit issues, has the emulator
//! execute that one instruction, and works out what it takes. So barriers, atomics, `s_memtime` and divergent branches
//! interleave as they would at those times, and nothing is recorded in between: memory use is that of the waves that are
//! resident, whatever the launch. All compute units are simulated, on one thread: the result does not depend on the host.
//!
//! What it says is modelled, not measured: [`Parameters`] tells of each constant where it comes from.
//!
//! ```no_run
//! # use amdinst_emu::{Launch, Machine, Program, timing};
//! # fn demo(machine: &mut Machine, program: &Program, launch: &Launch) -> Result<(), amdinst_emu::Fault> {
//! let timing = timing::simulate(machine, program, launch, &timing::Parameters::mi210())?;
//! println!("{} cycles, {:.0} a wave", timing.cycles, timing.residency().mean);
//! # Ok(())
//! # }
//! ```

mod address_unit;
mod cache;
mod calendar;
mod counter;
mod engine;
mod hierarchy;
mod instructions;
mod lds;
mod outcome;
mod parameters;
mod stall;
mod unit;
mod vector_memory;
mod wave;

pub use hierarchy::Traffic;
pub use outcome::{InstructionTime, Residency, Timing, WaveTime};
pub use parameters::{Cost, FixedLatencies, Parameters};
pub use stall::{Breakdown, Stall};

use crate::check::Fault;
use crate::dispatch::{self, Launch};
use crate::machine::Machine;
use crate::program::Program;

/// A device over several dispatches: what L2 holds stays from one to the next, as on hardware; the other caches are
/// emptied.
#[derive(Clone, Debug)]
pub struct Device {
    parameters: Parameters,
    hierarchy: hierarchy::Hierarchy,
}

impl Device {
    /// A device with empty caches.
    pub fn new(parameters: Parameters) -> Self {
        let hierarchy = hierarchy::Hierarchy::new(&parameters);
        Self { parameters, hierarchy }
    }

    /// Run a kernel to its end, and tell how long it takes. Memory is afterwards as after [`Machine::launch`], except
    /// where the order of workgroups or a clock shows in it.
    ///
    /// # Errors
    /// A [`Fault`], as of a launch. A workgroup whose registers do not fit into a compute unit is one too.
    pub fn launch(
        &mut self,
        machine: &mut Machine,
        program: &Program,
        launch: &Launch,
    ) -> Result<Timing, Fault> {
        let Self { parameters, hierarchy } = self;
        hierarchy.begin(parameters);
        machine.with_memory(|memory, config| {
            dispatch::prepare(memory, config, program, launch, |shared| {
                engine::Engine::new(shared, parameters, hierarchy)?.run()
            })
        })
    }
}

/// One dispatch on a device with empty caches.
///
/// # Errors
/// See [`Device::launch`].
pub fn simulate(
    machine: &mut Machine,
    program: &Program,
    launch: &Launch,
    parameters: &Parameters,
) -> Result<Timing, Fault> {
    Device::new(parameters.clone()).launch(machine, program, launch)
}
