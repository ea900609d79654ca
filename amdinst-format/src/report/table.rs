//! The report as a table for people.

use std::fmt::Write as _;

use super::{Counts, Location, Outcome, Report};
use crate::counters::Probe;
use crate::names;

/// One line: a source place, or a probe without counts.
struct Row {
    location: Location,
    kind: String,
    name: String,
    counts: Result<Counts, &'static str>,
    machine_sites: usize,
}

impl Report {
    /// The report by source line: kind, probe, executions, how many of them diverged, and the lanes that stayed active.
    ///
    /// Sites at the same place, of the same kind and probe, are one line. Ends with a newline.
    pub fn table(&self) -> String {
        let rows = self.rows();
        let mut text = String::new();
        if let Some(time) = &self.time {
            text.push_str(&time.table());
        } else if self.probe == Probe::Blocks && !self.blocks.is_empty() {
            text.push_str(&super::blocks::table(&self.blocks));
        } else if rows.is_empty() {
            let why = match (self.refusals.is_empty(), self.left_out.is_empty()) {
                (true, true) => "no branch that can diverge",
                (true, false) => "no branch that was asked for",
                (false, _) => "nothing was instrumented",
            };
            let _ = writeln!(text, "  {why}");
        } else {
            let width = |text: &dyn Fn(&Row) -> usize, least: usize| {
                rows.iter().map(text).max().unwrap_or(0).max(least)
            };
            let place = width(&|row| row.location.to_string().len(), 6);
            let kind = width(&|row| row.kind.len(), 4);
            let name = width(&|row| row.name.len(), 5);
            let _ = writeln!(
                text,
                "  {:<place$}  {:<kind$}  {:<name$}  {:>10}  {:>9}  {:>7}  {:>12}  sites",
                "source", "kind", "probe", "executions", "diverged", "share", "lanes kept"
            );
            for row in &rows {
                let _ = write!(
                    text,
                    "  {:<place$}  {:<kind$}  {:<name$}  ",
                    row.location.to_string(),
                    row.kind,
                    row.name
                );
                match &row.counts {
                    Ok(counts) => {
                        // At level `basic` nobody counted them.
                        let lanes = if counts.lanes_in == 0 {
                            "-".to_owned()
                        } else {
                            let lanes_in = super::ratio(counts.lanes_in, counts.executions);
                            format!("{:.1} of {lanes_in:.1}", counts.average_active())
                        };
                        let share = format!("{:.1} %", 100.0 * counts.divergence());
                        let _ = writeln!(
                            text,
                            "{:>10}  {:>9}  {share:>7}  {lanes:>12}  {:>5}",
                            counts.executions, counts.diverged, row.machine_sites
                        );
                    }
                    Err(word) => {
                        let _ = writeln!(text, "{word}");
                    }
                }
            }
        }
        if !self.left_out.is_empty() {
            let _ = writeln!(text, "  left out, as asked: {}", self.left_out.len());
        }
        for refusal in &self.refusals {
            let _ = writeln!(text, "  not instrumented: {refusal}");
        }
        for wave in &self.unfinished {
            let _ = writeln!(text, "  never ended: {wave}");
        }
        text
    }

    /// Rows in order of source place.
    fn rows(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for site in &self.sites {
            let name = site.name.clone().unwrap_or_default();
            let same =
                |row: &&mut Row| row.location == site.location && row.kind == site.kind && row.name == name;
            if let Some(Row { counts: Ok(counts), machine_sites, .. }) = rows.iter_mut().find(same) {
                *counts += site.counts;
                *machine_sites += 1;
                continue;
            }
            rows.push(Row {
                location: site.location.clone(),
                kind: site.kind.clone(),
                name,
                counts: Ok(site.counts),
                machine_sites: 1,
            });
        }
        for probe in &self.probes {
            if !matches!(probe.outcome, Outcome::Counted { .. }) {
                rows.push(Row {
                    location: probe.location.clone(),
                    kind: "-".to_owned(),
                    name: probe.name.clone(),
                    counts: Err(probe.outcome.word()),
                    machine_sites: 0,
                });
            }
        }
        rows.sort_by(|a, b| (&a.location, &a.kind, &a.name).cmp(&(&b.location, &b.kind, &b.name)));
        rows
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
            counted(&self.waves.to_string(), "wave"),
            match self.home.as_str() {
                "register" => "registers",
                "lds" => "LDS",
                "global" => "memory",
                other => other,
            }
        )
    }
}

/// `1 wave`, `2 waves`.
fn counted(count: &str, noun: &str) -> String {
    format!("{count} {noun}{}", if count == "1" { "" } else { "s" })
}
