//! What `run` prints.

use std::fmt::Write as _;

use amdgpu_isa::TargetId;
use amdinst_core::counters::Probe;
use amdinst_core::report::columns::folded;
use amdinst_core::report::run::{FaultReport, Sampled};
use amdinst_core::report::why::ValueOrigin;
use amdinst_core::report::{
    BlockReport, Layout, LeftOutReport, ProbeReport, Report, SiteReport, TimeReport, UniformReport,
};
use amdinst_emu::{Execution, Fault, Fidelity, Launch, fidelity};
use amdinst_explain::timing_table;
use amdinst_format::interface::TimingReport;
use amdinst_launch::Arguments;
use amdinst_launch::compare::Comparison;
use amdinst_launch::language::ArgSpec;
use amdinst_launch::results::Printed;
use amdinst_report::MemorySummary;
use amdinst_text::count;
use serde::Serialize;

use super::report::Checked;
use super::trace::TraceView;
use crate::exit::Exit;
use crate::output::short_path;

/// Version of the JSON form.
pub const SCHEMA: u32 = 1;

/// A launch: the JSON form.
#[derive(Debug, Default, Serialize)]
pub struct RunView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The kernel's name.
    pub kernel: String,
    /// What its code object was built for.
    pub target: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// Waves that ran.
    pub waves: u64,
    /// Instructions that they executed, summed over waves.
    pub wave_instructions: u64,
    /// Active lanes, summed over the vector instructions executed.
    pub lane_instructions: u64,
    /// Wall-clock time of the execution on the host.
    pub seconds: f64,
    /// Host threads that ran it.
    pub threads: usize,
    /// Workgroups access the same memory so that their order can show in the result: they ran in order, on
    /// one thread.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub workgroups_clash: bool,
    /// The arguments, in the kernel's order.
    pub arguments: Vec<ArgumentView>,
    /// Races unless both accesses are atomic, of which nothing tells; with `--check races` or `--report`. And
    /// lanes that were asked for and do not exist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<FaultReport>,
    /// Accesses to LDS out of range, the first of each instruction; with `--out-of-range hardware`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub out_of_range: Vec<FaultReport>,
    /// What `--print` asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    /// What became of each `--expect`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Comparison>,
    /// With `--trace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceView>,
    /// With `--why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<ValueOrigin>,
    /// Executions of each mnemonic, most frequent first; only with `--stats`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opcodes: Vec<MnemonicView>,
    /// Executed instructions summed by fidelity; only with `--stats`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fidelity: Vec<FidelityView>,
    /// The subject of the measurement; with `--report`.
    pub probe: Option<Probe>,
    /// Where counters lived; with `--report`.
    pub counter_storage: Option<String>,
    /// Wave-instructions of the instrumented kernel; with `--report`.
    pub instrumented_wave_instructions: Option<u64>,
    /// The original and the instrumented kernel left the same in every buffer; with `--report`.
    pub memory_equal: Option<bool>,
    /// The counters are those that the emulator saw in the original; with `--report`.
    pub oracle_equal: Option<bool>,
    /// Workgroups waited for others, and how often depends on their turns: so the counters are those that the
    /// emulator saw in the instrumented kernel itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub workgroups_waited: bool,
    /// Why neither says anything: the original races, or depends on unwritten values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meaningless: Option<String>,
    /// Whether the original does so was looked for in some workgroups alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sampled: Vec<Sampled>,
    /// The first points on which they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<String>,
    /// How often each block ran; with `--report --measure blocks`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockReport>,
    /// How long each wave ran; with `--report --measure time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeReport>,
    /// Branches that can diverge; with `--report`.
    pub sites: Vec<SiteReport>,
    /// Every `#[probe]` and what became of it; with `--report`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeReport>,
    /// Branches that can diverge and were not asked for; with `--report`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites_not_selected: Vec<LeftOutReport>,
    /// Branches that cannot diverge; with `--report`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uniform: Vec<UniformReport>,
    /// The code that was not instrumented, and why; with `--report`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
    /// The memory accesses of the original; with `--memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemorySummary>,
    /// How long the original takes, modeled; with `--timing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingReport>,
    /// How long the instrumented kernel takes; with `--timing --report`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instrumented_timing: Option<TimingReport>,
    /// For people.
    #[serde(skip)]
    report: Option<Report>,
}

/// An argument of the launch.
#[derive(Debug, Serialize)]
pub struct ArgumentView {
    /// Its number, from 1.
    pub argument: usize,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its kind, as `--arg` takes it; a random one with its seed.
    pub value: String,
    /// Bytes of a buffer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// A launch that ended in a fault, and its trace: the JSON form.
#[derive(Debug, Serialize)]
pub struct FaultView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The kernel's name.
    pub kernel: String,
    /// What its code object was built for.
    pub target: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// What happened, and where.
    pub fault: String,
    /// What one wave ran; with `--trace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceView>,
    /// The lines that led there; with `--why`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<ValueOrigin>,
}

