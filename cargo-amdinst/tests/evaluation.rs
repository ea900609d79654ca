//! The tables and the chart of `docs/EVALUATION.md` are those of the runs that are kept beside it.
//!
//! `cargo amdinst bench seed --format json --chart docs/evaluation/seed.svg > docs/evaluation/seed.json`
//! makes a new one, and `--timing mi210 --format json > docs/evaluation/seed-mi210.json` the other; what
//! fails here then shows the tables that belong into the document.

use std::path::PathBuf;

use cargo_amdinst::commands::bench::{chart_of, table_of};

const RUNS: [&str; 2] = ["evaluation/seed.json", "evaluation/seed-mi210.json"];

fn docs(file: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn parsed(file: &str) -> serde_json::Value {
    serde_json::from_str(&docs(file)).unwrap()
}

#[test]
fn the_tables_are_those_of_the_runs() {
    let document = docs("EVALUATION.md");
    let mut rest = document.as_str();
    for run in RUNS {
        let tables = table_of(&docs(run)).unwrap();
        assert!(
            tables.lines().filter(|line| line.starts_with('|')).count() > 9 * 5,
            "nine kernels in four tables"
        );
        let (_, behind) = rest.split_once(tables.trim()).unwrap_or_else(|| {
            panic!(
                "EVALUATION.md does not have, behind the tables of runs before it, those of {run}:\n{tables}"
            )
        });
        rest = behind;
    }
}

#[test]
fn the_chart_is_that_of_the_run() {
    assert_eq!(chart_of(&docs("evaluation/seed.json")).unwrap(), docs("evaluation/seed.svg"));
}

/// What the document says of `register`, and what this project set out for.
#[test]
fn registers_cost_what_is_said() {
    for run in RUNS {
        let run = parsed(run);
        let figure = |of: &str| run[of]["register"].as_f64().unwrap();
        assert!(figure("means") <= 1.06 && figure("worst") <= 1.15, "{}", run["device"]);
    }
}

/// Slowdowns of the counters of 2022 are those of their instructions, not of waves that no longer fit.
#[test]
fn the_counters_of_2022_leave_occupancy_alone() {
    for run in RUNS {
        let run = parsed(run);
        let kernels = run["kernels"].as_array().unwrap();
        assert_eq!(kernels.len(), 9);
        for kernel in kernels {
            let waves = |form: &str| kernel[form]["waves_per_simd"].as_u64().unwrap();
            for form in ["seed_baseline", "seed_lds", "seed_global"] {
                assert_eq!(
                    waves(form),
                    waves("baseline"),
                    "{}: {} with {form}",
                    run["device"],
                    kernel["kernel"]
                );
            }
        }
    }
}
