//! The divergence report of one launch: what each branch of the source did, summed and wave by wave.
//!
//! A [`Report`] is plain data, in the shape of its JSON (`schema` 1). [`Report::find`] and
//! [`Report::at_line`] select the machine sites of one source branch, for a compiler may make several out of
//! it, or none. [`Report::table`] prints it for people, [`Report::snapshot`] in a form that survives
//! recompilation, and [`oracle`] compares it with what an emulator saw.

mod blocks;
mod build;
pub mod columns;
mod fold;
mod lost;
mod memory;
mod merge;
mod modelled;
pub mod oracle;
pub mod origin;
pub mod parting;
pub mod refused;
pub mod run;
mod select;
mod snapshot;
mod table;
#[cfg(test)]
mod tests;
mod time;
pub mod value_step;
pub mod waits;
pub mod why;

pub use blocks::{BlockReport, WaveBlockReport, own_lines};
pub use build::{Launch, ReportError, is_library_file, location, refusal_text};
pub use columns::Layout;
pub use fold::{Fold, Keep, WavesLeftOut};
pub use lost::{Certainty, Lost};
pub use memory::{
    InstructionMemory, MemoryAccess, MemoryFigures, MemoryPlace, MemoryRules, MemoryUse, MemoryVerb,
};
pub use modelled::{Cycles, InstructionCycles, Modelled, WaveSpan};
pub use origin::{Origin, own_frame};
pub use select::{SelectError, Selection};
pub use time::{TimeReport, WaveTimeReport};

use serde::{Deserialize, Serialize};

use crate::counters::{Lanes, Probe, SiteCounts};
use crate::probes::SiteFrame;

/// The version of the report's JSON.
pub const SCHEMA: u32 = 1;

/// The counts of one launch's branches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The kernel's name, as the code object has it.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub kernel: String,
    /// The kernel's name as the source has it, with template arguments, if it is mangled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demangled: Option<String>,
    /// The target that its code object was built for.
    pub target: String,
    /// The subject of the measurement.
    #[serde(default)]
    pub probe: Probe,
    /// Lanes of a wave.
    #[serde(default, skip_serializing_if = "Lanes::is_default")]
    pub lanes: Lanes,
    /// Where counters were stored: `register`, `lds` or `global`.
    #[serde(alias = "home")]
    pub counter_storage: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// Waves launched.
    pub waves: u64,
    /// Waves that never reached their end, as workgroup and wave; their counters are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<WaveId>,
    /// The original left the same memory as the instrumented kernel. `None` when only one of them ran.
    pub memory_equal: Option<bool>,
    /// The counters are those that the emulator saw in the original. `None` when nothing watched it.
    pub oracle_equal: Option<bool>,
    /// How often each block ran, if that was measured, in order of address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockReport>,
    /// How long each wave ran, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeReport>,
    /// Every machine instruction that narrows EXEC by a condition, in order of address.
    pub sites: Vec<SiteReport>,
    /// Every `#[probe]` of the kernel and of functions inlined into it, and its fate.
    pub probes: Vec<ProbeReport>,
    /// Branches that can diverge and are not counted, for they were not asked for.
    #[serde(default, alias = "left_out", skip_serializing_if = "Vec::is_empty")]
    pub sites_not_selected: Vec<LeftOutReport>,
    /// Branches that cannot diverge, for their condition is the same in every lane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uniform: Vec<UniformReport>,
    /// Why no kernel for the target's processor has counters, if none has; it is also among the refusals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_instrumented: Option<String>,
    /// It ran as it was compiled, for `--kernel` chose others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_selected: bool,
    /// Why sites, or the whole kernel, were not instrumented.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
}

/// A wave of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WaveId {
    /// Workgroup id in x, y, z.
    pub workgroup: [u32; 3],
    /// Which wave of its workgroup.
    pub wave: u32,
}

impl std::fmt::Display for WaveId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.workgroup;
        write!(f, "workgroup ({x}, {y}, {z}) wave {}", self.wave)
    }
}

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Location {
    /// The file, as the compiler named it.
    #[serde(default, deserialize_with = "amdinst_text::deserialize_option")]
    pub file: Option<String>,
    /// 1-based.
    pub line: Option<u32>,
    /// 1-based; 0 in a line table is `None`.
    pub column: Option<u32>,
}

impl From<&SiteFrame> for Location {
    fn from(frame: &SiteFrame) -> Self {
        Self { file: frame.file.as_deref().map(str::to_owned), line: frame.line, column: frame.column }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.file.as_deref().unwrap_or("<unknown>"))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        Ok(())
    }
}

