//! What a run comes to: one entry a kernel and processor, one a source branch, over all launches of all
//! tests.
//!
//! A [`Summary`] is plain data in the shape of its JSON (`schema` 1), which is also what a later run is
//! compared with. It names branches by source place, kind and probe, never by address, so that a rebuild does
//! not change it.
//!
//! Branches are sorted by the lanes lost in them: lanes that stood idle, worked out from the sums of each
//! wave ([`Certainty`](amdinst_core::report::Certainty)). If these mix executions up, the figure is marked as
//! an upper bound or an estimate.

mod build;
mod memory;
mod modelled;

pub use memory::{LineMemory, MemorySummary};

use std::collections::{BTreeMap, BTreeSet};

use amdinst_core::counters::Lanes;
use amdinst_core::instrument::{Cost, SiteFrame};
use amdinst_core::report::run::{FaultReport, KernelFacts, MovedLds, Sampled, UnlaunchedKernel};
use amdinst_core::report::{Counts, Cycles, Location, WaveReport, WaveSpan};
use amdinst_core::schema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use amdinst_core::report::Lost;

/// The version of the summary's JSON.
pub const SCHEMA: u32 = 1;

/// What a run comes to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The cargo package.
    pub package: String,
    /// The cargo profile that its kernels were built with.
    pub profile: String,
    /// What chose the tests, if not all were run: the words of the command line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen_by: Vec<String>,
    /// How the tests ended.
    pub tests: Tests,
    /// Test programs that did not come to their end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished_programs: Vec<String>,
    /// Launches that ended in a fault, in order of test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<TestFault>,
    /// Races unless both accesses are atomic, of which nothing tells, and lanes that were asked for and do
    /// not exist; each once, in order of test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<TestFault>,
    /// The checks made in some workgroups only, by kernel and check, over all launches that were checked in
    /// part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<Sampled>,
    /// The kernels, by name and processor.
    pub kernels: Vec<KernelSummary>,
    /// Kernels that no test launched, by name and processor, if blocks were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlaunched: Vec<UnlaunchedKernel>,
}

/// How many tests ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tests {
    /// Well.
    pub passed: u64,
    /// Not well.
    pub failed: u64,
    /// Tests that were not run, or asked for counts that there are none of.
    pub ignored: u64,
}

/// A fault, and the test that it happened in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestFault {
    /// The test.
    pub test: String,
    /// The processor.
    pub cpu: String,
    /// The test passed all the same: it is one that looks for the fault.
    pub expected: bool,
    /// The fault.
    #[serde(flatten)]
    pub fault: FaultReport,
}

/// A kernel on one processor, over all its launches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSummary {
    /// Its name.
    pub name: String,
    /// The processor.
    pub cpu: String,
    /// Lanes of a wave.
    #[serde(default, skip_serializing_if = "Lanes::is_default")]
    pub lanes: Lanes,
    /// Launches that ended well.
    pub launches: u64,
    /// Their waves.
    pub waves: u64,
    /// Where counters were stored: `register`, `lds`, `global` or `none`.
    #[serde(alias = "home")]
    pub counter_storage: String,
    /// Registers, LDS, scratch and occupancy, without and with probes; `None` for a kernel that was not
    /// instrumented.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
    /// Its branches, those that lost the most lanes first.
    pub branches: Vec<Branch>,
    /// Probes without counts, in order of place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<Uncounted>,
    /// It ran as it was compiled, for `--kernel` chose others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_selected: bool,
    /// Why sites, or the whole kernel, were not instrumented.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
    /// Executions and lanes of source lines, if blocks were measured, in order of place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// How long waves ran, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Time>,
    /// How long launches take, if that was modeled.
    #[serde(rename = "modeled", alias = "modelled", default, skip_serializing_if = "Option::is_none")]
    pub modelled: Option<ModelledTime>,
    /// The memory accesses, if they were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySummary>,
}

impl KernelSummary {
    /// Whether this is the same kernel, compiled for the same processor and size of waves.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.cpu, self.lanes) == (&other.name, &other.cpu, other.lanes)
    }
}

/// What a kernel takes of its processor, without and with probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// SGPRs.
    pub sgprs: [u32; 2],
    /// VGPRs, those for accumulation included where they share the file.
    pub vgprs: [u32; 2],
    /// Static LDS in bytes a workgroup.
    pub lds: [u32; 2],
    /// Private memory in bytes a work-item.
    pub scratch: [u32; 2],
    /// Waves that a SIMD can hold.
    pub occupancy: [u32; 2],
    /// Work-items of the workgroup that this holds for, where it is not the largest that the kernel takes: of
    /// those that were launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workgroup: Option<u32>,
    /// What of the LDS are private arrays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_lds: Option<MovedLds>,
}

impl Resources {
    /// The occupancy for people: `4`, `4 -> 3`, `4 (workgroups of 256)`.
    pub(crate) fn occupancy_text(&self, arrow: &str) -> String {
        let [before, after] = self.occupancy;
        let change = if before == after { before.to_string() } else { format!("{before}{arrow}{after}") };
        let of = self.workgroup.map(|size| format!(" (workgroups of {size})")).unwrap_or_default();
        format!("{change}{of}")
    }

