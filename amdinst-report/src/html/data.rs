//! What the page's script reads. Short and flat, for it is part of the page: rows are arrays, in the order
//! that the fields are listed in here.

use std::collections::{BTreeMap, BTreeSet};

use amdinst_core::instrument::SiteFrame;
use amdinst_core::report::origin::short;
use amdinst_core::report::{Cycles, MemoryAccess, MemoryFigures, Origin, WaveSpan, is_library_file, refused};
use serde::Serialize;

use super::{Extras, GpuLinks, KernelListing, OccupancyPicture, paint};
use crate::diff::{Change, counterpart};
use crate::memory::cost_text;
use crate::sources::Sources;
use crate::summary::{
    Branch, KernelSummary, LaunchWave, Line, LineCycles, LineMemory, MemorySummary, ModelledTime, Resources,
    Summary, TestFault, Tests, Time, Uncounted,
};
use amdinst_core::report::Certainty;

/// Waves shown of a branch, at most.
const WAVES: usize = 4096;

#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    package: &'a str,
    profile: &'a str,
    tests: Tests,
    unfinished: &'a [String],
    unlaunched: Vec<&'a str>,
    faults: Vec<&'a TestFault>,
    doubts: &'a [TestFault],
    sampled: Vec<String>,
    violations: Vec<Limit<'a>>,
    diff: Option<&'a [Change]>,
    kernels: Vec<Kernel<'a>>,
    sources: Vec<SourceText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gpus: Option<GpuLinks<'a>>,
}

/// Limit, kernel, file, line, message.
type Limit<'a> = (&'a str, &'a str, Option<&'a str>, Option<u32>, &'a str);

#[derive(Debug, Serialize)]
struct Kernel<'a> {
    name: &'a str,
    cpu: &'a str,
    launches: u64,
    waves: u64,
    home: &'a str,
    occupancy: Option<&'a OccupancyPicture>,
    /// What the earlier run says of it.
    was: Option<KernelWas>,
    resources: Option<Resources>,
    time: Option<Time>,
    /// Number of the source file, line, executions, lanes; those that ran the most often first.
    lines: Vec<(i64, u32, u64, u64)>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    not_selected: bool,
    refusals: Vec<String>,
    uncounted: &'a [Uncounted],
    /// Launch, workgroup x, y, z, wave of each wave that any branch names.
    ids: Vec<(usize, u32, u32, u32, u32)>,
    branches: Vec<Row<'a>>,
    /// Address, text, number of the source file or -1, line.
    code: Vec<(u64, &'a str, i64, u32)>,
    modelled: Option<Modelled<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Memory>,
}

/// A kernel of the earlier run.
#[derive(Debug, Serialize)]
struct KernelWas {
    /// Lanes lost.
    lost: u64,
    /// Branches that diverged.
    diverged: u64,
    /// Waves a SIMD that fit.
    occupancy: Option<u32>,
    /// Modelled cycles a launch.
    cycles: Option<f64>,
}

/// How long launches take, modelled.
#[derive(Debug, Serialize)]
struct Modelled<'a> {
    device: &'a str,
    megahertz: u32,
    launches: u64,
    cycles: u64,
    instrumented: Option<u64>,
    occupancy: f64,
    /// What wave-cycles go for, the largest first: the order of all arrays of them.
    causes: Vec<&'a str>,
    total: Vec<u64>,
    /// Number of the source file or -1, line, executions, wave-cycles; the most expensive first.
    lines: Vec<(i64, u32, u64, Vec<u64>)>,
    /// Address, executions, wave-cycles.
    code: Vec<(u64, u64, Vec<u64>)>,
    /// Compute unit, SIMD, first and last cycle, number of waves.
    spans: &'a [WaveSpan],
}

