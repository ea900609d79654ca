//! Limits that a run must keep: `--fail-on diverged:5%`.

use std::fmt;
use std::str::FromStr;

use amdinst_core::report::Location;
use amdinst_core::report::{Certainty, MemoryPlace, MemoryVerb, refused};
use amdinst_text::count;
use thiserror::Error;

use crate::diff::{Diff, Verdict};
use crate::fold::{Shown, fold};
use crate::limit::{self, Operator, Parts};
use crate::summary::{KernelSummary, LineMemory, Summary};

/// What a limit is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// Of each branch whose divergence is not meant: executions that diverged, or their share in per cent.
    Diverged,
    /// Of each branch: lanes that stay active, an execution.
    Active,
    /// Of each branch: lanes that stood idle.
    Lost,
    /// Of each kernel, without probes: waves that a SIMD can hold.
    Occupancy,
    /// Of each kernel, without probes.
    Sgprs,
    Vgprs,
    Lds,
    Scratch,
    /// Of each kernel: sites, or the whole, that were not instrumented.
    Refused,
    /// Of each kernel, if times were measured: the median of its waves'.
    Ticks,
    /// Of each kernel, if that was modeled: cycles of a launch.
    Cycles,
    /// Of each line that accesses global memory: cache lines that would do, in per cent of those touched.
    Coalescing,
    /// Of each line that accesses LDS: cycles of the banks that conflicts cost, or their share in per cent.
    BankConflicts,
    /// Of each line with atomics: lanes of one instruction at one address.
    SameAddress,
    /// Of each kernel: bytes that it loads from scratch and stores there.
    ScratchBytes,
    /// Of each kernel: how much longer it takes than in the baseline, in per cent.
    Slower,
}

const METRICS: [(&str, Metric); 16] = [
    ("diverged", Metric::Diverged),
    ("active", Metric::Active),
    ("lost", Metric::Lost),
    ("occupancy", Metric::Occupancy),
    ("sgprs", Metric::Sgprs),
    ("vgprs", Metric::Vgprs),
    ("lds", Metric::Lds),
    ("scratch", Metric::Scratch),
    ("refused", Metric::Refused),
    ("ticks", Metric::Ticks),
    ("cycles", Metric::Cycles),
    ("coalescing", Metric::Coalescing),
    ("bank-conflicts", Metric::BankConflicts),
    ("same-address", Metric::SameAddress),
    ("scratch-bytes", Metric::ScratchBytes),
    ("slower", Metric::Slower),
];

impl Metric {
    /// The operator that tells what is beyond a limit.
    const fn beyond(self) -> Operator {
        match self {
            Self::Active | Self::Occupancy | Self::Coalescing => Operator::Below,
            _ => Operator::Above,
        }
    }

    /// Whether a limit may be a share.
    const fn has_shares(self) -> bool {
        matches!(self, Self::Diverged | Self::Slower | Self::Coalescing | Self::BankConflicts)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Rule {
    Limit { metric: Metric, operator: Operator, value: f64, percent: bool },
    Worse,
}

/// A limit: a metric, `:` and the number that must not be passed; or a metric, `<`, `<=`, `>` or `>=`, and a
/// number, which together must be false. Or `worse`: than the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    text: String,
    rule: Rule,
}

/// Not a limit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}; a limit is `worse`, or one of {list}, with `:` and a number, as in `diverged:5%` or `occupancy:8` (or with <, <=, > or >=, as in `diverged>5%`)", list = names())]
pub struct GateError(String);

fn names() -> String {
    METRICS.map(|(name, _)| name).join(", ")
}

impl FromStr for Gate {
    type Err = GateError;

