//! What the model says of a dispatch.

use amdgpu_object::Occupancy;
use serde::Serialize;

use super::hierarchy::Traffic;
use super::parameters::Parameters;
use super::stall::Breakdown;

/// A dispatch, as modeled. Times are cycles of the engine clock, from the start of the dispatch.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// The device's parameters.
    pub parameters: Parameters,
    /// From the dispatch's start until its last wave has left.
    pub cycles: u64,
    /// When each wave ran, by global wave index. 32 bytes a wave: the only part that grows with the launch.
    pub waves: Vec<WaveTime>,
    /// Instructions executed, summed over waves.
    pub wave_instructions: u64,
    /// Where the waves' cycles went. Its total is the sum of their residencies.
    pub breakdown: Breakdown,
    /// Where the waves' cycles went, for each instruction that ran, by address.
    pub instructions: Vec<InstructionTime>,
    /// Waves that fit, and what limits them.
    pub occupancy: Occupancy,
    /// Waves that were resident, on average over the dispatch and over the device's wave slots: from 0 to 1.
    pub achieved: f64,
    /// Memory traffic.
    pub traffic: Traffic,
}

/// One wave's time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaveTime {
    /// Compute unit.
    pub compute_unit: u32,
    /// SIMD in it.
    pub simd: u32,
    /// When it began.
    pub start: u64,
    /// When it had issued its last instruction.
    pub end: u64,
}

impl WaveTime {
    /// How long it was there: what two readings of the clock around the kernel's code tell, besides
    /// themselves.
    pub const fn residency(&self) -> u64 {
        self.end - self.start
    }
}

/// Where the cycles of one instruction's executions went: its issues, and the waits before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InstructionTime {
    /// Address in the code object.
    pub pc: u64,
    /// Executions, summed over waves.
    pub executions: u64,
    /// Its cycles.
    pub breakdown: Breakdown,
}

/// Residencies, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Residency {
    /// The mean.
    pub mean: f64,
    /// The shortest.
    pub least: u64,
    /// The median (of an even number of waves, the lower one).
    pub median: u64,
    /// The longest.
    pub most: u64,
}

impl Timing {
    /// How long waves were there.
    pub fn residency(&self) -> Residency {
        let mut all: Vec<u64> = self.waves.iter().map(WaveTime::residency).collect();
        all.sort_unstable();
        let (Some(&least), Some(&most)) = (all.first(), all.last()) else { return Residency::default() };
        let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
        Residency { mean, least, median: all[(all.len() - 1) / 2], most }
    }

    /// How long the dispatch lasts.
    pub fn seconds(&self) -> f64 {
        self.parameters.seconds(self.cycles)
    }
}
