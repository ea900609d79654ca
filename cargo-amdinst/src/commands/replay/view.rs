//! What `replay` prints.

use amdinst_core::report::Location;
use amdinst_core::report::run::FaultReport;
use amdinst_launch::language::Element;
use amdinst_replay::{
    Archive, CopyResult, Counted, Ending, LaunchResult, NotReplayed, Step, Verdict, Writer,
};
use amdinst_text::shown;
use serde::Serialize;

use crate::commands::run::fault;

/// Version of the JSON forms.
pub(super) const SCHEMA: u32 = 1;

/// A replay: the JSON form.
#[derive(Debug, Serialize)]
pub(super) struct ReplayView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Who recorded it.
    pub recorder: &'static str,
    /// The type of the elements that were compared.
    pub elements: &'static str,
    /// The launches that ran.
    pub launches: Vec<ReplayedLaunch>,
    /// Copies from the GPU, each held against what the GPU gave.
    pub copies: Vec<CopyView>,
    /// Calls that were not replayed.
    pub not_replayed: Vec<NotReplayedView>,
    /// How many of all.
    pub summary: SummaryView,
}

/// A launch.
#[derive(Debug, Serialize)]
pub(super) struct ReplayedLaunch {
    /// Its number, from 1.
    pub launch: u64,
    /// The number of its event.
    pub event: u64,
    /// It was asked for; others ran for the memory that they leave.
    pub chosen: bool,
    /// The kernel's name.
    pub kernel: String,
    /// What its code object was built for.
    pub target: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// `ok` or `fault`.
    pub result: &'static str,
    /// The fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultReport>,
    /// What may be races, and lanes that are not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<FaultReport>,
    /// Workgroups that ran, if not all did: what it left is not compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled_workgroups: Option<u64>,
    /// Workgroups in which missing waits were looked for, if not in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_workgroups: Option<u64>,
    /// Workgroups in which NaNs were looked for, if not in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nan_workgroups: Option<u64>,
    /// Waves that ran.
    pub waves: u64,
    /// Instructions that they executed, summed over waves.
    pub wave_instructions: u64,
    /// Branches that can diverge; `null` if nothing was counted.
    pub branches: Option<u64>,
    /// Those of them that did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diverged: Vec<BranchView>,
    /// Why nothing was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_counted: Option<String>,
    /// The original and the instrumented kernel left the same memory.
    pub memory_equal: Option<bool>,
    /// The counters are those that the emulator saw in the original.
    pub oracle_equal: Option<bool>,
    /// The first points on which they are not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disagreements: Vec<String>,
}

/// A branch that diverged.
#[derive(Debug, Serialize)]
pub(super) struct BranchView {
    /// Where it stands.
    pub place: String,
    /// Times that a wave ran it.
    pub executions: u64,
    /// Of these: some lanes went on and others did not.
    pub diverged: u64,
}

/// A copy from the GPU.
#[derive(Debug, Serialize)]
pub(super) struct CopyView {
    /// The number of its event.
    pub event: u64,
    /// The function.
    pub function: &'static str,
    /// The address that was copied from.
    pub address: String,
    /// How many bytes.
    pub bytes: u64,
    /// The launch before it.
    pub after_launch: Option<u64>,
    /// `equal`, `within`, `differs` or `not_comparable`.
    pub result: &'static str,
    /// Why it cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Elements that differ.
    pub differing: u64,
    /// Elements that were compared.
    pub of: u64,
    /// The greatest difference of floats, in units in the last place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ulp: Option<u64>,
    /// The first element that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstView>,
}

/// The first element that differs.
#[derive(Debug, Serialize)]
pub(super) struct FirstView {
    /// Its offset in bytes.
    pub offset: u64,
    /// Its place among the elements.
    pub index: u64,
    /// The GPU's value.
    pub gpu: String,
    /// The emulator's value.
    pub emulator: String,
    /// The launch that wrote it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<u64>,
    /// Who wrote it last, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_by: Option<String>,
}

/// A call that was not replayed.
#[derive(Debug, Serialize)]
pub(super) struct NotReplayedView {
    /// The number of its event.
    pub event: u64,
    /// The function.
    pub function: &'static str,
    /// The launch that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<u64>,
    /// Its kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Why.
    pub why: String,
}

/// How many of all.
#[derive(Debug, Default, Serialize)]
pub(super) struct SummaryView {
    /// Launches that ended well.
    pub ok: u64,
    /// Launches that ended with a fault.
    pub faults: u64,
    /// Copies that equal the GPU's.
    pub equal: u64,
    /// Copies that are near enough.
    pub within: u64,
    /// Copies that differ.
    pub differs: u64,
    /// Copies that cannot be compared.
    pub not_comparable: u64,
    /// Calls that were not replayed.
    pub not_replayed: u64,
}

