//! The report in a form to keep beside a test: keyed by source location, free of addresses.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Counts, Outcome, Report};

impl Report {
    /// One line a source place, sorted, with the counters summed over the sites there. It contains no
    /// address, register or counter storage, so it changes only if the branches behave otherwise. Paths are
    /// cut to what follows the last `src/` or, without one, to the file's name. Ends with a newline.
    pub fn snapshot(&self) -> String {
        let mut lines = BTreeMap::<_, Counts>::new();
        for site in &self.sites {
            let location = &site.location;
            let key = (
                short(location.file.as_deref().unwrap_or("<unknown>")).to_owned(),
                location.line.unwrap_or(0),
                location.column.unwrap_or(0),
                site.kind.clone(),
                site.name.clone().unwrap_or_default(),
            );
            *lines.entry(key).or_default() += site.counts;
        }
        let mut text = format!("kernel {}, {} waves\n", self.kernel, self.waves);
        for ((file, line, column, kind, name), counts) in lines {
            let name = if name.is_empty() { String::new() } else { format!(" {name:?}") };
            let Counts { executions, all, none, diverged, lanes_in, lanes_taken } = counts;
            let _ = writeln!(
                text,
                "{file}:{line}:{column} {kind}{name}: executions {executions}, all {all}, none {none}, \
                 diverged {diverged}, lanes {lanes_taken} of {lanes_in}"
            );
        }
        for probe in &self.probes {
            if !matches!(probe.outcome, Outcome::Counted { .. }) {
                let _ = writeln!(text, "probe {:?}: {}", probe.name, probe.outcome.word());
            }
        }
        text
    }
}

/// The part of a path that is the same in every checkout.
fn short(path: &str) -> &str {
    match path.rfind("src/") {
        Some(at) => &path[at..],
        None => path.rsplit('/').next().unwrap_or(path),
    }
}
