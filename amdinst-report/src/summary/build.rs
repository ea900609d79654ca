//! From a run to its summary.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use amdinst_core::counters::Lanes;
use amdinst_core::instrument::FileLines;
use amdinst_core::report::run::{Ending, FaultReport, KernelFacts, Run, Sampled, SiteFacts};
use amdinst_core::report::{BlockReport, Counts, Location, Outcome, Report, SiteReport, WaveId, WaveReport};

use super::{
    Branch, KernelSummary, LaunchWave, Line, MemorySummary, Resources, SCHEMA, Summary, TestFault, Tests,
    Time, Uncounted, modelled,
};
use amdinst_core::report::Lost;

impl Summary {
    /// Sums a run up.
    pub fn new(run: &Run) -> Self {
        let mut summary = Self {
            schema: SCHEMA,
            package: run.package.clone(),
            profile: run.profile.clone(),
            chosen_by: run.chosen_by.clone(),
            ..Self::default()
        };
        let mut kernels = BTreeMap::<(&str, &str), Vec<&Report>>::new();
        let mut sampled = BTreeMap::<(&String, &String), [u64; 2]>::new();
        for (program, test) in run.tests() {
            summary.tests.add(test.ending);
            for report in &test.launches {
                kernels.entry((&report.kernel, &program.cpu)).or_default().push(report);
            }
            let told = |fault: &FaultReport, expected: bool| TestFault {
                test: test.name.clone(),
                cpu: program.cpu.clone(),
                expected,
                fault: fault.clone(),
            };
            let passed = test.ending == Ending::Passed;
            summary.faults.extend(test.faults.iter().map(|fault| told(fault, passed)));
            for doubt in &test.doubts {
                let doubt = told(doubt, false);
                if !summary.doubts.iter().any(|known| is_same(known, &doubt)) {
                    summary.doubts.push(doubt);
                }
            }
            for Sampled { kernel, check, workgroups, of } in &test.sampled {
                let sum = sampled.entry((kernel, check)).or_insert([0, 0]);
                *sum = [sum[0] + workgroups, sum[1] + of];
            }
        }
        let sampled = sampled.into_iter().map(|((kernel, check), [workgroups, of])| Sampled {
            kernel: kernel.clone(),
            check: check.clone(),
            workgroups,
            of,
        });
        summary.sampled = sampled.collect();
        let unfinished = run.programs.iter().filter(|program| !program.finished);
        summary.unfinished_programs = unfinished.map(|program| program.name.clone()).collect();
        summary.kernels = kernels
            .into_iter()
            .map(|((name, cpu), launches)| {
                let facts = run.kernels.iter().find(|facts| facts.name == name && facts.cpu == cpu);
                let modelled = modelled::sum(run, name, cpu);
                let memory = MemorySummary::of_run(run, name, cpu);
                KernelSummary { modelled, memory, ..kernel(name, cpu, &launches, facts) }
            })
            .collect();
        summary.unlaunched.clone_from(&run.unlaunched);
        summary
    }
}

/// Whether two are of the same instructions.
fn is_same(one: &TestFault, other: &TestFault) -> bool {
    let key = |told: &TestFault| {
        let FaultReport { kernel, pc, earlier, .. } = &told.fault;
        (told.cpu.clone(), kernel.clone(), *pc, earlier.as_ref().map(|earlier| earlier.pc))
    };
    key(one) == key(other)
}

impl Tests {
    fn add(&mut self, ending: Ending) {
        match ending {
            Ending::Passed => self.passed += 1,
            Ending::Failed => self.failed += 1,
            Ending::Ignored => self.ignored += 1,
        }
    }
}

/// The order of branches: the most lanes lost, then the most divergence, then the source.
pub(super) fn worst_first(a: &Branch, b: &Branch) -> Ordering {
    b.lost
        .lanes
        .cmp(&a.lost.lanes)
        .then_with(|| b.counts.diverged.cmp(&a.counts.diverged))
        .then_with(|| a.location.cmp(&b.location))
        .then_with(|| (&a.kind, &a.probe, &a.caller).cmp(&(&b.kind, &b.probe, &b.caller)))
}