    fn from_str(text: &str) -> Result<Self, GateError> {
        let compact: String = text.split_whitespace().collect();
        if compact == "worse" {
            return Ok(Self { text: compact, rule: Rule::Worse });
        }
        let Parts { name, operator, value } =
            Parts::of(&compact).ok_or_else(|| GateError(format!("`{text}` has no limit")))?;
        let metric = METRICS.iter().find(|(known, _)| *known == name);
        let (_, metric) = *metric.ok_or_else(|| GateError(format!("unknown limit `{name}`")))?;
        let operator = operator.unwrap_or(metric.beyond());
        let (number, percent) = value.strip_suffix('%').map_or((value, false), |number| (number, true));
        if metric == Metric::Slower && !(percent && matches!(operator, Operator::Above | Operator::AtLeast)) {
            return Err(GateError(format!(
                "`{text}` is not a share above which a kernel is too slow, as `slower:5%` is"
            )));
        }
        if metric == Metric::Coalescing && !percent {
            return Err(GateError(format!("`{name}` is a share: write it with %, as in `coalescing:50%`")));
        }
        if percent && !metric.has_shares() {
            return Err(GateError(format!("`{name}` is not a share: write a number without %")));
        }
        let value = limit::number(number).ok_or_else(|| GateError(format!("`{number}` is not a number")))?;
        Ok(Self { rule: Rule::Limit { metric, operator, value, percent }, text: compact })
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A limit that was not kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The limit, as given.
    pub gate: String,
    /// The kernel.
    pub kernel: String,
    /// The branch's place, if it is one's.
    pub location: Option<Location>,
    /// The problem, in a sentence.
    pub message: String,
}

impl Gate {
    /// Whether it can only be told with a baseline.
    pub fn needs_baseline(&self) -> bool {
        matches!(self.rule, Rule::Worse | Rule::Limit { metric: Metric::Slower, .. })
    }

    /// Everything in the run that does not keep the limit. A figure that was not measured does not keep it
    /// either.
    pub fn check(&self, summary: &Summary, diff: Option<&Diff>) -> Vec<Violation> {
        match self.rule {
            Rule::Worse => diff.map(|diff| self.worse(diff)).unwrap_or_default(),
            Rule::Limit { metric, operator, value, percent } => {
                let fails = |measured: f64| operator.is_beyond(measured, value);
                let mut violations = Vec::new();
                for kernel in &summary.kernels {
                    match metric {
                        Metric::Slower => {
                            violations.extend(diff.and_then(|diff| self.slower(kernel, diff, fails)))
                        }
                        Metric::Diverged | Metric::Active | Metric::Lost => {
                            violations.extend(self.uncounted(kernel));
                            // What was not reached, or is meant, keeps every limit.
                            let counted = kernel.branches.iter();
                            let counted = counted
                                .filter(|branch| branch.counts.executions > 0 && !branch.expected)
                                .map(|branch| (kernel, branch));
                            let of_shown = |shown: &Shown<'_>| self.branches(shown, metric, percent, fails);
                            violations.extend(fold(counted, false).iter().filter_map(of_shown));
                        }
                        Metric::Coalescing
                        | Metric::BankConflicts
                        | Metric::SameAddress
                        | Metric::ScratchBytes => {
                            violations.extend(self.memory(kernel, metric, percent, fails));
                        }
                        _ => violations.extend(self.kernel(kernel, metric, fails)),
                    }
                }
                violations
            }
        }
    }

    fn worse(&self, diff: &Diff) -> Vec<Violation> {
        let worse = diff.changes.iter().filter(|change| change.verdict == Verdict::Worse);
        worse
            .map(|change| Violation {
                gate: self.text.clone(),
                kernel: change.kernel.clone(),
                location: change
                    .caller
                    .clone()
                    .or_else(|| change.location.file.is_some().then(|| change.location.clone())),
                message: format!(
                    "{}{} of {}: {}, and was {}",
                    change.what,
                    change
                        .caller
                        .as_ref()
                        .map(|_| format!(" at {}", change.location.short()))
                        .unwrap_or_default(),
                    change.kernel,
                    change.after.as_deref().unwrap_or("gone"),
                    change.before.as_deref().unwrap_or("not there")
                ),
            })
            .collect()
    }