impl FaultView {
    /// A launch of the original kernel.
    pub(super) fn new(
        kernel: &str,
        target: TargetId,
        launch: &Launch,
        fault: &Fault,
        trace: Option<TraceView>,
        why: Option<ValueOrigin>,
    ) -> Self {
        Self {
            schema: SCHEMA,
            kernel: kernel.to_owned(),
            target: target.to_string(),
            grid: launch.grid,
            block: launch.block,
            fault: fault.to_string(),
            trace,
            why,
        }
    }

    /// The text for people, but for the fault itself, which is the error.
    pub(super) fn human(&self) -> String {
        let trace = self.trace.as_ref().map(TraceView::human);
        let why = self.why.as_ref().map(ValueOrigin::human);
        trace.into_iter().chain(why).collect()
    }
}

/// How often a mnemonic was executed.
#[derive(Debug, Serialize)]
pub struct MnemonicView {
    /// The mnemonic.
    pub name: &'static str,
    /// Executions, summed over waves.
    pub executions: u64,
    /// How faithfully the emulator executes it: `exact` or `approximate`.
    pub fidelity: &'static str,
    /// By how much a device's result may differ.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub remark: &'static str,
}

/// Mnemonics and executions of one fidelity.
#[derive(Debug, Serialize)]
pub struct FidelityView {
    /// `exact` or `approximate`.
    pub fidelity: &'static str,
    /// Mnemonics.
    pub opcodes: usize,
    /// Their executions, summed over waves.
    pub executions: u64,
}

