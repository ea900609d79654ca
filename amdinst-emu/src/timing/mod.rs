//! How long a dispatch takes: a model of a CDNA2 device's compute units, caches and memory.
//!
//! The model drives the emulator: it decides cycle by cycle which wave of which compute unit issues, has the
//! emulator execute that one instruction, and works out what it takes. So barriers, atomics, `s_memtime` and
//! divergent branches interleave as they would at those times, and nothing is recorded in between: memory use
//! is that of the waves that are resident, whatever the launch. All compute units are simulated, on one
//! thread: the result does not depend on the host.
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
//!
//! The device is a CDNA2 one. A gfx900 is modelled as well, to compare with what was measured on one in 2022.
//!
//! # How it is made
//! * The emulator has no hook for the model, and pays nothing. Each result takes 32 bytes a wave.
//! * All compute units are simulated, so that L2 and HBM are shared as they are. A sample of them would have
//!   to guess that.
//! * Every completion is known when an operation begins: bandwidth is reserved ahead (`calendar`), so the
//!   only events are visits of SIMDs and ends of waves (`engine`).
//! * Each constant stands in `parameters` with its source. Three constants of the gfx900, of which nothing is
//!   published, are fitted by `cargo amdinst bench fit`, on three of the nine kernels of `cargo amdinst bench
//!   seed`; `docs/EVALUATION.md` has the results.
//! * Tests (`tests/timing/`) assert what an MI210 was measured to do within 15 %, and compare one wave with
//!   LLVM's latencies against llvm-mca.
//! * `timeline` makes a trace of a dispatch's waves for viewers.
//!
//! # What is not modelled
//! * Clocks that change, other dispatches, the host.
//! * Virtual addresses beyond translations of 2 MB pages at hand; DRAM pages and refresh.
//! * The scalar cache's stores, LDS direct loads, priorities (`s_setprio`), and what empties vL1D in a
//!   dispatch (`buffer_wbinvl1`).
//! * The order of returns among LDS, scalar and vector memory beyond the rules of the wait counters.
//! * Evictions: a write takes HBM's bandwidth when it first writes a clean sector.

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
mod timeline;
mod unit;
mod vector_memory;
mod wave;

pub use hierarchy::Traffic;
pub use outcome::{InstructionTime, Residency, Timing, WaveTime};
pub use parameters::{Cost, FixedLatencies, Parameters};
pub use stall::{Breakdown, Stall};
pub use timeline::Timeline;
pub use unit::SIMDS;

use amdgpu_isa::Arch;

use crate::check::Fault;
use crate::dispatch::{self, Launch};
use crate::machine::Machine;
use crate::program::Program;

/// A device over several dispatches. What L2 and the instruction caches hold stays from one to the next, as
/// on hardware; the other caches are emptied.
///
/// "The scalar and vector caches are invalidated between kernel dispatches by CP" (LLVM's AMDGPU usage,
/// "Memory Model"); instruction caches are when code is loaded (ROCR-Runtime,
/// `GpuAgent::InvalidateCodeCaches`), which a dispatch is not.
#[derive(Clone, Debug)]
pub struct Device {
    parameters: Parameters,
    hierarchy: hierarchy::Hierarchy,
    /// One for [`Parameters::units_per_front`] compute units.
    front: Vec<unit::FrontCaches>,
}

impl Device {
    /// A device with empty caches.
    pub fn new(parameters: Parameters) -> Self {
        let hierarchy = hierarchy::Hierarchy::new(&parameters);
        let groups = parameters.front_of(parameters.compute_units.max(1) as usize - 1) + 1;
        let front = vec![unit::FrontCaches::new(&parameters); groups];
        Self { parameters, hierarchy, front }
    }

    /// Run a kernel to its end, and tell how long it takes. Memory is afterwards as after
    /// [`Machine::launch`], except where the order of workgroups or a clock shows in it.
    ///
    /// # Errors
    /// A [`Fault`], as of a launch. A workgroup whose registers do not fit into a compute unit is one too.
    pub fn launch(
        &mut self,
        machine: &mut Machine,
        program: &Program,
        launch: &Launch,
    ) -> Result<Timing, Fault> {
        let Self { parameters, hierarchy, front } = self;
        hierarchy.begin(parameters);
        front.iter_mut().for_each(|caches| caches.begin(parameters));
        machine.with_memory(|memory, config| {
            dispatch::prepare(memory, config, program, launch, |shared| {
                engine::Engine::new(&shared, parameters, hierarchy, front)?.run()
            })
        })
    }
}

/// A device that can be modeled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// AMD Instinct MI210.
    Mi210,
    /// One die of an AMD Instinct MI250X.
    Mi250x,
    /// A gfx900 of 64 compute units.
    Vega10,
}

impl Model {
    /// Every device.
    pub const ALL: [Self; 3] = [Self::Mi210, Self::Mi250x, Self::Vega10];
    /// Their names, to tell which there are.
    pub const NAMES: &str = "mi210, mi250x, vega10";

    /// Its constants.
    pub const fn parameters(self) -> Parameters {
        match self {
            Self::Mi210 => Parameters::mi210(),
            Self::Mi250x => Parameters::mi250x(),
            Self::Vega10 => Parameters::vega10(),
        }
    }

    /// Its processor.
    pub const fn arch(self) -> Arch {
        match self {
            Self::Mi210 | Self::Mi250x => Arch::Gfx90a,
            Self::Vega10 => Arch::Gfx900,
        }
    }
}

impl std::str::FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|model| model.parameters().name == name);
        known.ok_or_else(|| format!("`{name}` is not a device that is modeled: {}", Self::NAMES))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_is_named() {
        assert_eq!(Model::NAMES, Model::ALL.map(|model| model.parameters().name).join(", "));
        for model in Model::ALL {
            assert_eq!(model.parameters().name.parse(), Ok(model));
        }
    }
}
