//! Devices that were opened, and launches.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::printed::Printed;
use crate::probes::Limiter;
use crate::report::run::{FaultReport, Sampled};
use crate::report::{Cycles, MemoryUse, Modelled, Report};

/// A device that was opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its kind: `the emulator (gfx90a)`, `AMD GPU 0 (gfx90a:sramecc+:xnack-)`.
    pub name: String,
    /// Which one was taken and why, in a sentence.
    pub why: String,
    /// Whether kernels run in the emulator.
    pub is_emulator: bool,
    /// The processor whose code objects it runs.
    pub cpu: String,
}

/// A launch that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchRequest {
    /// The kernel's package.
    pub package: String,
    /// The features that the test's copy of that package was compiled with, sorted, if that is known.
    pub features: Option<Vec<String>>,
    /// The kernel, by its path in the crate (`scan::sum`). Of several kernels of one name, the code object
    /// has each by its path.
    pub kernel: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// Bytes of dynamic LDS of a workgroup.
    pub lds: u32,
    /// The explicit arguments, little-endian; a buffer is its address.
    pub arguments: Vec<Vec<u8>>,
    /// The name of the parameter that each is of, if that is known.
    pub parameters: Vec<String>,
}

/// A launch that ended well. `R` is the report, or its text for a reader who need not know it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launched<R = Report> {
    /// How the kernel's branches diverged.
    pub report: R,
    /// The cargo profile that the kernel was built with.
    pub profile: String,
    /// Instructions that the original executed, summed over waves; `None` on a GPU.
    pub wave_instructions: Option<u64>,
    /// How long the GPU took for the kernel, counters and all; `None` on the emulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed: Option<Duration>,
    /// How long it takes, modeled, if that was asked for.
    pub timing: Option<LaunchTiming>,
    /// The modeled time, as a saved run has it.
    pub modelled: Option<Modelled>,
    /// When each wave ran, as a trace for viewers, if that was asked for.
    pub timeline: Option<String>,
    /// The memory accesses of the original, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
    /// What may be a mistake of the kernel.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<Doubt>,
    /// The checks made in some workgroups only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<Sampled>,
    /// The kernel's output.
    #[serde(default, skip_serializing_if = "Printed::is_empty")]
    pub printed: Printed,
}

/// What may be a mistake of a kernel: a race, unless both accesses are atomic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// The fault, and its place.
    pub fault: FaultReport,
    /// The finding for people, in lines.
    pub text: String,
}

/// One launch, modeled. No figure is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchTiming {
    /// The kernel's name.
    pub kernel: String,
    /// Its original.
    pub original: TimingReport,
    /// Its instrumented form, if it has one.
    pub instrumented: Option<TimingReport>,
}

impl LaunchTiming {
    /// How much longer a wave is there in the instrumented form: the mean residencies' ratio.
    pub fn slowdown(&self) -> Option<f64> {
        let instrumented = self.instrumented.as_ref()?;
        Some(instrumented.residency.mean / self.original.residency.mean.max(1.0))
    }

    /// One line for people.
    pub fn line(&self) -> String {
        let TimingReport { device, cycles, residency, occupancy, .. } = &self.original;
        let mut text = format!(
            "{} modeled on {device}: {cycles} cycles, {:.0} a wave, {} waves a compute unit fit",
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

/// The model's figures for a dispatch. None is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimingReport {
    /// The device that was modeled.
    pub device: String,
    /// Its engine clock.
    pub megahertz: u32,
    /// Its compute units.
    pub compute_units: u32,
    /// Cycles from the dispatch's start until its last wave has left.
    pub cycles: u64,
    /// The modeled time in seconds.
    pub seconds: f64,
    /// Waves.
    pub waves: u64,
    /// Instructions, summed over waves.
    pub wave_instructions: u64,
    /// How many cycles waves were there.
    pub residency: Residency,
    /// Waves that fit.
    pub occupancy: Occupancy,
    /// Waves that were there, on average, of the device's wave slots: from 0 to 1.
    pub achieved_occupancy: f64,
    /// Where the waves' cycles went.
    pub breakdown: Cycles,
    /// Wave-cycles by line of the source, the most expensive line first. Instructions without a line count as
    /// a line without a file.
    pub lines: Vec<LineTime>,
    /// Memory traffic.
    pub traffic: Traffic,
}

/// Cycles that waves were there, summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// How many waves fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occupancy {
    /// Waves a compute unit.
    pub waves_per_cu: u32,
    /// Waves a SIMD: of the fullest one, where the waves of a compute unit do not spread evenly.
    pub waves_per_simd: u32,
    /// Waves a SIMD could hold if the kernel needed nothing.
    pub max_waves_per_simd: u32,
    /// What limits it.
    pub limiter: Limiter,
    /// Waves a SIMD that the vector registers alone would allow, wave slots aside.
    pub by_vgprs: u32,
    /// Waves a SIMD that the scalar registers alone would allow, wave slots aside.
    pub by_sgprs: u32,
    /// Waves a compute unit that LDS alone would allow, wave slots aside. `None` if the kernel uses none.
    pub by_lds: Option<u32>,
}

/// One line of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineTime {
    /// The file; empty if unknown.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u32,
    /// Wave-instructions.
    pub executions: u64,
    /// All of its wave-cycles.
    pub cycles: u64,
    /// Where they went.
    pub breakdown: Cycles,
}

/// Memory traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// 64-byte lines that vector loads found in vL1D.
    pub l1_hits: u64,
    /// 64-byte lines that vector loads did not find in vL1D.
    pub l1_misses: u64,
    /// 64-byte sectors that L2 had.
    pub l2_hits: u64,
    /// 64-byte sectors that L2 did not have.
    pub l2_misses: u64,
    /// Bytes read from HBM.
    pub hbm_read: u64,
    /// Bytes written to HBM.
    pub hbm_written: u64,
}
