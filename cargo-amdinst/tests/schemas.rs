//! The JSON of commands, and of files that others read, is what `schemas/` says: every property that there
//! is, and no other.

#[path = "support/schema.rs"]
mod schema;

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/branches.elf");

/// What a command prints.
fn printed(words: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-amdinst")).args(words).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {output:?}"))
}

fn is_as_said(name: &str, document: &Value) {
    let errors = schema::errors(name, document);
    assert!(errors.is_empty(), "{name}: {errors:#?}");
}

#[test]
fn inspect() {
    is_as_said("inspect.v1.json", &printed(&["inspect", FIXTURE, "--format", "json"]));
}

#[test]
fn resources_and_their_comparison() {
    let words = ["inspect", FIXTURE, "--resources", "--format", "json"];
    let mut table = printed(&words);
    is_as_said("resources.v1.json", &table);
    // With each kind of change, and a figure that is not known.
    table["kernels"][0]["vgprs"] = 1.into();
    table["kernels"][0]["spills"] = Value::Null;
    table["kernels"][1]["name"] = "gone".into();
    is_as_said("resources.v1.json", &table);
    let directory = tempfile::tempdir().unwrap();
    let baseline = directory.path().join("before.json");
    fs::write(&baseline, table.to_string()).unwrap();
    let diff = printed(&[&words[..], &["--baseline", baseline.to_str().unwrap()]].concat());
    assert_eq!(diff["changes"].as_array().unwrap().len(), 3, "{diff}");
    is_as_said("resources-diff.v1.json", &diff);
}

#[test]
fn isa() {
    is_as_said("isa.v1.json", &printed(&["isa", "--target-cpu", "gfx1100", "--format", "json"]));
    is_as_said("isa.v1.json", &printed(&["isa", "--format", "json"]));
}

#[test]
fn instrument_and_the_probe_map() {
    let directory = tempfile::tempdir().unwrap();
    let output = directory.path().join("out.elf");
    // Times are never kept in LDS.
    let stored =
        ["branches", "blocks", "time"].map(|what| ["register", "lds", "global"].map(|place| (what, place)));
    for (what, storage) in stored.into_iter().flatten().filter(|form| *form != ("time", "lds")) {
        let written = output.to_str().unwrap();
        let words = [
            "instrument",
            FIXTURE,
            "-o",
            written,
            "--measure",
            what,
            "--counters",
            storage,
            "--format",
            "json",
        ];
        is_as_said("instrument.v1.json", &printed(&words));
        let map = fs::read(directory.path().join("out.probes.json")).unwrap();
        is_as_said("probes.v3.json", &serde_json::from_slice(&map).unwrap());
    }
    let plan = ["instrument", FIXTURE, "--plan", "--line", "branches.cl:16", "--format", "json"];
    is_as_said("instrument.v1.json", &printed(&plan));
}

/// The evaluation that this repository keeps.
#[test]
fn bench_seed() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/evaluation/seed.json");
    is_as_said("seed.v2.json", &serde_json::from_slice(&fs::read(kept).unwrap()).unwrap());
}

/// A schema that says nothing finds nothing.
#[test]
fn what_is_not_said_is_found() {
    let mut document = printed(&["inspect", FIXTURE, "--format", "json"]);
    document["code_objects"][0]["kernels"][0]["more"] = Value::Bool(true);
    document["code_objects"][0]["kernels"][1].as_object_mut().unwrap().remove("sgprs");
    document["code_objects"][0]["size"] = Value::Null;
    assert_eq!(schema::errors("inspect.v1.json", &document).len(), 3);
}
