//! The table of results.

use std::fmt::Write as _;

use super::outcome::Outcome;
use super::program::{Limits, Results};

/// A row a library, and under it each test and each program that did not end well.
pub(super) fn markdown(rows: &[(&str, Vec<Results>)], target_cpu: &str, limits: Limits) -> String {
    let (test, program) = (limits.test.as_secs(), limits.program.as_secs());
    let mut text = format!("On {target_cpu}; a test had {test} s, a program {program} s.\n\n");
    let outcomes = Outcome::ALL.map(Outcome::name).join(" | ");
    let _ =
        writeln!(text, "| library | programs | in trouble | tests | {outcomes} | not finished | minutes |");
    text += "|---|---|---|---|---|---|---|---|---|---|---|\n";
    for (name, results) in rows {
        row(&mut text, name, results.iter());
    }
    row(&mut text, "all", rows.iter().flat_map(|(_, results)| results));
    for (name, results) in rows {
        for one in results {
            let program = &one.name;
            for trouble in &one.troubles {
                let _ = writeln!(text, "\n- {name}, `{program}` {trouble}");
            }
            let is_bad = |outcome| !matches!(outcome, Outcome::Passed | Outcome::Skipped);
            for test in one.ended.values().filter(|test| is_bad(test.outcome)) {
                let (outcome, message) = (test.outcome.name(), &test.message);
                let _ = writeln!(text, "\n- {name}, `{program}`, `{}`: {outcome}: {message}", test.name);
            }
        }
    }
    text
}

fn row<'a>(text: &mut String, name: &str, results: impl Iterator<Item = &'a Results>) {
    let results: Vec<&Results> = results.collect();
    let total = |of: &dyn Fn(&Results) -> usize| results.iter().map(|one| of(one)).sum::<usize>();
    let figures = [results.len(), total(&|one| usize::from(!one.troubles.is_empty()))];
    let mut figures: Vec<String> = figures.iter().map(usize::to_string).collect();
    let (tests, left_out) = (total(&|one| one.listed.len()), total(&|one| one.left_out));
    figures.push(if left_out > 0 { format!("{tests} of {}", tests + left_out) } else { tests.to_string() });
    figures.extend(Outcome::ALL.map(|outcome| total(&|one| one.count(outcome)).to_string()));
    figures.push(total(&Results::not_finished).to_string());
    let minutes: f64 = results.iter().map(|one| one.elapsed().as_secs_f64() / 60.0).sum();
    let _ = writeln!(text, "| {name} | {} | {minutes:.0} |", figures.join(" | "));
}
