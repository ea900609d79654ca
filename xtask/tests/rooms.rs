//! `DESIGN.md` is true and short: its table of rooms is what the manifests say, and the modules that it links to exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The packages of the workspace that each package of it uses, development and build dependencies aside.
fn by_manifests(root: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = Command::new(env!("CARGO"));
    let output = cargo
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("its JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let members: BTreeSet<String> = packages.iter().map(name).collect();
    let uses = |package: &Value| {
        let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
        let used = dependencies.filter(|dependency| dependency["kind"].is_null()).map(name);
        used.filter(|name| members.contains(name)).collect()
    };
    packages.iter().map(|package| (name(package), uses(package))).collect()
}

/// The names in backquotes of a table's cell.
fn names(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The text of `DESIGN.md`.
fn design(root: &Path) -> String {
    std::fs::read_to_string(root.join("DESIGN.md")).expect("DESIGN.md")
}

#[test]
fn links_lead_to_files_and_the_page_stays_a_map() {
    /// More than this is no map: contracts stand at the head of the modules that they are about.
    const MOST_BYTES: usize = 10_000;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let design = design(root);
    let links: Vec<&str> =
        design.split("](").skip(1).map(|rest| rest.split_once(')').expect("a link's end").0).collect();
    assert!(!links.is_empty());
    for link in links {
        assert!(root.join(link).is_file(), "DESIGN.md links to {link}, which is no file");
    }
    assert!(design.len() <= MOST_BYTES, "DESIGN.md has {} bytes", design.len());
}

#[test]
fn the_table_of_rooms_is_what_the_manifests_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
    let design = design(root);
    let table = design.split("\n## ").find(|section| section.starts_with("Rooms\n")).expect("its section");
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let told: BTreeMap<_, _> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let [room, _, uses] = cells[..] else { panic!("three cells: {row}") };
            (names(room).pop_first().expect("a crate"), names(uses))
        })
        .collect();
    let mut real = by_manifests(root);
    // Packages that other rows tell of, and that use what those use.
    for (package, like) in [("rodinia", "test-kernels"), ("matvec", "test-kernels")] {
        assert_eq!(real.remove(package).as_ref(), Some(&real[like]), "{package}");
    }
    assert_eq!(real.remove("plain"), Some(BTreeSet::new()));
    assert_eq!(told, real);
}