    /// What LLVM did to the LDS, and what to do if it was for a larger workgroup than was launched.
    pub(crate) fn moved_text(&self) -> Option<String> {
        let MovedLds { bytes, workgroup } = self.moved_lds?;
        let remedy = match self.workgroup {
            Some(launched) if launched < workgroup => {
                format!(": for smaller ones say so, as `#[kernel(workgroup = {launched})]` does")
            }
            _ => String::new(),
        };
        Some(format!(
            "{bytes} of its {} bytes of LDS are private arrays that LLVM moved there, for workgroups of {workgroup}{remedy}",
            self.lds[0]
        ))
    }
}

impl Resources {
    /// Those of a kernel, if they are known.
    pub(crate) fn of(facts: &KernelFacts) -> Option<Self> {
        let Cost { sgprs, vgprs, lds, scratch, occupancy, .. } = facts.cost.as_ref()?;
        let (sgprs, vgprs, lds, scratch) = (*sgprs, *vgprs, *lds, *scratch);
        let occupancy = [occupancy.before, occupancy.after];
        let (workgroup, moved_lds) = (facts.workgroup, facts.moved_lds);
        Some(Self { sgprs, vgprs, lds, scratch, occupancy, workgroup, moved_lds })
    }
}

/// A branch of the source: all machine sites at one place, of one kind and probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Where it stands.
    #[serde(flatten)]
    pub location: Location,
    /// It is near there: the compiler's place of it has no branch.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near: bool,
    /// `if` or `loop-exit`.
    pub kind: String,
    /// The probe that it belongs to.
    pub probe: Option<String>,
    /// The user's line that called there, if it stands in a dependency and the calls were inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Location>,
    /// Its divergence is meant: no report warns of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expected: bool,
    /// Machine sites.
    pub sites: u64,
    /// Summed over sites, waves and launches.
    #[serde(flatten)]
    pub counts: Counts,
    /// Share of executions that diverged, in per cent.
    pub diverged_percent: f64,
    /// Lanes that stayed active, an execution.
    #[serde(alias = "average_active")]
    pub average_lanes_active: f64,
    /// Lanes that stood idle.
    pub lost: Lost,
    /// Waves that came here, and those of them in which it diverged.
    pub waves_here: u64,
    /// See `waves_here`.
    pub waves_diverged: u64,
    /// The functions that the branch was inlined through, innermost first; with only one, it was not inlined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<SiteFrame>,
    /// What each wave did, in the order of launches and waves. Not in the JSON.
    #[serde(skip)]
    pub waves: Vec<LaunchWave>,
    /// The machine instructions, with their addresses in the original code object. Not in the JSON.
    #[serde(skip)]
    pub instructions: Vec<(u64, String)>,
}

/// What a wave of one of several launches did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchWave {
    /// The launch of the kernel, from 0.
    pub launch: usize,
    /// The wave, and its counts.
    pub wave: WaveReport,
    /// Lanes that stood idle.
    pub lost: Lost,
}

/// A probe without counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uncounted {
    /// Where it stands.
    #[serde(flatten)]
    pub location: Location,
    /// Its name.
    pub probe: String,
    /// `uniform`, `if-converted`, `removed`, `refused` or `not-selected`.
    pub outcome: String,
}

/// How often a source line ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Executions of its most frequent block, summed over waves; 0 if no lane was ever active in it.
    pub executions: u64,
    /// Active lanes, summed over these executions; 0 where they are not counted.
    pub lanes: u64,
}

/// How long waves ran, in ticks of the processor's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Time {
    /// The shortest.
    pub least: u64,
    /// The middle one.
    pub median: u64,
    /// The longest.
    pub most: u64,
}

/// How long a kernel's launches take on a modeled device. No figure is measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelledTime {
    /// The device.
    pub device: String,
    /// Its engine clock.
    pub megahertz: u32,
    /// Launches that were modeled.
    pub launches: u64,
    /// Cycles of the engine clock, summed over launches.
    pub cycles: u64,
    /// Cycles of the instrumented kernel, if each launch had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instrumented_cycles: Option<u64>,
    /// Waves that were there, on average, of the device's wave slots: from 0 to 1.
    pub achieved_occupancy: f64,
    /// Where the cycles of waves went, summed over waves and launches.
    pub wave_cycles: Cycles,
    /// Wave-cycles by line of the source, the most expensive line first. Instructions of no line count as a
    /// line without a file.
    pub lines: Vec<LineCycles>,
    /// When waves of the longest launch ran. Not in the JSON.
    #[serde(skip)]
    pub spans: Vec<WaveSpan>,
    /// Executions and wave-cycles by address in the original code object. Not in the JSON.
    #[serde(skip)]
    pub instructions: BTreeMap<u64, (u64, Cycles)>,
}

