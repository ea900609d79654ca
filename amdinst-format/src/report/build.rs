//! From a kernel's probe map and its counter records to its report.

use thiserror::Error;

use crate::counters::{BlockCounts, Layout, Probe, SiteCounts, WaveRecord, seconds_to_overflow};
use crate::probes::{KernelProbes, ProbeOutcome, ProbeResult, ProbeSpec, Reason, Refusal, SiteFrame};

use super::{
    BlockReport, Counts, LeftOutReport, Location, Origin, Outcome, ProbeReport, Report, SCHEMA, SiteReport,
    TimeReport, UniformReport, WaveId, WaveReport, own_frame,
};

/// Instructions that counting an execution in SGPRs takes at least.
const COUNTING_IN_SGPRS: u32 = 4;

/// One launch of an instrumented kernel: what [`Report::new`] needs to know of it.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The kernel's part of the probe map.
    pub probes: &'a KernelProbes,
    /// The kernel's name as the source has it, if the code object mangles it.
    pub demangled: Option<&'a str>,
    /// The probe map's target.
    pub target: &'a str,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// The counter records, read back by [`crate::counters::decode`]; empty for a kernel that was not
    /// instrumented.
    pub records: &'a [WaveRecord],
    /// Seconds that the kernel ran, at most; `None` where the counters are compared with another count, which
    /// shows every overflow. A launch so long that a wave can have passed a site 2^32 times has no report.
    pub seconds: Option<f64>,
}

/// Records that do not belong to the probe map.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ReportError {
    /// Fewer counters than sites.
    #[error("kernel `{kernel}` has {sites} sites in its probe map, but its records hold {counted}")]
    Sites {
        /// The kernel.
        kernel: String,
        /// Sites in the probe map.
        sites: usize,
        /// Sites in the shortest record.
        counted: usize,
    },
    /// More or fewer records than waves.
    #[error("kernel `{kernel}` ran {waves} waves, but its counter buffer holds {records} records")]
    Waves {
        /// The kernel.
        kernel: String,
        /// Waves of the launch.
        waves: u64,
        /// Records in the buffer.
        records: u64,
    },
    /// Counters that may have overflowed, which makes every figure of the site worthless.
    #[error(
        "kernel `{kernel}`: site {site} counted {executions} executions in one wave, so that its 32-bit counters may have overflowed: give the kernel less work a wave, or count without lanes"
    )]
    Overflow {
        /// The kernel.
        kernel: String,
        /// The site's id.
        site: usize,
        /// Executions in that wave, as counted.
        executions: u64,
    },
    /// A block counted so many executions that its counters may have overflowed.
    #[error(
        "kernel `{kernel}`: block {block} counted {executions} executions in one wave, so that its 32-bit counters may have overflowed: give the kernel less work a wave"
    )]
    BlockOverflow {
        /// The kernel.
        kernel: String,
        /// The block's id.
        block: usize,
        /// Executions in that wave, as counted.
        executions: u64,
    },
    /// A launch in which a counter may have wrapped around unseen.
    #[error(
        "kernel `{kernel}` ran {seconds:.1} s; a wave can pass a site 2^32 times in {safe:.1} s, so that 32-bit counters may have overflowed: give the kernel less work a launch"
    )]
    Long {
        /// The kernel.
        kernel: String,
        /// Seconds that it ran.
        seconds: f64,
        /// Seconds in which no counter can overflow.
        safe: f64,
    },
}

impl Launch<'_> {
    /// Waves of the launch.
    pub fn waves(&self) -> u64 {
        Layout::new(self.grid, self.block, self.probes.record_stride).with_lanes(self.probes.lanes).waves()
    }
}

impl Report {
    /// Sums the records of one launch up, by site and by wave.
    ///
    /// # Errors
    /// When the records are not those of the probe map's kernel.
    pub fn new(launch: &Launch<'_>) -> Result<Self, ReportError> {
        Self::of_part(launch, launch.waves())
    }

    /// The report of `waves` waves of a launch, whose records these are.
    ///
    /// # Errors
    /// As those of [`Report::new`].
    pub fn of_part(launch: &Launch<'_>, waves: u64) -> Result<Self, ReportError> {
        let probes = launch.probes;
        let instrumented = probes.is_instrumented();
        if instrumented {
            check(launch, waves)?;
        }
        let sites = if instrumented { site_reports(launch) } else { Vec::new() };
        let unfinished = launch.records.iter().filter(|record| !record.flushed).map(wave_id).collect();
        let uniform = |branch: &crate::probes::UniformBranch| UniformReport {
            pc: branch.pc,
            location: location(&probes.frames(branch.place)),
            name: branch.name.clone(),
        };
        let left_out = |site: &crate::probes::LeftOut| LeftOutReport {
            pc: site.pc,
            location: location(&probes.frames(site.place)),
            name: site.name.clone(),
        };
        let mut report = Self {
            schema: SCHEMA,
            kernel: probes.name.clone(),
            demangled: launch.demangled.map(str::to_owned),
            target: launch.target.to_owned(),
            probe: probes.probe,
            lanes: probes.lanes,
            counter_storage: probes.home.map_or("none", |home| home.name()).to_owned(),
            grid: launch.grid,
            block: launch.block,
            waves: launch.waves(),
            unfinished,
            memory_equal: None,
            oracle_equal: None,
            blocks: if instrumented { block_reports(launch) } else { Vec::new() },
            time: (instrumented && probes.probe == Probe::Time).then(|| TimeReport::new(launch.records)),
            sites,
            probes: Vec::new(),
            sites_not_selected: probes.left_out.iter().map(left_out).collect(),
            uniform: probes.uniform.iter().map(uniform).collect(),
            not_instrumented: probes
                .refusals
                .iter()
                .find(|refusal| refusal.reason == Reason::Processor)
                .map(refusal_text),
            not_selected: false,
            refusals: probes.refusals.iter().map(refusal_text).collect(),
        };
        for outcome in &probes.probes {
            report.add_probe(&outcome.probe, &outcome.result, instrumented);
        }
        Ok(report)
    }