impl ReplayView {
    /// What became of an archive.
    pub(super) fn new(archive: &Archive, steps: &[Step], element: Option<Element>) -> Self {
        let mut view = Self {
            schema: SCHEMA,
            recorder: archive.kind.name(),
            elements: element.map_or("bytes", Element::name),
            launches: Vec::new(),
            copies: Vec::new(),
            not_replayed: Vec::new(),
            summary: SummaryView::default(),
        };
        let summary = &mut view.summary;
        for step in steps {
            match step {
                Step::Launch(launch) => {
                    let launch = ReplayedLaunch::new(launch);
                    *(if launch.fault.is_none() { &mut summary.ok } else { &mut summary.faults }) += 1;
                    view.launches.push(launch);
                }
                Step::Copy(copy) => {
                    *match copy.verdict {
                        Verdict::Equal => &mut summary.equal,
                        Verdict::Within { .. } => &mut summary.within,
                        Verdict::Differs { .. } => &mut summary.differs,
                        Verdict::NotComparable(_) => &mut summary.not_comparable,
                    } += 1;
                    view.copies.push(CopyView::new(copy));
                }
                Step::NotReplayed(call) => {
                    summary.not_replayed += 1;
                    view.not_replayed.push(NotReplayedView::new(call));
                }
            }
        }
        view
    }
}

impl ReplayedLaunch {
    fn new(of: &LaunchResult) -> Self {
        let report = |found: &amdinst_emu::Fault| fault::report(found, &of.object, &Some);
        let (execution, found) = match &of.ending {
            Ending::Well(execution) => (Some(execution), None),
            Ending::Fault(found) => (None, Some(report(found))),
        };
        let doubts = execution
            .iter()
            .flat_map(|one| one.doubts.iter().chain(&one.missing_lanes).chain(&one.out_of_range));
        let mut view = Self {
            launch: of.number,
            event: of.event,
            chosen: of.is_chosen,
            kernel: of.kernel.clone(),
            target: of.target.to_string(),
            grid: of.grid,
            block: of.block,
            result: if found.is_some() { "fault" } else { "ok" },
            doubts: doubts.map(report).collect(),
            fault: found,
            sampled_workgroups: of.sampled,
            waits_workgroups: of.looked_for_waits,
            nan_workgroups: of.looked_for_nan,
            waves: execution.map_or(0, |execution| execution.waves),
            wave_instructions: execution.map_or(0, |execution| execution.wave_instructions),
            branches: None,
            diverged: Vec::new(),
            not_counted: None,
            memory_equal: None,
            oracle_equal: None,
            disagreements: Vec::new(),
        };
        match &of.counted {
            Counted::NotAsked => {}
            Counted::Nothing(why) => view.not_counted = Some(why.clone()),
            Counted::Counted { report, disagreements } => {
                view.branches = Some(report.sites.len() as u64);
                let diverged = report.sites.iter().filter(|site| site.counts.diverged > 0);
                let branch = |site: &amdinst_core::report::SiteReport| BranchView {
                    place: place(&site.location),
                    executions: site.counts.executions,
                    diverged: site.counts.diverged,
                };
                view.diverged = diverged.map(branch).collect();
                (view.memory_equal, view.oracle_equal) = (report.memory_equal, report.oracle_equal);
                view.disagreements.clone_from(disagreements);
            }
        }
        view
    }
}

impl CopyView {
    fn new(of: &CopyResult) -> Self {
        let mut view = Self {
            event: of.event,
            function: of.function,
            address: format!("{:#x}", of.from),
            bytes: of.bytes,
            after_launch: of.after,
            result: "equal",
            why: None,
            differing: 0,
            of: 0,
            ulp: None,
            first: None,
        };
        match &of.verdict {
            Verdict::Equal => {}
            Verdict::NotComparable(why) => (view.result, view.why) = ("not_comparable", Some(why.clone())),
            Verdict::Within { ulp, differing, of } => {
                (view.result, view.ulp, view.differing, view.of) = ("within", Some(*ulp), *differing, *of);
            }
            Verdict::Differs { ulp, differing, of, first } => {
                (view.result, view.ulp, view.differing, view.of) = ("differs", *ulp, *differing, *of);
                let launch = match &first.writer {
                    Some(Writer::Launch { number, .. }) => Some(*number),
                    _ => None,
                };
                view.first = Some(FirstView {
                    offset: first.offset,
                    index: first.index,
                    gpu: first.gpu.clone(),
                    emulator: first.emulator.clone(),
                    launch,
                    written_by: first.writer.as_ref().map(told),
                });
            }
        }
        view
    }
}

/// A place in the source, for people: the line, and the file without what leads nowhere.
fn place(location: &Location) -> String {
    let place = Location { column: None, ..location.clone() }.short();
    let mut rest = place.as_str();
    while let Some(inner) = rest.strip_prefix("./") {
        rest = inner;
    }
    rest.to_owned()
}

/// Who wrote something, in words.
fn told(writer: &Writer) -> String {
    match writer {
        Writer::Launch { number, kernel } => format!("launch {number} (`{}`)", shown(kernel)),
        Writer::Event { number, function } => format!("event {number} ({function})"),
    }
}

impl NotReplayedView {
    fn new(of: &NotReplayed) -> Self {
        Self {
            event: of.event,
            function: of.function,
            launch: of.launch.as_ref().map(|(number, _)| *number),
            kernel: of.launch.as_ref().map(|(_, kernel)| kernel.clone()),
            why: of.why.clone(),
        }
    }
}