    /// Of the kernel's times that differ from the baseline's, the one that grew the most. What has no time
    /// does not keep the limit; but a kernel that the baseline does not have was never faster.
    fn slower(&self, kernel: &KernelSummary, diff: &Diff, fails: impl Fn(f64) -> bool) -> Option<Violation> {
        let violation = |what: String| Violation {
            gate: self.text.clone(),
            kernel: kernel.name.clone(),
            location: None,
            message: format!("{} on {}: {what}", kernel.name, kernel.cpu),
        };
        if kernel.time.is_none() && kernel.modelled.is_none() {
            return Some(violation("its time was neither measured nor modeled".to_owned()));
        }
        let own =
            diff.changes.iter().filter(|change| change.kernel == kernel.name && change.cpu == kernel.cpu);
        let slower = own.filter_map(|change| Some((change.slower_percent?, change)));
        let (percent, change) = slower.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
        let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
        fails(percent)
            .then(|| violation(format!("{percent:.1} % slower: {before} -> {after} {}", change.what)))
    }

    /// A kernel without any branch that was counted, though it may have some.
    fn uncounted(&self, kernel: &KernelSummary) -> Option<Violation> {
        let refused = refused::folded(&kernel.refusals);
        let why = refused.first().filter(|_| kernel.branches.is_empty())?;
        Some(Violation {
            gate: self.text.clone(),
            kernel: kernel.name.clone(),
            location: None,
            message: format!("{} on {}: its branches were not counted: {why}", kernel.name, kernel.cpu),
        })
    }

    /// A branch of the user's, or those of a dependency that one of the user's lines led to: they are told at
    /// that line.
    fn branches(
        &self,
        shown: &Shown<'_>,
        metric: Metric,
        percent: bool,
        fails: impl Fn(f64) -> bool,
    ) -> Option<Violation> {
        let (kernel, counts, lost, location, what) = match shown {
            Shown::Branch(kernel, branch) => {
                let what = format!("{} of {}", branch.title(), kernel.name);
                (kernel, branch.counts, branch.lost, branch.location.clone(), what)
            }
            Shown::Dependency(calls) => {
                let (number, package) = (count(calls.branches.len() as u64, "branch"), &calls.package);
                let what = format!("{number} of {package} in {}", calls.kernel.name);
                (&calls.kernel, calls.counts(), calls.lost(), calls.place(), what)
            }
        };
        let violation = |told: String| Violation {
            gate: self.text.clone(),
            kernel: kernel.name.clone(),
            location: Some(location.clone()),
            message: format!("{what}: {told}"),
        };
        if metric != Metric::Diverged && lost.certainty == Certainty::Unknown {
            return Some(violation("its lanes were not counted".to_owned()));
        }
        let whose = if shown.branches() == 1 { "its" } else { "their" };
        let share = 100.0 * counts.divergence();
        let (measured, told) = match metric {
            Metric::Diverged if percent => (share, format!("{share:.1} % of {whose} executions diverged")),
            Metric::Diverged => (counts.diverged as f64, format!("{} executions diverged", counts.diverged)),
            Metric::Active => {
                let active = counts.average_lanes_active();
                (active, format!("{active:.1} lanes stay active on average"))
            }
            _ => (lost.lanes as f64, lost.to_string()),
        };
        fails(measured).then(|| violation(told))
    }

