//! Lane coverage as an LCOV tracefile, for `genhtml`, Codecov and editors.
//!
//! Each source branch has three outcomes, in this order: *all* active lanes went on, *some* did and others
//! did not, *none* did. A test that covers it fully has shown all three. A line is as often covered as its
//! most frequent branch ran, or, if blocks were measured, the most frequent block that has an instruction of
//! it. Branches without counts (uniform, if-converted, refused, left out) are not in it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use amdinst_core::report::Counts;

use crate::summary::Summary;

/// A source file's lines and branches.
#[derive(Default)]
struct File<'a> {
    /// Executions by line.
    lines: BTreeMap<u32, u64>,
    /// By line, column, kind and probe: what one source branch did in all kernels and on all processors.
    branches: BTreeMap<(u32, u32, &'a str, Option<&'a str>), Counts>,
}

/// The tracefile. Files are named as in the summary, from the workspace's directory; those for which `own` is
/// false are left out (Rust's own library).
pub fn render(summary: &Summary, own: impl Fn(&str) -> bool) -> String {
    let mut files = BTreeMap::<&str, File<'_>>::new();
    for kernel in &summary.kernels {
        for line in &kernel.lines {
            let known = files.entry(&line.file).or_default().lines.entry(line.line).or_default();
            *known = (*known).saturating_add(line.executions);
        }
        for branch in &kernel.branches {
            let location = &branch.location;
            let (Some(name), Some(line)) = (&location.file, location.line) else { continue };
            let key = (line, location.column.unwrap_or(0), branch.kind.as_str(), branch.probe.as_deref());
            *files.entry(name).or_default().branches.entry(key).or_default() += branch.counts;
        }
    }
    // What was never launched did not run; lines of functions that it shares with others may have.
    for of_file in summary.unlaunched.iter().flat_map(|kernel| &kernel.lines) {
        let file = files.entry(&of_file.file).or_default();
        for &line in &of_file.lines {
            file.lines.entry(line).or_default();
        }
    }
    let mut text = String::new();
    for (name, file) in files.iter().filter(|(name, _)| own(name)) {
        // A test's name is letters, digits and underscores.
        let test = summary.package.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let _ = writeln!(text, "TN:{test}\nSF:{name}");
        file.write(&mut text);
        text.push_str("end_of_record\n");
    }
    text
}

impl File<'_> {
    fn write(&self, text: &mut String) {
        let mut lines = self.lines.clone();
        let mut block = BTreeMap::<u32, u32>::new();
        let (mut found, mut hit) = (0, 0);
        for (&(line, ..), counts) in &self.branches {
            let number = block.entry(line).or_default();
            for (branch, taken) in [counts.all, counts.diverged, counts.none].into_iter().enumerate() {
                found += 1;
                hit += u32::from(taken > 0);
                // `-` is for a branch that was never come to, 0 for one that was never taken.
                let taken = if counts.executions == 0 { "-".to_owned() } else { taken.to_string() };
                let _ = writeln!(text, "BRDA:{line},{number},{branch},{taken}");
            }
            *number += 1;
            let known = lines.entry(line).or_default();
            *known = (*known).max(counts.executions);
        }
        let _ = writeln!(text, "BRF:{found}\nBRH:{hit}");
        for (line, executions) in &lines {
            let _ = writeln!(text, "DA:{line},{executions}");
        }
        let hit = lines.values().filter(|executions| **executions > 0).count();
        let _ = writeln!(text, "LF:{}\nLH:{hit}", lines.len());
    }
}
