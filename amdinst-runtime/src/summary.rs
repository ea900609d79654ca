//! The launches of a test program, as a terminal shows them.

use std::collections::BTreeSet;

use amdinst_core::report::{Layout, Report};

/// One table for each kernel, over all its launches, in order of the kernels' names.
pub(crate) fn summary(reports: Vec<Report>, layout: &Layout) -> String {
    let mut kernels: Vec<(usize, Report)> = Vec::new();
    for report in reports {
        match kernels.iter_mut().find(|(_, known)| known.kernel == report.kernel) {
            Some((launches, known)) => {
                *launches += 1;
                known.add_launch(&report);
            }
            None => kernels.push((1, report)),
        }
    }
    kernels.sort_by(|(_, a), (_, b)| a.kernel.cmp(&b.kernel));
    let mut text = String::new();
    // A reason that holds for all kernels of a processor is told once.
    let mut reasons = BTreeSet::new();
    for (launches, report) in kernels {
        let plural = if launches == 1 { "" } else { "es" };
        let home = match report.counter_storage.as_str() {
            "none" => String::new(),
            home => format!(", counters: {home}"),
        };
        let table = match report.not_instrumented.clone() {
            None => format!("{}\n", report.table_in(layout)),
            Some(reason) => {
                reasons.insert(reason);
                String::new()
            }
        };
        text.push_str(&format!(
            "{} on {}: {launches} launch{plural}, {} wave{}{home}\n{table}",
            report.kernel,
            report.target,
            report.waves,
            if report.waves == 1 { "" } else { "s" },
        ));
    }
    for reason in reasons {
        text.push_str(&format!("  no counters: {reason}\n\n"));
    }
    text
}