    /// What a kernel's memory instructions asked for, line by line. Without figures no limit is kept.
    fn memory(
        &self,
        kernel: &KernelSummary,
        metric: Metric,
        percent: bool,
        fails: impl Fn(f64) -> bool,
    ) -> Vec<Violation> {
        let violation = |location: Option<Location>, what: String| Violation {
            gate: self.text.clone(),
            kernel: kernel.name.clone(),
            location,
            message: format!("{} on {}: {what}", kernel.name, kernel.cpu),
        };
        let Some(memory) = &kernel.memory else {
            let what = "its memory accesses were not measured (`test --memory`)";
            return vec![violation(None, what.to_owned())];
        };
        if metric == Metric::ScratchBytes {
            let bytes = memory.scratch_bytes();
            let told =
                || violation(None, format!("{} of scratch are loaded and stored", count(bytes, "byte")));
            return fails(bytes as f64).then(told).into_iter().collect();
        }
        let told = |line: &LineMemory| {
            let figures = &line.figures;
            let is_of = |place| line.access.memory == place;
            let (measured, told) = match metric {
                Metric::Coalescing if is_of(MemoryPlace::Global) => {
                    let share = figures.coalescing_percent(memory.rules.line_bytes)?;
                    let [touched, least] = figures.lines(memory.rules.line_bytes);
                    let lines = count(touched, "cache line");
                    (share, format!("{share:.1} % coalesced: it touches {lines}, and {least} would do"))
                }
                Metric::BankConflicts if is_of(MemoryPlace::Lds) => {
                    let (conflicts, share) = (figures.bank_conflicts(), figures.bank_conflict_percent()?);
                    let cycles = count(figures.bank_cycles, "cycle");
                    let told = format!("conflicts cost {conflicts} of {cycles} of the banks ({share:.1} %)");
                    (if percent { share } else { conflicts as f64 }, told)
                }
                Metric::SameAddress if line.access.access == MemoryVerb::Atomic => {
                    let lanes = count(figures.most_turns, "lane");
                    (figures.most_turns as f64, format!("{lanes} of one atomic are at one address"))
                }
                _ => return None,
            };
            let location = line.file.as_ref().map(|file| Location {
                file: Some(file.clone()),
                line: line.line,
                column: None,
            });
            fails(measured).then(|| violation(location, format!("{}: {told}", line.access.words())))
        };
        memory.lines.iter().filter_map(told).collect()
    }

