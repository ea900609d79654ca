//! A replay, for people.

use std::fmt::Write as _;

use amdinst_text::{count, shown};

use super::view::{CopyView, NotReplayedView, ReplayView, ReplayedLaunch, SummaryView};

/// Branches of a launch that are told.
const BRANCHES: usize = 3;

/// Rows with their columns one below the other.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = width(column) + 2;
            let _ = write!(line, "{cell:gap$}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Sizes in x, y and z, without ones at the end.
pub(super) fn sizes([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x},{y}"),
        _ => format!("{x},{y},{z}"),
    }
}

/// All of a replay.
pub(super) fn text(view: &ReplayView) -> String {
    let mut text = String::new();
    let shown_launches = view.launches.iter().filter(|one| one.chosen || one.fault.is_some());
    let mut rows = vec![["launch", "kernel", "grid", "block", "result"].map(str::to_owned)];
    rows.extend(shown_launches.map(launch));
    if rows.len() > 1 {
        text.push_str(&table(&rows));
        text.push('\n');
    }
    if !view.copies.is_empty() {
        let mut rows = vec![["copy", "after launch", "bytes", "beside the GPU's"].map(str::to_owned)];
        rows.extend(view.copies.iter().map(|one| copy(one, view.elements)));
        text.push_str(&table(&rows));
        text.push('\n');
    }
    for NotReplayedView { event, function, launch, kernel, why } in &view.not_replayed {
        let of = match (launch, kernel) {
            (Some(launch), Some(kernel)) => format!(" (launch {launch}, `{}`)", shown(kernel)),
            _ => String::new(),
        };
        let _ = writeln!(text, "event {event}: {function}{of}: {why}");
    }
    let SummaryView { ok, faults, equal, within, differs, not_comparable, not_replayed } = view.summary;
    let verb = if differs == 1 { "differs" } else { "differ" };
    let launches = count((ok + faults) as usize, "launch");
    let copies = match equal + within + differs + not_comparable {
        1 => "1 copy".to_owned(),
        number => format!("{number} copies"),
    };
    let _ = writeln!(text, "{launches}: {ok} ok, {faults} with a fault");
    let _ = writeln!(
        text,
        "{copies}: {equal} equal, {within} within the allowed difference, {differs} {verb}, {not_comparable} not comparable"
    );
    if not_replayed > 0 {
        let _ = writeln!(text, "{} not replayed", count(not_replayed as usize, "call"));
    }
    text
}

fn launch(one: &ReplayedLaunch) -> [String; 5] {
    let mut result = match &one.fault {
        Some(fault) => format!("fault: {}", fault.message),
        None => format!("ok, {}", count(one.waves as usize, "wave")),
    };
    if let Some(ran) = one.sampled_workgroups {
        let _ = write!(result, ", {} of it", count(ran as usize, "workgroup"));
    }
    for (what, looked) in [("missing waits", one.waits_workgroups), ("NaNs", one.nan_workgroups)] {
        if let Some(looked) = looked {
            let _ = write!(result, ", {what} looked for in {}", count(looked as usize, "workgroup"));
        }
    }
    match (one.branches, &one.not_counted) {
        (Some(branches), _) => {
            let _ =
                write!(result, "; {} of {} diverged", one.diverged.len(), count(branches as usize, "branch"));
            let places: Vec<&str> =
                one.diverged.iter().map(|branch| branch.place.as_str()).take(BRANCHES).collect();
            if !places.is_empty() {
                let _ = write!(result, " ({})", places.join(", "));
            }
        }
        (None, Some(why)) => {
            let _ = write!(result, "; not counted: {why}");
        }
        (None, None) => {}
    }
    if !one.disagreements.is_empty() {
        result.push_str("; the instrumented kernel is unlike its original");
    }
    [one.launch.to_string(), shown(&one.kernel).to_string(), sizes(one.grid), sizes(one.block), result]
}

fn copy(one: &CopyView, elements: &str) -> [String; 4] {
    let ulp = one.ulp.map_or(String::new(), |ulp| format!(", {ulp} ULP at most"));
    let result = match (one.result, &one.first, &one.why) {
        (_, Some(first), _) => {
            let by = first.written_by.as_ref().map_or(String::new(), |by| format!(", last written by {by}"));
            format!(
                "differs in {} of {} {elements}{ulp}: first at byte {}, {} on the GPU, {} here{by}",
                one.differing, one.of, first.offset, first.gpu, first.emulator
            )
        }
        (_, _, Some(why)) => format!("not comparable: {why}"),
        ("within", ..) => format!(
            "within {} ULP, {} of {} {elements} differ",
            one.ulp.unwrap_or_default(),
            one.differing,
            one.of
        ),
        (equal, ..) => equal.to_owned(),
    };
    let after = one.after_launch.map_or_else(|| "-".to_owned(), |launch| launch.to_string());
    [format!("event {}", one.event), after, one.bytes.to_string(), result]
}