fn kernel(name: &str, cpu: &str, launches: &[&Report], facts: Option<&KernelFacts>) -> KernelSummary {
    let mut branches = BTreeMap::<Key<'_>, Parts<'_>>::new();
    let mut uncounted = Vec::new();
    let mut refusals = Vec::<String>::new();
    let mut lines = BTreeMap::<(&str, u32), (u64, u64)>::new();
    let facts_of: BTreeMap<u64, &SiteFacts> =
        facts.iter().flat_map(|facts| &facts.sites).map(|site| (site.pc, site)).collect();
    for (index, report) in launches.iter().enumerate() {
        for site in &report.sites {
            let key = (&site.location, site.kind.as_str(), site.name.as_deref(), site.caller.as_ref());
            branches.entry(key).or_default().add(
                (index, report.lanes),
                site,
                facts_of.get(&site.pc).copied(),
            );
        }
        for probe in report.probes.iter().filter(|probe| !matches!(probe.outcome, Outcome::Counted { .. })) {
            uncounted.push(Uncounted {
                location: probe.location.clone(),
                probe: probe.name.clone(),
                outcome: probe.outcome.word().to_owned(),
            });
        }
        for refusal in &report.refusals {
            if !refusals.contains(refusal) {
                refusals.push(refusal.clone());
            }
        }
        let of_launch = lines_of_launch(&report.blocks);
        for (place, (executions, lanes)) in of_launch {
            let known = lines.entry(place).or_default();
            *known = (known.0 + executions, known.1 + lanes);
        }
    }
    uncounted.sort();
    uncounted.dedup();
    let mut branches: Vec<_> = branches.into_iter().map(|(key, parts)| parts.finish(key)).collect();
    branches.sort_by(worst_first);
    let line = |((file, line), (executions, lanes)): ((&str, u32), (u64, u64))| Line {
        file: file.to_owned(),
        line,
        executions,
        lanes,
    };
    KernelSummary {
        name: name.to_owned(),
        cpu: cpu.to_owned(),
        lanes: launches.first().map_or_else(Lanes::default, |report| report.lanes),
        launches: launches.len() as u64,
        waves: launches.iter().map(|report| report.waves).sum(),
        counter_storage: launches.first().map_or("none", |report| report.counter_storage.as_str()).to_owned(),
        resources: facts.and_then(Resources::of),
        branches,
        uncounted,
        not_selected: launches.iter().any(|report| report.not_selected),
        refusals,
        lines: lines.into_iter().map(line).collect(),
        time: time(launches),
        modelled: None,
        memory: None,
    }
}

/// What each source line did in a launch: the executions and lanes of the most frequent of its blocks.
fn lines_of_launch(blocks: &[BlockReport]) -> BTreeMap<(&str, u32), (u64, u64)> {
    // A wave starts with some lane, so lanes were counted if any were.
    let counts_lanes = blocks.iter().any(|block| block.counts.lanes > 0);
    // Where no block tells its lines, each is said to be where it begins.
    let are_told = blocks.iter().any(|block| !block.lines.is_empty() || !block.scalar_lines.is_empty());
    let mut lines = BTreeMap::<(&str, u32), (u64, u64)>::new();
    for block in blocks {
        // What runs with no lane active does nothing that its lines say.
        let ran = !counts_lanes || block.counts.lanes > 0;
        let counts = if ran { (block.counts.executions, block.counts.lanes) } else { (0, 0) };
        let Location { file, line, .. } = &block.location;
        let first = file.as_deref().zip(*line).filter(|_| !are_told);
        for place in places(&block.lines).chain(first) {
            let known = lines.entry(place).or_default();
            *known = (*known).max(counts);
        }
    }
    // Of scalar instructions nothing is known but that waves came there.
    let mut others = BTreeMap::<(&str, u32), (u64, u64)>::new();
    for block in blocks {
        for place in places(&block.scalar_lines).filter(|place| !lines.contains_key(place)) {
            let known = others.entry(place).or_default();
            known.0 = known.0.max(block.counts.executions);
        }
    }
    lines.append(&mut others);
    lines
}