impl<'a> Modelled<'a> {
    fn new(time: &'a ModelledTime, files: &Files) -> Self {
        let largest = time.wave_cycles.largest();
        let (causes, total): (Vec<_>, _) = largest.into_iter().unzip();
        let in_order = |cycles: &Cycles| -> Vec<u64> {
            let of = |cause: &&str| match *cause {
                "issue" => cycles.issue,
                cause => cycles.stalls.get(cause).copied().unwrap_or(0),
            };
            causes.iter().map(of).collect()
        };
        let line = |line: &LineCycles| {
            let file = files.of(line.file.as_deref());
            (file, line.line.unwrap_or(0), line.executions, in_order(&line.cycles))
        };
        let code = time.instructions.iter();
        Self {
            device: &time.device,
            megahertz: time.megahertz,
            launches: time.launches,
            cycles: time.cycles,
            instrumented: time.instrumented_cycles,
            occupancy: time.achieved_occupancy,
            lines: time.lines.iter().map(line).collect(),
            code: code.map(|(&pc, (executions, cycles))| (pc, *executions, in_order(cycles))).collect(),
            causes,
            total,
            spans: &time.spans,
        }
    }
}

/// What memory instructions asked for.
#[derive(Debug, Serialize)]
struct Memory {
    rules: String,
    launches: u64,
    lines: Vec<MemoryRow>,
    /// Address, cost, and both access and cost in words.
    code: Vec<(u64, u64, String)>,
}

