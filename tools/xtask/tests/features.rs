//! What `cargo xtask` and `cargo amdinst` build is what the tests build: cargo turns on the features that the
//! dependencies of tests ask for only where tests are built, and a package with other features is built once
//! more, with all that depends on it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The features of each package and version, in the dependencies of one kind of build.
fn features(edges: &str) -> BTreeMap<String, BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args([
            "tree",
            "--workspace",
            "--exclude",
            "test-kernels",
            "--exclude",
            "features",
            "--exclude",
            "matvec",
        ])
        // The bindings' generator is built once, by itself.
        .args([
            "--exclude",
            "rodinia",
            "--exclude",
            "panics",
            "--exclude",
            "portability",
            "--exclude",
            "bindings",
            "--edges",
            edges,
            "--prefix",
            "none",
            "--format",
            "{p}|{f}",
        ])
        .current_dir(root)
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut all = BTreeMap::<String, BTreeSet<String>>::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let (package, features) = line.trim_end_matches(" (*)").split_once('|').unwrap_or((line, ""));
        // A package has features once for the host, where build scripts run, and once for what is built.
        all.entry(package.to_owned()).or_default().insert(features.to_owned());
    }
    all
}

#[test]
fn tests_turn_on_no_feature_that_programs_lack() {
    let (programs, tests) = (features("normal,build"), features("normal,build,dev"));
    assert!(programs.len() > 50, "{programs:#?}");
    let other: Vec<_> = programs
        .iter()
        .filter(|(package, features)| !features.is_subset(&tests[*package]))
        .map(|(package, features)| format!("{package}: {features:?}, with tests {:?}", tests[package]))
        .collect();
    assert!(other.is_empty(), "turn these features on in tools/xtask/Cargo.toml:\n{}", other.join("\n"));
}