    /// Adds a probe, or merges it with its namesake: a probe in a function that was inlined twice is one
    /// probe.
    fn add_probe(&mut self, probe: &ProbeSpec, result: &ProbeResult, instrumented: bool) {
        // Code that is not there may be that of a function which this kernel never calls.
        let function = probe.function.rsplit("::").next().unwrap_or(&probe.function);
        if *result == ProbeResult::Removed && function != self.kernel {
            return;
        }
        let outcome = match result {
            ProbeResult::Sites(sites) if instrumented && !sites.is_empty() => {
                Outcome::Counted { sites: sites.clone() }
            }
            ProbeResult::Sites(_) => Outcome::Refused,
            ProbeResult::LeftOut => Outcome::LeftOut,
            ProbeResult::Uniform(_) => Outcome::Uniform,
            ProbeResult::IfConverted => Outcome::IfConverted,
            ProbeResult::Removed => Outcome::Removed,
        };
        match self.probes.iter_mut().find(|known| known.name == probe.name) {
            None => self.probes.push(ProbeReport {
                name: probe.name.clone(),
                location: Location {
                    file: Some(probe.file.clone()),
                    line: Some(probe.line),
                    column: Some(probe.column),
                },
                outcome,
            }),
            Some(known) => match (&mut known.outcome, outcome) {
                (Outcome::Counted { sites: known }, Outcome::Counted { sites }) => {
                    known.extend(sites);
                    known.sort_unstable();
                    known.dedup();
                }
                (Outcome::Counted { .. }, _) => {}
                (known, outcome) => *known = outcome,
            },
        }
    }

    /// Cuts `base` and a following slash from the front of every file name, so that people read short ones.
    pub fn relative_to(&mut self, base: &str) {
        let sites =
            self.sites.iter_mut().flat_map(|site| [&mut site.location].into_iter().chain(&mut site.caller));
        let probes = self.probes.iter_mut().map(|probe| &mut probe.location);
        let uniform = self.uniform.iter_mut().map(|branch| &mut branch.location);
        let left_out = self.sites_not_selected.iter_mut().map(|site| &mut site.location);
        let blocks = self.blocks.iter_mut().map(|block| &mut block.location);
        let locations = sites.chain(probes).chain(uniform).chain(left_out).chain(blocks);
        let files = locations.filter_map(|location| location.file.as_mut());
        // A refusal begins with the name of its file, if it has one.
        for name in files.chain(&mut self.refusals) {
            if let Some(rest) = name.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')) {
                *name = rest.to_owned();
            }
        }
        let lines =
            self.blocks.iter_mut().flat_map(|block| block.lines.iter_mut().chain(&mut block.scalar_lines));
        for of_file in lines {
            if let Some(rest) = of_file.file.strip_prefix(base).and_then(|rest| rest.strip_prefix('/')) {
                of_file.file = rest.into();
            }
        }
    }
}