impl RunView {
    /// A launch of the original kernel.
    pub fn new(kernel: &str, target: TargetId, launch: &Launch, execution: &Execution) -> Self {
        let mut opcodes: Vec<_> = execution
            .opcode_stats
            .iter()
            .map(|&(op, executions)| {
                // What was executed is in the tables.
                let fidelity = fidelity::of_op(target.arch, op).unwrap_or(Fidelity::Exact);
                let (name, remark) = (op.name(), fidelity.remark());
                MnemonicView { name, executions, fidelity: fidelity.name(), remark }
            })
            .collect();
        let sum = |fidelity: &'static str| {
            let of_it = opcodes.iter().filter(|opcode| opcode.fidelity == fidelity);
            let executions = of_it.clone().map(|opcode| opcode.executions).sum();
            FidelityView { fidelity, opcodes: of_it.count(), executions }
        };
        let fidelity = if opcodes.is_empty() { Vec::new() } else { vec![sum("exact"), sum("approximate")] };
        // Stable: mnemonics that were executed as often stay in the order of the table.
        opcodes.sort_by_key(|opcode| std::cmp::Reverse(opcode.executions));
        Self {
            schema: SCHEMA,
            kernel: kernel.to_owned(),
            target: target.to_string(),
            grid: launch.grid,
            block: launch.block,
            waves: execution.waves,
            wave_instructions: execution.wave_instructions,
            lane_instructions: execution.lane_instructions,
            seconds: execution.seconds,
            threads: execution.threads,
            workgroups_clash: execution.clash,
            opcodes,
            fidelity,
            ..Self::default()
        }
    }

    /// Adds what the arguments were.
    pub(super) fn add_arguments(&mut self, arguments: &Arguments) {
        let view = |(number, name, spec): &(usize, Option<String>, ArgSpec)| ArgumentView {
            argument: *number,
            name: name.clone(),
            value: spec.to_string(),
            bytes: arguments.buffers.iter().find(|of| of.number == *number).map(|of| of.bytes),
        };
        self.arguments = arguments.given.iter().map(view).collect();
    }

    /// Adds what `--report` found.
    pub fn add_report(&mut self, checked: Checked) {
        let Checked {
            report, disagreements, meaningless, sampled, waited, instrumented_instructions, ..
        } = checked;
        self.sampled = sampled;
        self.meaningless = meaningless.map(|cause| cause.to_string());
        self.probe = Some(report.probe);
        self.blocks = report.blocks.clone();
        self.time = report.time.clone();
        self.counter_storage = instrumented_instructions.map(|_| report.counter_storage.clone());
        self.instrumented_wave_instructions = instrumented_instructions;
        self.memory_equal = report.memory_equal;
        self.oracle_equal = report.oracle_equal;
        self.workgroups_waited = waited;
        self.disagreements = disagreements;
        self.sites = report.sites.clone();
        self.probes = report.probes.clone();
        self.sites_not_selected = report.sites_not_selected.clone();
        self.uniform = report.uniform.clone();
        self.refusals = report.refusals.clone();
        self.report = Some(report);
    }

    /// Why `--report` ends with another exit code than that of success, in a line.
    pub fn verdict(&self, exit: Exit) -> Option<String> {
        match exit {
            Exit::LaunchFailed => self.meaningless.clone(),
            Exit::Mismatch => {
                let first = self.disagreements.first().map(|first| format!(": {first}")).unwrap_or_default();
                Some(format!("the kernel and its instrumented form do not do the same{first}"))
            }
            Exit::NothingInstrumented => {
                let why = self.refusals.first().map(|why| format!(": {why}")).unwrap_or_default();
                Some(format!("nothing was instrumented{why}"))
            }
            _ => None,
        }
    }

    /// The text for people: the report, and figures if `stats`.
    pub fn human(&self, stats: bool, layout: &Layout) -> String {
        let mut text = String::new();
        if let Some(trace) = &self.trace {
            text.push_str(&trace.human());
        }
        for printed in &self.printed {
            text.push_str(&printed.human());
        }
        if let Some(why) = &self.why {
            text.push_str(&why.human());
        }
        if let Some(mut report) = self.report.clone() {
            // By the name in the source.
            report.kernel.clone_from(&self.kernel);
            if let Some(here) = std::env::current_dir().ok().as_deref().and_then(std::path::Path::to_str) {
                report.relative_to(here);
            }
            let _ = writeln!(text, "{}", folded(&report.heading(), layout.width, 4));
            text.push_str(&report.table_in(layout));
            let verdict = |equal: Option<bool>, yes: &'static str, no: &'static str| match equal {
                Some(true) => yes,
                Some(false) => no,
                None if self.meaningless.is_some() => "not comparable",
                None => "not compared",
            };
            let order = if self.workgroups_clash {
                "; workgroups access memory that others write: in order"
            } else {
                ""
            };
            let waited = if self.workgroups_waited {
                "; workgroups wait for others: of the instrumented kernel's own run"
            } else {
                ""
            };
            let memory = verdict(self.memory_equal, "equal", "DIFFERENT");
            let oracle = verdict(self.oracle_equal, "equal", "DIFFERENT");
            let _ = writeln!(
                text,
                "memory after both kernels: {memory}; counters and the emulator's own: {oracle}{waited}{order}"
            );
            if let Some(reason) = &self.meaningless {
                let _ = writeln!(text, "  {reason}");
            }
            for Sampled { check, workgroups, of, .. } in &self.sampled {
                let what = if check == "uninitialized" { "what nothing has written" } else { check };
                let looked = match workgroups {
                    0 => format!("nobody looked for {what}: one workgroup takes too long"),
                    _ => format!("looked for {what} in {workgroups} of {of} workgroups of the original"),
                };
                let _ = writeln!(text, "  {looked}; `--check {check}` looks in all");
            }
            for disagreement in &self.disagreements {
                let _ = writeln!(text, "  {disagreement}");
            }
        }
        if let Some(memory) = &self.memory {
            text.push_str(&amdinst_report::memory::table(memory, usize::MAX, layout));
        }
        if let Some(timing) = &self.timing {
            let _ =
                writeln!(text, "original, {}", timing_table(timing, |file| short_path(file).into_owned()));
            if let Some(instrumented) = &self.instrumented_timing {
                let _ = writeln!(
                    text,
                    "instrumented, {}",
                    timing_table(instrumented, |file| short_path(file).into_owned())
                );
                let slower = instrumented.residency.mean / timing.residency.mean.max(1.0);
                let longer = instrumented.cycles as f64 / timing.cycles.max(1) as f64;
                let _ = writeln!(
                    text,
                    "slowdown, modeled: {slower:.2}x by the time that a wave is there, {longer:.2}x by the dispatch's"
                );
            }
        }
        if stats {
            let rate =
                if self.seconds > 0.0 { self.wave_instructions as f64 / self.seconds / 1e6 } else { 0.0 };
            let _ = writeln!(
                text,
                "{} waves, {} wave-instructions, {} lane-instructions in {:.6} s on {} threads ({rate:.1} M/s)",
                self.waves, self.wave_instructions, self.lane_instructions, self.seconds, self.threads
            );
            if let Some(instrumented) = self.instrumented_wave_instructions {
                let _ = writeln!(text, "{instrumented} wave-instructions when instrumented");
            }
            for FidelityView { fidelity, opcodes, executions } in &self.fidelity {
                let opcodes = count(*opcodes, "opcode");
                let _ = writeln!(text, "{executions:>12}  {fidelity} ({opcodes})");
            }
            for MnemonicView { name, executions, fidelity, remark } in &self.opcodes {
                let remark =
                    if remark.is_empty() { String::new() } else { format!("  {fidelity}: {remark}") };
                let _ = writeln!(text, "{executions:>12}  {name}{remark}");
            }
        }
        text
    }
}