/// One machine site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteReport {
    /// Its number in the kernel's probe map.
    pub id: u32,
    /// `if` or `loop-exit`.
    pub kind: String,
    /// Address of the narrowing instruction in the original code object.
    pub pc: u64,
    /// Where it stands in the source: the place of the probe that it belongs to, else the innermost frame.
    #[serde(flatten)]
    pub location: Location,
    /// The branch is near there: neither that line nor another of its instructions' has one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub near: bool,
    /// The probe that it belongs to.
    pub name: Option<String>,
    /// The user's line that called there, if it stands in a dependency and the calls were inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<Location>,
    /// Its divergence is meant: `#[probe("leader", expect)]`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expected: bool,
    /// Summed over waves.
    #[serde(flatten)]
    pub counts: Counts,
    /// Wave by wave, in the order of launch; waves that never came here are left out.
    pub waves: Vec<WaveReport>,
    /// Of a large launch: the others that came here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<WavesLeftOut>,
}

/// Counters, with the figure that follows from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Times that a wave ran the narrowing instruction.
    pub executions: u64,
    /// Of these: every active lane stayed active.
    pub all: u64,
    /// Of these: no lane stayed active.
    pub none: u64,
    /// Of these: some lanes stayed active and others did not.
    pub diverged: u64,
    /// Active lanes before, summed over executions.
    pub lanes_in: u64,
    /// Active lanes after, summed over executions.
    pub lanes_taken: u64,
}

impl From<SiteCounts> for Counts {
    fn from(counts: SiteCounts) -> Self {
        let SiteCounts { executions, all, none, lanes_in, lanes_taken } = counts;
        Self { executions, all, none, diverged: counts.diverged(), lanes_in, lanes_taken }
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.executions += other.executions;
        self.all += other.all;
        self.none += other.none;
        self.diverged += other.diverged;
        self.lanes_in += other.lanes_in;
        self.lanes_taken += other.lanes_taken;
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::default(), |mut sum, counts| {
            sum += counts;
            sum
        })
    }
}

impl Counts {
    /// Share of executions that diverged, 0 to 1; 0 when nothing executed.
    pub fn divergence(&self) -> f64 {
        ratio(self.diverged, self.executions)
    }

    /// Share of the lanes that came here which stayed active, 0 to 1.
    pub fn taken(&self) -> f64 {
        ratio(self.lanes_taken, self.lanes_in)
    }

    /// Lanes that stayed active, an execution.
    pub fn average_lanes_active(&self) -> f64 {
        ratio(self.lanes_taken, self.executions)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// What one wave did at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveReport {
    /// Which wave.
    #[serde(flatten)]
    pub id: WaveId,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// A `#[probe]` and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeReport {
    /// Its name; a probe without one is called by its place.
    #[serde(deserialize_with = "amdinst_text::deserialize")]
    pub name: String,
    /// The branch that it stands on.
    #[serde(flatten)]
    pub location: Location,
    /// The fate of that branch in the compiler.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// The fate of a probed branch in the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// A branch that can diverge: it has these sites.
    Counted {
        /// Their ids.
        sites: Vec<u32>,
    },
    /// A branch that cannot diverge: its condition is the same in every lane.
    Uniform,
    /// No branch: both sides are computed and a select picks (`v_cndmask`, `v_max`, …).
    IfConverted,
    /// No code of that line is left.
    Removed,
    /// The probe has sites, and none could be instrumented.
    Refused,
    /// The probe has sites, and none was asked for.
    #[serde(rename = "not-selected", alias = "left-out")]
    LeftOut,
}

impl Outcome {
    /// The word for it in reports (`counted`, `uniform`, `if-converted`, `removed`, `refused`,
    /// `not-selected`).
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Counted { .. } => "counted",
            Self::Uniform => "uniform",
            Self::IfConverted => "if-converted",
            Self::Removed => "removed",
            Self::Refused => "refused",
            Self::LeftOut => "not-selected",
        }
    }
}

/// A branch that can diverge and is not counted, for it was not asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOutReport {
    /// Address of the narrowing instruction.
    pub pc: u64,
    /// Where it stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// The probe that it belongs to.
    pub name: Option<String>,
}

/// A branch that cannot diverge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniformReport {
    /// Address of the branch instruction.
    pub pc: u64,
    /// Where it stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// The probe that it belongs to.
    pub name: Option<String>,
}