fn check(launch: &Launch<'_>, waves: u64) -> Result<(), ReportError> {
    let kernel = || launch.probes.name.clone();
    let records = launch.records.len() as u64;
    if waves != records {
        return Err(ReportError::Waves { kernel: kernel(), waves, records });
    }
    let counted = launch.records.iter().map(|record| record.sites.len()).min().unwrap_or(usize::MAX);
    let sites = launch.probes.sites.iter().map(|site| site.id as usize + 1).max().unwrap_or(0);
    let counted_blocks = launch.records.iter().map(|record| record.blocks.len()).min().unwrap_or(usize::MAX);
    let blocks = launch.probes.blocks.iter().map(|block| block.id as usize + 1).max().unwrap_or(0);
    if counted_blocks < blocks {
        return Err(ReportError::Sites { kernel: kernel(), sites: blocks, counted: counted_blocks });
    }
    if counted < sites {
        return Err(ReportError::Sites { kernel: kernel(), sites, counted });
    }
    let counts = !launch.probes.sites.is_empty() || !launch.probes.blocks.is_empty();
    if let Some(seconds) = launch.seconds.filter(|_| counts) {
        // What was inserted at the cheapest site, and the site's own instruction. What has no counters cannot
        // overflow.
        let least = launch.probes.cost.instructions_per_site[0];
        let least = if launch.probes.site_forms.is_empty() { least } else { least.max(COUNTING_IN_SGPRS) };
        let safe = seconds_to_overflow(least + 1);
        // A time that is no number bounds nothing.
        if seconds.is_nan() || seconds >= safe {
            return Err(ReportError::Long { kernel: kernel(), seconds, safe });
        }
    }
    for record in launch.records.iter().filter(|record| record.flushed) {
        let overflown = record.sites.iter().position(SiteCounts::may_have_overflowed);
        if let Some(site) = overflown {
            let executions = record.sites[site].executions;
            return Err(ReportError::Overflow { kernel: kernel(), site, executions });
        }
        if let Some(block) = record.blocks.iter().position(BlockCounts::may_have_overflowed) {
            let executions = record.blocks[block].executions;
            return Err(ReportError::BlockOverflow { kernel: kernel(), block, executions });
        }
    }
    Ok(())
}

fn block_reports(launch: &Launch<'_>) -> Vec<BlockReport> {
    let Launch { probes, records, .. } = launch;
    let report = |block: &crate::probes::BlockProbe| {
        BlockReport::new(block, location(&probes.frames(block.place)), records)
    };
    let mut reports: Vec<_> = probes.blocks.iter().map(report).collect();
    reports.sort_by_key(|block| block.pc);
    reports
}

fn site_reports(launch: &Launch<'_>) -> Vec<SiteReport> {
    let mut reports: Vec<_> = launch.probes.sites.iter().map(|site| site_report(site, launch)).collect();
    reports.sort_by_key(|site| site.pc);
    reports
}

fn site_report(site: &crate::probes::Site, launch: &Launch<'_>) -> SiteReport {
    let waves: Vec<_> = launch
        .records
        .iter()
        .filter(|record| record.flushed)
        .map(|record| (record, record.sites[site.id as usize]))
        .filter(|(_, counts)| *counts != SiteCounts::default())
        .map(|(record, counts)| WaveReport { id: wave_id(record), counts: counts.into() })
        .collect();
    let frames = launch.probes.frames(site.place);
    let location = location(&frames);
    let is_own = location.origin().is_own();
    let caller = own_frame(&frames).filter(|_| !is_own).map(Location::from);
    let is_meant = |outcome: &ProbeOutcome| {
        let has_site = matches!(&outcome.result, ProbeResult::Sites(sites) if sites.contains(&site.id));
        // What a dependency does is meant where its caller's is.
        let has_caller = || caller.as_ref().is_some_and(|caller| encloses(&outcome.probe, caller));
        outcome.probe.expect && (has_site || has_caller())
    };
    SiteReport {
        id: site.id,
        kind: site.kind.name().to_owned(),
        pc: site.pc,
        expected: launch.probes.probes.iter().any(is_meant),
        caller,
        // Nothing is near a place that nobody knows.
        near: site.is_near && location.file.is_some(),
        location,
        name: site.name.clone(),
        counts: waves.iter().map(|wave| wave.counts).sum::<Counts>(),
        waves,
        left_out: None,
    }
}

/// Whether a place is in the construct of a probe, whose file is named from somewhere else.
fn encloses(probe: &ProbeSpec, place: &Location) -> bool {
    let Location { file: Some(file), line: Some(line), column } = place else { return false };
    let at = (*line, column.unwrap_or(probe.column));
    let is_inside = (probe.line, probe.column) <= at && at < (probe.end_line, probe.end_column);
    let rest = file.strip_suffix(&probe.file);
    is_inside && rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

const fn wave_id(record: &WaveRecord) -> WaveId {
    WaveId { workgroup: record.workgroup, wave: record.wave }
}

/// The place to name for an inline chain (innermost first): the innermost frame that is not in Rust's own
/// library, for a `for` loop's exit stands in `Range::next` and means nothing to its writer there.
pub fn location(frames: &[SiteFrame]) -> Location {
    let own = |frame: &&SiteFrame| frame.file.as_deref().is_some_and(|file| !is_library_file(file));
    let frame = frames.iter().find(own).or_else(|| frames.first());
    frame.map(Location::from).unwrap_or_default()
}

/// Whether a file is one of Rust's own library.
pub fn is_library_file(file: &str) -> bool {
    matches!(Origin::of(file), Origin::Library { .. })
}

/// A refusal for people: where, and why.
pub fn refusal_text(refusal: &Refusal) -> String {
    let Refusal { pc, detail, frames, .. } = refusal;
    match (pc, location(frames)) {
        (Some(pc), place) if place.file.is_some() => format!("{place} (pc {pc:#x}): {detail}"),
        (Some(pc), _) => format!("pc {pc:#x}: {detail}"),
        (None, place) if place.file.is_some() => format!("{place}: {detail}"),
        (None, _) => detail.clone(),
    }
}
