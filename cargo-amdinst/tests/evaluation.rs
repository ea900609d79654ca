//! The tables and the chart of `docs/EVALUATION.md` are those of the run that is kept beside it.
//!
//! `cargo amdinst bench seed --format json --chart docs/evaluation/seed.svg > docs/evaluation/seed.json` makes a new one;
//! what fails here then shows the tables that belong into the document.

use std::path::PathBuf;

use cargo_amdinst::commands::bench::{chart_of, table_of};

fn docs(file: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_tables_are_those_of_the_run() {
    let tables = table_of(&docs("evaluation/seed.json")).unwrap();
    let lines = tables.lines().filter(|line| line.starts_with('|'));
    assert!(lines.clone().count() > 9 * 3, "nine kernels in two tables");
    let document = docs("EVALUATION.md");
    for line in lines {
        assert!(document.lines().any(|other| other == line), "EVALUATION.md lacks a line of\n{tables}");
    }
}

#[test]
fn the_chart_is_that_of_the_run() {
    assert_eq!(chart_of(&docs("evaluation/seed.json")).unwrap(), docs("evaluation/seed.svg"));
}

/// Slowdowns of the counters of 2022 are those of their instructions, not of waves that no longer fit.
#[test]
fn the_counters_of_2022_leave_occupancy_alone() {
    let run: serde_json::Value = serde_json::from_str(&docs("evaluation/seed.json")).unwrap();
    let kernels = run["kernels"].as_array().unwrap();
    assert_eq!(kernels.len(), 9);
    for kernel in kernels {
        let waves = |form: &str| kernel[form]["waves_per_simd"].as_u64().unwrap();
        for form in ["seed_lds", "seed_global"] {
            assert_eq!(waves(form), waves("baseline"), "{} with {form}", kernel["kernel"]);
        }
    }
}