    fn kernel(
        &self,
        kernel: &KernelSummary,
        metric: Metric,
        fails: impl Fn(f64) -> bool,
    ) -> Option<Violation> {
        let violation = |what: String| Violation {
            gate: self.text.clone(),
            kernel: kernel.name.clone(),
            location: None,
            message: format!("{} on {}: {what}", kernel.name, kernel.cpu),
        };
        if metric == Metric::Refused {
            let refused = kernel.refusals.len();
            return fails(refused as f64).then(|| {
                violation(format!("{refused} refused: {}", refused::folded(&kernel.refusals).join("; ")))
            });
        }
        let resources = kernel.resources.as_ref();
        let (name, measured) = match metric {
            Metric::Ticks => ("median ticks", kernel.time.map(|time| time.median as f64)),
            Metric::Cycles => (
                "modeled cycles",
                kernel.modelled.as_ref().map(|modelled| modelled.cycles_a_launch().round()),
            ),
            Metric::Sgprs => ("SGPRs", resources.map(|resources| f64::from(resources.sgprs[0]))),
            Metric::Vgprs => ("VGPRs", resources.map(|resources| f64::from(resources.vgprs[0]))),
            Metric::Lds => ("bytes of LDS", resources.map(|resources| f64::from(resources.lds[0]))),
            Metric::Scratch => {
                ("bytes of scratch", resources.map(|resources| f64::from(resources.scratch[0])))
            }
            _ => ("waves a SIMD", resources.map(|resources| f64::from(resources.occupancy[0]))),
        };
        let workgroup = resources.and_then(|resources| resources.workgroup);
        let of = match workgroup.filter(|_| metric == Metric::Occupancy) {
            Some(size) => format!(" in workgroups of {size}"),
            None => String::new(),
        };
        match measured {
            Some(measured) => fails(measured).then(|| violation(format!("{measured} {name}{of}"))),
            // A kernel without branches is not instrumented, and so has no figures here; that is no fault of
            // its.
            None if !matches!(metric, Metric::Ticks | Metric::Cycles)
                && kernel.branches.is_empty()
                && kernel.refusals.is_empty() =>
            {
                None
            }
            None => Some(violation(format!("{name}: not measured"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{Branch, MemorySummary, Resources};
    use amdinst_core::report::{
        Counts, InstructionMemory, MemoryAccess, MemoryFigures, MemoryRules, MemoryUse,
    };

    /// A limit on branches is not kept where none was counted, though the kernel may have some.
    #[test]
    fn branches_that_were_not_counted_keep_no_limit() {
        let why = "code for gfx1100 is not instrumented yet".to_owned();
        let kernel =
            KernelSummary { name: "k".to_owned(), cpu: "gfx1100".to_owned(), ..KernelSummary::default() };
        let of = |refusals: Vec<String>, gate: &str| {
            let summary =
                Summary { kernels: vec![KernelSummary { refusals, ..kernel.clone() }], ..Summary::default() };
            let violations = gate.parse::<Gate>().unwrap().check(&summary, None);
            violations.into_iter().map(|violation| violation.message).collect::<Vec<_>>()
        };
        let told = [format!("k on gfx1100: its branches were not counted: {why}")];
        for gate in ["diverged>5%", "active<8", "lost>0"] {
            assert_eq!(of(vec![why.clone()], gate), told, "{gate}");
            // One without branches has nothing to count, and of one that was not selected nothing was asked.
            assert!(of(Vec::new(), gate).is_empty(), "{gate}");
        }
    }

    /// What a dependency does is told at the user's line that called it, all of it together; what is meant
    /// there keeps each limit.
    #[test]
    fn branches_of_dependencies_are_told_at_the_line_that_called() {
        let place =
            |file: &str, line| Location { file: Some(file.to_owned()), line: Some(line), column: None };
        let of_libm = |line, diverged, expected| Branch {
            location: place("/home/me/.cargo/registry/src/index-1/libm-0.2.16/src/math/expf.rs", line),
            caller: Some(place("src/lib.rs", 31)),
            kind: "if".to_owned(),
            expected,
            counts: Counts { executions: 10, diverged, ..Counts::default() },
            ..Branch::default()
        };
        let summary = |expected| Summary {
            kernels: vec![KernelSummary {
                name: "softmax".to_owned(),
                branches: vec![of_libm(80, 9, expected), of_libm(90, 7, expected)],
                ..KernelSummary::default()
            }],
            ..Summary::default()
        };
        let gate = "diverged:50%".parse::<Gate>().unwrap();
        let [violation] = <[Violation; 1]>::try_from(gate.check(&summary(false), None)).unwrap();
        assert_eq!(violation.location, Some(place("src/lib.rs", 31)));
        let told = "2 branches of libm-0.2.16 in softmax: 80.0 % of their executions diverged";
        assert_eq!(violation.message, told);
        assert!(gate.check(&summary(true), None).is_empty());
    }

    /// By hand: a column of a tile without padding, strided loads, and atomics of all lanes at one address.
    #[test]
    fn memory_by_line() {
        let instruction = |line, memory, access, figures| InstructionMemory {
            pc: u64::from(line),
            file: Some("src/lib.rs".to_owned()),
            line: Some(line),
            access: MemoryAccess { memory, access },
            figures,
        };
        let none = MemoryFigures { executions: 1, lanes: 64, bytes: 256, ..MemoryFigures::default() };
        let strided = MemoryFigures { lines_64: 16, least_lines_64: 4, ..none };
        let column = MemoryFigures { bank_cycles: 64, least_bank_cycles: 2, ..none };
        let sum = MemoryFigures { lines_64: 1, least_lines_64: 1, turns: 64, most_turns: 64, ..none };
        let launch = MemoryUse {
            kernel: "k".to_owned(),
            rules: MemoryRules { line_bytes: 64, lds_phases_of: None },
            instructions: vec![
                instruction(3, MemoryPlace::Global, MemoryVerb::Load, strided),
                instruction(4, MemoryPlace::Lds, MemoryVerb::Load, column),
                instruction(5, MemoryPlace::Global, MemoryVerb::Atomic, sum),
                instruction(6, MemoryPlace::Scratch, MemoryVerb::Store, strided),
            ],
        };
        let kernel = KernelSummary {
            name: "k".to_owned(),
            cpu: "gfx90a".to_owned(),
            memory: MemorySummary::of([&launch]),
            ..KernelSummary::default()
        };
        let summary = Summary { kernels: vec![kernel.clone()], ..Summary::default() };
        let told = |summary: &Summary, gate: &str| {
            let violations = gate.parse::<Gate>().unwrap().check(summary, None);
            let told = |violation: Violation| (violation.location.and_then(|at| at.line), violation.message);
            violations.into_iter().map(told).collect::<Vec<_>>()
        };
        let expect = |gate: &str, line: Option<u32>, message: &str| {
            assert_eq!(told(&summary, gate), [(line, format!("k on gfx90a: {message}"))], "{gate}");
        };
        let strided = "load global: 25.0 % coalesced: it touches 16 cache lines, and 4 would do";
        expect("coalescing:50%", Some(3), strided);
        let conflicts = "load LDS: conflicts cost 62 of 64 cycles of the banks (96.9 %)";
        expect("bank-conflicts:0", Some(4), conflicts);
        expect("bank-conflicts:50%", Some(4), conflicts);
        expect("same-address:8", Some(5), "atomic global: 64 lanes of one atomic are at one address");
        expect("scratch-bytes:0", None, "256 bytes of scratch are loaded and stored");
        for gate in ["coalescing:25%", "bank-conflicts:62", "same-address:64", "scratch-bytes:256"] {
            assert_eq!(told(&summary, gate), [], "{gate}");
        }
        let unmeasured = KernelSummary { memory: None, ..kernel };
        let unmeasured = Summary { kernels: vec![unmeasured], ..Summary::default() };
        let why = "k on gfx90a: its memory accesses were not measured (`test --memory`)";
        assert_eq!(told(&unmeasured, "coalescing:50%"), [(None, why.to_owned())]);
    }

    /// The occupancy of the launch's workgroups decides, and is told.
    #[test]
    fn occupancy_is_that_of_the_workgroups_that_were_launched() {
        let resources =
            Resources { occupancy: [4, 4], workgroup: Some(256), lds: [65536; 2], ..Resources::default() };
        let kernel = KernelSummary {
            name: "philox".to_owned(),
            cpu: "gfx1100".to_owned(),
            resources: Some(resources),
            ..KernelSummary::default()
        };
        let summary = Summary { kernels: vec![kernel], ..Summary::default() };
        let violations = "occupancy:8".parse::<Gate>().unwrap().check(&summary, None);
        assert_eq!(violations[0].message, "philox on gfx1100: 4 waves a SIMD in workgroups of 256");
    }

    #[test]
    fn what_is_a_limit() {
        for text in [
            "diverged>5%",
            "diverged >= 3",
            "occupancy<8",
            "active <= 31.5",
            "worse",
            "lost>0",
            "refused>0",
            "slower > 5%",
            "cycles>1e6",
            "bank-conflicts:0",
            "bank-conflicts:10%",
            "same-address:8",
            "scratch-bytes:0",
        ] {
            assert!(text.parse::<Gate>().is_ok(), "{text}");
        }
        let rule = |text: &str| text.parse::<Gate>().unwrap().rule;
        for (limit, comparison) in [
            ("diverged:5%", "diverged>5%"),
            ("active: 31.5", "active<31.5"),
            ("occupancy:8", "occupancy<8"),
            ("slower:5%", "slower>5%"),
            ("coalescing:50%", "coalescing<50%"),
            ("bank-conflicts:10%", "bank-conflicts>10%"),
        ] {
            assert_eq!(rule(limit), rule(comparison));
        }
        for (text, why) in [
            ("", "has no limit"),
            ("diverged", "has no limit"),
            ("diverged=5", "has no limit"),
            ("speed>5", "unknown limit `speed`"),
            ("occupancy<8%", "`occupancy` is not a share"),
            ("scratch:8%", "`scratch` is not a share"),
            ("same-address:8%", "`same-address` is not a share"),
            ("coalescing:50", "`coalescing` is a share: write it with %"),
            ("slower<5%", "`slower<5%` is not a share above which"),
            ("slower>5", "`slower>5` is not a share above which"),
            ("lost>many", "`many` is not a number"),
            ("lost>inf", "`inf` is not a number"),
            ("lost>", "`` is not a number"),
        ] {
            let error = text.parse::<Gate>().unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