/// Number of the source file or -1, line, access, executions, lanes, bytes, cost, cost in words; the
/// costliest first.
type MemoryRow = (i64, u32, &'static str, u64, u64, u64, u64, String);

impl Memory {
    fn new(memory: &MemorySummary, files: &Files) -> Self {
        let rules = &memory.rules;
        let line = |line: &LineMemory| {
            let MemoryFigures { executions, lanes, bytes, .. } = line.figures;
            let (file, cost) = (files.of(line.file.as_deref()), line.figures.cost(rules.line_bytes));
            let (number, text) = (line.line.unwrap_or(0), cost_text(line.access, &line.figures, rules));
            (file, number, line.access.words(), executions, lanes, bytes, cost, text)
        };
        let instruction = |(&(pc, access), figures): (&(u64, MemoryAccess), &MemoryFigures)| {
            let text = format!("{}: {}", access.words(), cost_text(access, figures, rules));
            (pc, figures.cost(rules.line_bytes), text)
        };
        Self {
            rules: memory.sentence(),
            launches: memory.launches,
            lines: memory.lines.iter().map(line).collect(),
            code: memory.instructions.iter().map(instruction).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Row<'a> {
    file: i64,
    line: u32,
    column: u32,
    kind: &'a str,
    probe: Option<&'a str>,
    /// Its divergence is meant.
    expected: bool,
    /// The dependency that it stands in.
    package: Option<String>,
    /// Number of the source file or -1, and line, of the user's line that led there.
    caller: Option<(i64, u32)>,
    sites: u64,
    /// Executions, all, none, diverged, lanes before, lanes after.
    counts: [u64; 6],
    lost: u64,
    certainty: Certainty,
    /// Executions, diverged, lanes lost, of the earlier run.
    was: Option<[u64; 3]>,
    /// Waves that came here, and in which it diverged.
    waves: [u64; 2],
    /// Function, number of the source file or -1, line, column.
    frames: Vec<(&'a str, i64, u32, u32)>,
    pcs: Vec<u64>,
    /// What each wave did: its number in `ids`, executions, all, none, lanes before, lanes after, lost; all
    /// in one array.
    strip: Vec<u64>,
}

/// Launch, workgroup in z, y, x, and wave: the order of launch.
type WaveKey = (usize, [u32; 3], u32);

fn key(wave: &LaunchWave) -> WaveKey {
    let [x, y, z] = wave.wave.id.workgroup;
    (wave.launch, [z, y, x], wave.wave.id.wave)
}

#[derive(Debug, Serialize)]
struct SourceText {
    file: String,
    /// Its name for people.
    name: String,
    /// The file is the user's.
    own: bool,
    changed: bool,
    /// `None` when it cannot be read.
    text: Option<String>,
    /// What to colour in it, as [`paint::rust`] has it.
    paint: Vec<u32>,
}

/// Numbers of source files.
struct Files(BTreeMap<String, i64>);

impl Files {
    fn of(&self, file: Option<&str>) -> i64 {
        file.and_then(|file| self.0.get(file)).copied().unwrap_or(-1)
    }
}

impl<'a> Data<'a> {
    pub(super) fn new(summary: &'a Summary, sources: &Sources, extras: &Extras<'a>) -> Self {
        let files = files(summary, extras.listings);
        let texts = files.0.keys().map(|file| {
            // Rust's own library is known to its users, and large.
            let source = sources.get(file).filter(|_| !is_library_file(file));
            let is_rust = file.ends_with(".rs");
            SourceText {
                file: file.clone(),
                name: short(file).into_owned(),
                own: Origin::of(file).is_own(),
                changed: source.as_ref().is_some_and(|source| source.changed),
                paint: source
                    .as_ref()
                    .filter(|_| is_rust)
                    .map(|source| paint::rust(&source.text))
                    .unwrap_or_default(),
                text: source.map(|source| source.text.clone()),
            }
        });
        Self {
            package: &summary.package,
            profile: &summary.profile,
            tests: summary.tests,
            unfinished: &summary.unfinished_programs,
            unlaunched: summary.unlaunched_names(),
            faults: summary.unexpected_faults().collect(),
            doubts: &summary.doubts,
            sampled: summary.sampled.iter().map(crate::human::sentence).collect(),
            violations: extras
                .violations
                .iter()
                .map(|violation| {
                    let place = violation.location.as_ref();
                    (
                        violation.gate.as_str(),
                        violation.kernel.as_str(),
                        place.and_then(|place| place.file.as_deref()),
                        place.and_then(|place| place.line),
                        violation.message.as_str(),
                    )
                })
                .collect(),
            diff: extras.diff.map(|diff| diff.changes.as_slice()),
            kernels: summary
                .kernels
                .iter()
                .map(|kernel| {
                    let of_kernel =
                        |listing: &&KernelListing| listing.kernel == kernel.name && listing.cpu == kernel.cpu;
                    let same = |was: &&KernelSummary| was.is_same(kernel);
                    let was = extras.baseline.and_then(|baseline| baseline.kernels.iter().find(same));
                    Kernel::new(kernel, extras.listings.iter().find(of_kernel), was, &files)
                })
                .collect(),
            sources: texts.collect(),
            gpus: extras.gpus,
        }
    }
}

impl<'a> Kernel<'a> {
    fn new(
        kernel: &'a KernelSummary,
        listing: Option<&'a KernelListing>,
        was: Option<&KernelSummary>,
        files: &Files,
    ) -> Self {
        let shown = |branch: &'a Branch| branch.waves.iter().take(WAVES);
        let keys: BTreeSet<WaveKey> = kernel.branches.iter().flat_map(shown).map(key).collect();
        let ids: BTreeMap<WaveKey, u64> = keys.into_iter().zip(0..).collect();
        let strip = |branch: &'a Branch| {
            let wave = |wave: &LaunchWave| {
                let counts = &wave.wave.counts;
                let id = ids.get(&key(wave)).copied().unwrap_or_default();
                let lost = wave.lost.lanes;
                [id, counts.executions, counts.all, counts.none, counts.lanes_in, counts.lanes_taken, lost]
            };
            shown(branch).flat_map(wave).collect()
        };
        let code = listing.iter().flat_map(|listing| &listing.instructions).map(|instruction| {
            let (file, line) = match &instruction.source {
                Some((file, line)) => (files.of(Some(file)), *line),
                None => (-1, 0),
            };
            (instruction.pc, instruction.text.as_str(), file, line)
        });
        let frame = |frame: &'a SiteFrame| {
            let function = frame.function.as_deref().unwrap_or("<unknown>");
            (function, files.of(frame.file.as_deref()), frame.line.unwrap_or(0), frame.column.unwrap_or(0))
        };
        let mut used = BTreeSet::new();
        let row = |branch: &'a Branch| {
            let counts = &branch.counts;
            let before = was.and_then(|was| {
                let index = counterpart(branch, &was.branches, &used)?;
                used.insert(index);
                was.branches.get(index)
            });
            Row {
                file: files.of(branch.location.file.as_deref()),
                line: branch.location.line.unwrap_or(0),
                column: branch.location.column.unwrap_or(0),
                kind: &branch.kind,
                probe: branch.probe.as_deref(),
                expected: branch.expected,
                package: branch.location.origin().package().map(str::to_owned),
                caller: branch
                    .caller
                    .as_ref()
                    .map(|caller| (files.of(caller.file.as_deref()), caller.line.unwrap_or(0))),
                was: before.map(|was| [was.counts.executions, was.counts.diverged, was.lost.lanes]),
                sites: branch.sites,
                counts: [
                    counts.executions,
                    counts.all,
                    counts.none,
                    counts.diverged,
                    counts.lanes_in,
                    counts.lanes_taken,
                ],
                lost: branch.lost.lanes,
                certainty: branch.lost.certainty,
                waves: [branch.waves_here, branch.waves_diverged],
                frames: branch.frames.iter().map(frame).collect(),
                pcs: branch.instructions.iter().map(|(pc, _)| *pc).collect(),
                strip: strip(branch),
            }
        };
        Self {
            name: &kernel.name,
            cpu: &kernel.cpu,
            launches: kernel.launches,
            waves: kernel.waves,
            home: &kernel.counter_storage,
            occupancy: listing.and_then(|listing| listing.occupancy.as_ref()),
            was: was.map(|was| KernelWas {
                lost: was.branches.iter().map(|branch| branch.lost.lanes).sum(),
                diverged: was.branches.iter().filter(|branch| branch.counts.diverged > 0).count() as u64,
                occupancy: was.resources.map(|resources| resources.occupancy[0]),
                cycles: was.modelled.as_ref().map(ModelledTime::cycles_a_launch),
            }),
            resources: kernel.resources,
            time: kernel.time,
            lines: {
                let row = |line: &Line| (files.of(Some(&line.file)), line.line, line.executions, line.lanes);
                kernel.lines_most_first().into_iter().map(row).collect()
            },
            not_selected: kernel.not_selected,
            refusals: refused::folded(&kernel.refusals),
            uncounted: &kernel.uncounted,
            ids: ids.keys().map(|&(launch, [z, y, x], wave)| (launch, x, y, z, wave)).collect(),
            branches: kernel.branches.iter().map(row).collect(),
            code: code.collect(),
            modelled: kernel.modelled.as_ref().map(|time| Modelled::new(time, files)),
            memory: kernel.memory.as_ref().map(|memory| Memory::new(memory, files)),
        }
    }
}

/// Every file that something stands in, numbered by name.
fn files(summary: &Summary, listings: &[KernelListing]) -> Files {
    let mut names = BTreeSet::new();
    for kernel in &summary.kernels {
        for branch in &kernel.branches {
            names.extend(branch.location.file.as_deref());
            names.extend(branch.caller.as_ref().and_then(|caller| caller.file.as_deref()));
            names.extend(branch.frames.iter().filter_map(|frame| frame.file.as_deref()));
        }
        let modelled = kernel.modelled.iter().flat_map(|time| &time.lines);
        names.extend(modelled.filter_map(|line| line.file.as_deref()));
        let memory = kernel.memory.iter().flat_map(|memory| &memory.lines);
        names.extend(memory.filter_map(|line| line.file.as_deref()));
        names.extend(kernel.lines.iter().map(|line| line.file.as_str()));
        names.extend(kernel.uncounted.iter().filter_map(|probe| probe.location.file.as_deref()));
    }
    let told = summary.unexpected_faults().chain(&summary.doubts);
    names.extend(told.filter_map(|fault| fault.fault.location.file.as_deref()));
    let code = listings.iter().flat_map(|listing| &listing.instructions);
    names.extend(code.filter_map(|instruction| Some(instruction.source.as_ref()?.0.as_str())));
    Files(names.into_iter().map(str::to_owned).zip(0..).collect())
}