/// Where the wave-cycles of a source line went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCycles {
    /// The file, if it is known.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// Instructions that ran, summed over waves.
    pub executions: u64,
    /// Their cycles.
    #[serde(flatten)]
    pub cycles: Cycles,
}

impl ModelledTime {
    /// Cycles of one launch, on average.
    pub fn cycles_a_launch(&self) -> f64 {
        self.cycles as f64 / self.launches.max(1) as f64
    }

    /// How many times as long the instrumented form takes.
    pub fn slowdown(&self) -> Option<f64> {
        Some(self.instrumented_cycles? as f64 / self.cycles.max(1) as f64)
    }

    /// The largest causes of the waves' cycles, in per cent, at most `most` of them.
    pub fn largest(&self, most: usize) -> String {
        let all = self.wave_cycles.total().max(1) as f64;
        let told = |(name, cycles): (&str, u64)| format!("{name} {:.0} %", 100.0 * cycles as f64 / all);
        self.wave_cycles.largest().into_iter().take(most).map(told).collect::<Vec<_>>().join(", ")
    }
}

impl Branch {
    /// Whether lanes were counted, not executions alone.
    pub fn has_lanes(&self) -> bool {
        self.counts.lanes_in > 0 || self.counts.executions == 0
    }

    /// Its name for people: the probe's, else its kind.
    pub fn title(&self) -> String {
        let what = match self.kind.as_str() {
            "if" => "branch",
            "loop-exit" => "loop",
            other => other,
        };
        match &self.probe {
            Some(name) => format!("{what} `{name}`"),
            None => what.to_owned(),
        }
    }

    /// Whether it diverged, and nobody said that this is meant.
    pub fn is_worth_a_warning(&self) -> bool {
        self.counts.diverged > 0 && !self.expected
    }
}

impl Summary {
    /// Reads a summary's JSON.
    ///
    /// # Errors
    /// Another version, or no summary.
    pub fn from_json(bytes: &[u8]) -> Result<Self, SummaryError> {
        schema::read(bytes, SCHEMA)?.map_err(|found| SummaryError::Schema { found })
    }

    /// The first of these names that is no kernel's.
    pub fn unknown_kernel<'n>(&self, names: &'n [String]) -> Option<&'n String> {
        names.iter().find(|name| {
            let launched = self.kernels.iter().any(|kernel| kernel.name == **name);
            !launched && !self.faults.iter().any(|fault| fault.fault.kernel == **name)
        })
    }

    /// Leaves only the kernels with these names, and their faults; all if there are no names.
    pub fn retain_named(&mut self, names: &[String]) {
        if !names.is_empty() {
            self.kernels.retain(|kernel| names.contains(&kernel.name));
            self.unlaunched.retain(|kernel| names.contains(&kernel.name));
            self.faults.retain(|fault| names.contains(&fault.fault.kernel));
            self.doubts.retain(|doubt| names.contains(&doubt.fault.kernel));
            self.sampled.retain(|sampled| names.contains(&sampled.kernel));
        }
    }

    /// The faults of tests that did not pass.
    pub fn unexpected_faults(&self) -> impl Iterator<Item = &TestFault> {
        self.faults.iter().filter(|fault| !fault.expected)
    }

    /// The kernels that no test launched, each once however many processors they were built for.
    pub fn unlaunched_names(&self) -> Vec<&str> {
        let names: BTreeSet<&str> = self.unlaunched.iter().map(|kernel| kernel.name.as_str()).collect();
        names.into_iter().collect()
    }

    /// The kernels that ran as they were compiled, for others were chosen; each once, likewise.
    pub fn not_selected_names(&self) -> Vec<&str> {
        let kernels = self.kernels.iter().filter(|kernel| kernel.not_selected);
        let names: BTreeSet<&str> = kernels.map(|kernel| kernel.name.as_str()).collect();
        names.into_iter().collect()
    }

    /// Every branch with its kernel, those that lost the most lanes first.
    pub fn worst_first(&self) -> Vec<(&KernelSummary, &Branch)> {
        let mut branches: Vec<_> = self
            .kernels
            .iter()
            .flat_map(|kernel| kernel.branches.iter().map(move |branch| (kernel, branch)))
            .collect();
        // Stable: kernels, and the branches in them, are in order.
        branches.sort_by(|(_, a), (_, b)| build::worst_first(a, b));
        branches
    }

    /// Branches that diverged at least once.
    pub fn diverged_branches(&self) -> usize {
        self.kernels
            .iter()
            .flat_map(|kernel| &kernel.branches)
            .filter(|branch| branch.counts.diverged > 0)
            .count()
    }
}

/// A document that cannot be read as a [`Summary`].
#[derive(Debug, Error)]
pub enum SummaryError {
    /// The document has another version of the schema.
    #[error("it has schema {found}, and this version reads schema {SCHEMA}")]
    Schema {
        /// The document's.
        found: u32,
    },
    /// The document is damaged, or is no summary.
    #[error("it is not what `cargo amdinst report --format json` prints")]
    Damaged(#[from] serde_json::Error),
}
