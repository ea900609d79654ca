//! The table of results.

use std::fmt::Write as _;

use super::program::Results;

/// A row a library, and under it each test that did not end well.
pub(super) fn markdown(rows: &[(&str, Vec<Results>)], target_cpu: &str, seconds: u32) -> String {
    let mut text = format!("On {target_cpu}; a program had {seconds} s.\n\n");
    text += "| library | programs | tests | passed | failed | skipped | cut off | not reached | minutes |\n";
    text += "|---|---|---|---|---|---|---|---|---|\n";
    let mut sum = [0; 7];
    for (name, results) in rows {
        let total = |of: &dyn Fn(&Results) -> usize| results.iter().map(of).sum::<usize>();
        let figures = [
            results.len(),
            total(&|one| one.tests),
            total(&|one| one.passed),
            total(&|one| one.failed.len()),
            total(&|one| one.skipped),
            total(&|one| usize::from(one.broken.is_some())),
            total(&|one| one.not_reached()),
        ];
        for (sum, figure) in sum.iter_mut().zip(figures) {
            *sum += figure;
        }
        row(&mut text, name, figures, minutes(results));
    }
    row(&mut text, "all", sum, rows.iter().map(|(_, results)| minutes(results)).sum());
    for (name, results) in rows {
        for one in results {
            for test in &one.failed {
                let _ = writeln!(text, "\n- {name}, `{}`: `{test}` failed", one.name);
            }
            if let Some((test, why)) = &one.broken {
                let _ = writeln!(text, "\n- {name}, `{}`: in `{test}` {why}", one.name);
            }
        }
    }
    text
}

fn minutes(results: &[Results]) -> f64 {
    results.iter().map(|one| one.elapsed.as_secs_f64() / 60.0).sum()
}

fn row(text: &mut String, name: &str, figures: [usize; 7], minutes: f64) {
    let figures: Vec<String> = figures.iter().map(usize::to_string).collect();
    let _ = writeln!(text, "| {name} | {} | {minutes:.0} |", figures.join(" | "));
}
