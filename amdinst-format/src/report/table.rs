//! The report as a table for people: what costs most first, branches of dependencies folded.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::columns::{self, Column, Fit, Layout, Line};
use super::refused;
use super::{Certainty, Counts, Location, Lost, Outcome, Report, SiteReport};
use crate::counters::{Lanes, Probe};
use crate::names;

const COLUMNS: [Column; 8] = [
    Column { head: "source", right: false, fit: Fit::Path },
    Column { head: "branch", right: false, fit: Fit::Cut },
    Column { head: "executions", right: true, fit: Fit::Keep },
    Column { head: "diverged", right: true, fit: Fit::Drop(1) },
    Column { head: "share", right: true, fit: Fit::Keep },
    Column { head: "lanes active", right: true, fit: Fit::Drop(2) },
    Column { head: "lanes lost", right: true, fit: Fit::Keep },
    Column { head: "sites", right: true, fit: Fit::Drop(0) },
];

/// What some sites did together.
#[derive(Clone, Debug, Default)]
struct Sum {
    counts: Counts,
    lost: Lost,
    sites: usize,
    /// Its place is near it.
    near: bool,
    /// Places, kinds and probes.
    branches: BTreeSet<(Location, String, String)>,
}

impl Sum {
    fn add(&mut self, lanes: Lanes, site: &SiteReport) {
        self.counts += site.counts;
        let waves = site.waves.iter().map(|wave| Lost::of_wave(lanes, &site.kind, &wave.counts));
        let others = site.left_out.map(|others| others.lost);
        self.lost = Lost::sum([self.lost, Lost::sum(waves.chain(others))]);
        self.sites += 1;
        self.near |= site.near;
        let name = site.name.clone().unwrap_or_default();
        self.branches.insert((site.location.clone(), site.kind.clone(), name));
    }

    /// The cells from `executions` on.
    fn figures(&self) -> [String; 6] {
        let counts = &self.counts;
        // At level `basic` nobody counted them.
        let (active, lost) = if counts.lanes_in == 0 {
            ("-".to_owned(), "-".to_owned())
        } else {
            let lanes_in = super::ratio(counts.lanes_in, counts.executions);
            (format!("{:.1} of {lanes_in:.1}", counts.average_lanes_active()), lost_text(&self.lost))
        };
        [
            counts.executions.to_string(),
            counts.diverged.to_string(),
            format!("{:.1} %", 100.0 * counts.divergence()),
            active,
            lost,
            self.sites.to_string(),
        ]
    }

    /// What it cost, to sort by: the most first.
    const fn cost(&self) -> (u64, u64) {
        (u64::MAX - self.lost.lanes, u64::MAX - self.counts.diverged)
    }
}

/// `28`, `≤ 28`, `≈ 28`.
fn lost_text(lost: &Lost) -> String {
    let sign = match lost.certainty {
        Certainty::Exact => "",
        Certainty::AtMost => "≤ ",
        Certainty::About => "≈ ",
        Certainty::Unknown => return "-".to_owned(),
    };
    format!("{sign}{}", lost.lanes)
}

/// A branch: what it is, with its probe and whether its divergence is meant.
fn branch_text(kind: &str, name: &str, location: &Location, expected: bool) -> String {
    let mut text = if kind == "loop-exit" { "loop" } else { kind }.to_owned();
    // A probe without a name is called by its place, which stands beside it.
    let is_place = location
        .file
        .as_deref()
        .is_some_and(|file| name.split_once(':').is_some_and(|(named, _)| file.ends_with(named)));
    if !name.is_empty() && !is_place {
        let _ = write!(text, " {name}");
    }
    if expected {
        text.push_str(" (expected)");
    }
    text
}

/// The sites of a dependency's functions, and which of the user's lines led there: none for functions that
/// were not inlined.
#[derive(Debug, Default)]
struct Dependency {
    sum: Sum,
    callers: BTreeMap<Option<Location>, Sum>,
}

impl Report {
    /// [`Report::table_in`] of a layout that holds wherever the text goes: 120 columns, dependencies folded.
    pub fn table(&self) -> String {
        self.table_in(&Layout::default())
    }

    /// The report by source line: branch, executions, how many of them diverged, the lanes that stayed
    /// active, and those that were lost; those that lost the most first.
    ///
    /// Sites at the same place, of the same kind and probe, are one line. Branches of a dependency are one
    /// line together, unless the layout shows all. If several of the user's lines called it, each has a line
    /// below. Ends with a newline.
    pub fn table_in(&self, layout: &Layout) -> String {
        let rows = self.rows(layout.all);
        let mut text = String::new();
        if let Some(time) = &self.time {
            text.push_str(&time.table());
        } else if self.probe == Probe::Blocks && !self.blocks.is_empty() {
            text.push_str(&super::blocks::table(&self.blocks, layout));
        } else if rows.is_empty() {
            let why = match (self.not_selected, self.refusals.is_empty(), self.sites_not_selected.is_empty())
            {
                (true, ..) => "not selected: `--kernel` chose other kernels",
                (_, true, true) => "no branch that can diverge",
                (_, true, false) => "no selected branch",
                (_, false, _) => "nothing was instrumented",
            };
            let _ = writeln!(text, "  {why}");
        } else {
            text.push_str(&columns::table(&COLUMNS, &rows, layout));
        }
        if !self.sites_not_selected.is_empty() {
            let _ = writeln!(text, "  not selected: {}", self.sites_not_selected.len());
        }
        let folded = (!layout.all).then(|| refused::folded(&self.refusals));
        for refusal in folded.as_ref().unwrap_or(&self.refusals) {
            let _ = writeln!(text, "  not instrumented: {refusal}");
        }
        for wave in &self.unfinished {
            let _ = writeln!(text, "  never ended: {wave}");
        }
        text
    }