fn places(lines: &[FileLines]) -> impl Iterator<Item = (&str, u32)> {
    lines.iter().flat_map(|of_file| of_file.lines.iter().map(|&line| (&*of_file.file, line)))
}

/// The shortest, the middle and the longest of all waves of all launches.
fn time(launches: &[&Report]) -> Option<Time> {
    let times = launches.iter().filter_map(|report| report.time.as_ref());
    let mut ticks: Vec<u64> = times.flat_map(|time| &time.waves).map(|wave| wave.ticks).collect();
    ticks.sort_unstable();
    let (least, most) = (*ticks.first()?, *ticks.last()?);
    Some(Time { least, median: ticks[(ticks.len() - 1) / 2], most })
}

/// Launch, workgroup in z, y, x, and wave: the order of launch.
type WaveKey = (usize, [u32; 3], u32);

/// What makes sites one branch: place, kind, probe, and the user's line that led there.
type Key<'a> = (&'a Location, &'a str, Option<&'a str>, Option<&'a Location>);

/// The sites of a branch, in all launches.
#[derive(Default)]
struct Parts<'a> {
    expected: bool,
    near: bool,
    counts: Counts,
    waves: BTreeMap<WaveKey, (Counts, Lost)>,
    sites: BTreeMap<u64, Option<&'a SiteFacts>>,
}

impl<'a> Parts<'a> {
    fn add(&mut self, (launch, lanes): (usize, Lanes), site: &SiteReport, facts: Option<&'a SiteFacts>) {
        self.counts += site.counts;
        self.expected |= site.expected;
        self.near |= site.near;
        self.sites.entry(site.pc).or_insert(facts);
        for wave in &site.waves {
            let [x, y, z] = wave.id.workgroup;
            // What a wave did at the branch is the sum over its sites.
            let (counts, lost) = self.waves.entry((launch, [z, y, x], wave.id.wave)).or_default();
            *counts += wave.counts;
            *lost = Lost::sum([*lost, Lost::of_wave(lanes, &site.kind, &wave.counts)]);
        }
    }

    fn finish(self, (location, kind, probe, caller): Key<'_>) -> Branch {
        let facts = self.sites.values().flatten().next();
        let instruction = |facts: &Option<&SiteFacts>| facts.map(|facts| facts.instruction.clone());
        let wave = |((launch, [z, y, x], wave), (counts, lost)): (WaveKey, (Counts, Lost))| LaunchWave {
            launch,
            wave: WaveReport { id: WaveId { workgroup: [x, y, z], wave }, counts },
            lost,
        };
        Branch {
            location: location.clone(),
            near: self.near,
            kind: kind.to_owned(),
            probe: probe.map(str::to_owned),
            caller: caller.cloned(),
            expected: self.expected,
            sites: self.sites.len() as u64,
            counts: self.counts,
            diverged_percent: 100.0 * self.counts.divergence(),
            average_lanes_active: self.counts.average_lanes_active(),
            lost: Lost::sum(self.waves.values().map(|(_, lost)| *lost)),
            waves_here: self.waves.len() as u64,
            waves_diverged: self.waves.values().filter(|(counts, _)| counts.diverged > 0).count() as u64,
            frames: facts.map(|facts| facts.frames.clone()).unwrap_or_default(),
            instructions: self
                .sites
                .iter()
                .map(|(&pc, facts)| (pc, instruction(facts).unwrap_or_default()))
                .collect(),
            waves: self.waves.into_iter().map(wave).collect(),
        }
    }
}