    /// The user's branches and the dependencies, what costs most first; then probes without counts.
    fn rows(&self, all: bool) -> Vec<Line> {
        let mut own = BTreeMap::<(&Location, &str, &str, bool), Sum>::new();
        let mut dependencies = BTreeMap::<String, Dependency>::new();
        for site in &self.sites {
            match site.location.origin().package().filter(|_| !all) {
                None => {
                    let name = site.name.as_deref().unwrap_or_default();
                    own.entry((&site.location, &site.kind, name, site.expected))
                        .or_default()
                        .add(self.lanes, site);
                }
                Some(package) => {
                    let known = dependencies.entry(package.to_owned()).or_default();
                    known.sum.add(self.lanes, site);
                    known.callers.entry(site.caller.clone()).or_default().add(self.lanes, site);
                }
            }
        }
        let place = |location: &Location| if all { location.to_string() } else { location.short() };
        let line = |source: String, branch: String, sum: &Sum| Line {
            cells: [source, branch].into_iter().chain(sum.figures()).collect(),
            rest: String::new(),
        };
        let mut groups = Vec::new();
        for ((location, kind, name, expected), sum) in &own {
            let branch = branch_text(kind, name, location, *expected);
            let near = if sum.near { "near " } else { "" };
            groups.push((sum.cost(), vec![line(format!("{near}{}", place(location)), branch, sum)]));
        }
        let branches = |sum: &Sum| counted(&sum.branches.len().to_string(), "branch");
        for (package, Dependency { sum, callers }) in &dependencies {
            let mut callers: Vec<_> = callers.iter().collect();
            // Stable: callers are in order.
            callers.sort_by_key(|(_, sum)| sum.cost());
            let in_package = format!("{} in {package}", sum.branches.len());
            let mut lines = match &callers[..] {
                // A row of its own, as of the line.
                [(Some(caller), _)] => {
                    groups.push((sum.cost(), vec![line(place(caller), in_package, sum)]));
                    continue;
                }
                [_] => {
                    groups.push((sum.cost(), vec![line(package.clone(), branches(sum), sum)]));
                    continue;
                }
                _ => vec![line(package.clone(), branches(sum), sum)],
            };
            lines.extend(callers.into_iter().map(|(caller, sum)| {
                let source = match caller {
                    Some(caller) => format!("  from {}", place(caller)),
                    None => "  not inlined".to_owned(),
                };
                line(source, branches(sum), sum)
            }));
            groups.push((sum.cost(), lines));
        }
        // Stable: places are in order, the user's before the dependencies.
        groups.sort_by_key(|(cost, _)| *cost);
        let mut rows: Vec<Line> = groups.into_iter().flat_map(|(_, lines)| lines).collect();
        let mut without: Vec<_> =
            self.probes.iter().filter(|probe| !matches!(probe.outcome, Outcome::Counted { .. })).collect();
        without.sort_by(|a, b| (&a.location, &a.name).cmp(&(&b.location, &b.name)));
        rows.extend(without.into_iter().map(|probe| Line {
            cells: vec![place(&probe.location), probe.name.clone()],
            rest: probe.outcome.word().to_owned(),
        }));
        rows
    }

    /// How many waves there were, and their lanes where these are not the usual number.
    fn wave_text(&self) -> String {
        let waves = counted(&self.waves.to_string(), "wave");
        if self.lanes.is_default() { waves } else { format!("{waves} of {} lanes", self.lanes.get()) }
    }

    /// Names the launch in one line, without a newline: kernel, target, waves and where counters lived.
    pub fn heading(&self) -> String {
        let [gx, gy, gz] = self.grid;
        let [bx, by, bz] = self.block;
        let size = |x: u32, y: u32, z: u32| match (y, z) {
            (1, 1) => x.to_string(),
            (_, 1) => format!("{x}×{y}"),
            _ => format!("{x}×{y}×{z}"),
        };
        let what = if self.probe == Probe::Time { "times" } else { "counters" };
        format!(
            "{} on {}: {} of {}, {}, {what} in {}",
            self.demangled.as_deref().map_or_else(|| self.kernel.clone(), names::shorten),
            self.target,
            counted(&size(gx, gy, gz), "workgroup"),
            counted(&size(bx, by, bz), "work-item"),
            self.wave_text(),
            match self.counter_storage.as_str() {
                "register" => "registers",
                "lds" => "LDS",
                "global" => "memory",
                other => other,
            }
        )
    }
}

/// `1 wave`, `2 waves`, `1 branch`, `2 branches`.
fn counted(count: &str, noun: &str) -> String {
    let plural = match noun {
        _ if count == "1" => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{count} {noun}{plural}")
}
