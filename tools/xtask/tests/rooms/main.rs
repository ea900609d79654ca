//! `DESIGN.md` is true and short: its tables of rooms are what manifests and sources say, and the modules
//! that it links to exist.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use imports::Module;
use serde_json::Value;

/// The packages of the workspace that each package of it uses, by dependencies of a kind: `dev` or `build`;
/// none for all others.
fn by_manifests(root: &Path, kind: Option<&str>) -> BTreeMap<String, BTreeSet<String>> {
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
        let used = dependencies.filter(|dependency| dependency["kind"].as_str() == kind).map(name);
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let design = design(root);
    let links: Vec<&str> =
        design.split("](").skip(1).map(|rest| rest.split_once(')').expect("a link's end").0).collect();
    assert!(!links.is_empty());
    for link in links {
        assert!(root.join(link).is_file(), "DESIGN.md links to {link}, which is no file");
    }
    assert!(design.len() <= MOST_BYTES, "DESIGN.md has {} bytes", design.len());
}

/// The rows of the table in a section of the page: what the first cell and the last name.
fn table(design: &str, section: &str) -> Vec<[BTreeSet<String>; 2]> {
    let has_title = |part: &&str| part.lines().next() == Some(section);
    let part = design.split("\n## ").find(has_title).expect("its section");
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    let rows: Vec<_> = rows
        .map(|row| {
            let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
            let [rooms, _, uses] = cells[..] else { panic!("three cells: {row}") };
            [names(rooms), names(uses)]
        })
        .collect();
    assert!(!rows.is_empty(), "no table in {section}");
    rows
}

#[test]
fn the_table_of_rooms_is_what_the_manifests_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let rows = table(&design(root), "Rooms").into_iter();
    let mut real = by_manifests(root, None);
    let whole = |short: &String| {
        let of_it = |name: &&String| {
            [format!("amdinst-{short}"), format!("amdgpu-{short}"), short.clone()].contains(name)
        };
        real.keys().find(of_it).unwrap_or_else(|| panic!("no crate is called {short}")).clone()
    };
    let told: BTreeMap<_, BTreeSet<_>> = rows
        .map(|[mut room, uses]| (room.pop_first().expect("a crate"), uses.iter().map(whole).collect()))
        .collect();
    // Packages that other rows tell of, and that use what those use.
    for package in ["features", "matvec", "panics", "portability", "rodinia"] {
        assert_eq!(real.remove(package).as_ref(), Some(&real["test-kernels"]), "{package}");
    }
    assert_eq!(real.remove("plain"), Some(BTreeSet::new()));
    assert_eq!(told, real);
}

/// Packages with a package above them that their tests use. None may come in; those that are out come off the
/// list.
const TESTED_FROM_BELOW: [(&str, &str); 3] = [
    ("amdinst-hsakmt", "amdinst-runtime"),
    ("amdinst-macros", "amdinst-device"),
    ("amdinst-macros", "amdinst-harness"),
];

#[test]
fn tests_use_no_package_above_their_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let uses = by_manifests(root, None);
    let is_below = |package: &String, other: &String| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![other]);
        while let Some(at) = open.pop() {
            open.extend(uses[at].iter().filter(|used| seen.insert(*used)));
        }
        seen.contains(package)
    };
    let by_tests = by_manifests(root, Some("dev"));
    let pairs = by_tests.iter().flat_map(|(package, used)| used.iter().map(move |other| (package, other)));
    let found: Vec<_> = pairs
        .filter(|(package, other)| is_below(package, other))
        .map(|(package, other)| (package.as_str(), other.as_str()))
        .collect();
    assert_eq!(found, TESTED_FROM_BELOW);
}

/// The sources of the instrumenter's crate, and what they import.
fn instrumenter() -> BTreeMap<Module, BTreeSet<Module>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    imports::of_crate(&root.join("amdinst-core/src"))
}

#[test]
fn rooms_of_the_instrumenter_use_those_above_them_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let rows = table(&design(root), "Rooms of the instrumenter");
    let files = instrumenter();
    let in_instrumenter = |module: &Module| match &module[..] {
        [first, room, ..] if first == "instrument" => Some(room.clone()),
        _ => None,
    };
    let rooms: BTreeSet<String> = files.keys().filter_map(in_instrumenter).collect();
    let told: BTreeSet<String> = rows.iter().flat_map(|[rooms, _]| rooms.clone()).collect();
    assert_eq!(told, rooms, "each file and folder is in a row");
    let [[common, none], rest @ ..] = &rows[..] else { panic!("rows") };
    assert!(none.is_empty());
    let mut above = BTreeSet::new();
    for [own, uses] in std::iter::once(&[common.clone(), BTreeSet::new()]).chain(rest) {
        assert!(uses.is_subset(&above), "{own:?} uses what stands above it");
        let mut found = BTreeSet::new();
        for (file, paths) in
            files.iter().filter(|(file, _)| in_instrumenter(file).is_some_and(|room| own.contains(&room)))
        {
            for room in paths.iter().filter_map(in_instrumenter) {
                assert!(rooms.contains(&room), "{file:?} imports {room} by way of instrument/mod.rs");
                found.insert(room);
            }
        }
        let found: BTreeSet<String> =
            found.into_iter().filter(|room| !own.contains(room) && !common.contains(room)).collect();
        assert_eq!(*uses, found, "what {own:?} uses");
        above.extend(own.iter().cloned());
    }
}

/// A folder's `mod.rs` may name what is in the folder.
#[test]
fn files_of_the_instrumenter_import_one_another_in_no_circle() {
    let files = instrumenter();
    let of_file = |(file, paths): (&Module, &BTreeSet<Module>)| {
        let imported = paths.iter().filter_map(|path| imports::file(&files, path)).cloned();
        (file.clone(), imported.filter(|other| other != file).collect::<BTreeSet<Module>>())
    };
    let mut open: BTreeMap<Module, BTreeSet<Module>> = files.iter().map(of_file).collect();
    assert!(open.len() > 50 && open.values().map(BTreeSet::len).sum::<usize>() > 200);
    // Those that import nothing that is left are in no circle.
    loop {
        let free = |(_, imported): &(&Module, &BTreeSet<Module>)| imported.is_empty();
        let free: BTreeSet<Module> = open.iter().filter(free).map(|(file, _)| file.clone()).collect();
        if free.is_empty() {
            break;
        }
        open.retain(|file, _| !free.contains(file));
        open.values_mut().for_each(|imported| imported.retain(|file| !free.contains(file)));
    }
    assert!(open.is_empty(), "circles, and what leads there: {open:#?}");
}

/// Crates, each with the rooms that still import one another in a circle: none may come in, and those that
/// are out come off the list.
const CIRCLES: [(&str, &[&str]); 22] = [
    (
        "amdgpu-isa",
        &[
            "action",
            "encoding",
            "gcn",
            "gfx10",
            "gfx11",
            "gfx12",
            "rdna",
            "signature",
            "text",
            "value",
            "waits",
        ],
    ),
    ("amdgpu-object", &[]),
    ("amdinst-build", &[]),
    ("amdinst-core", &[]),
    ("amdinst-device", &[]),
    ("amdinst-emu", &[]),
    ("amdinst-explain", &[]),
    ("amdinst-format", &[]),
    ("amdinst-hsakmt", &[]),
    ("amdinst-launch", &[]),
    ("amdinst-llvm", &[]),
    ("amdinst-macros", &[]),
    ("amdinst-proof", &[]),
    ("amdinst-replay", &[]),
    ("amdinst-report", &[]),
    ("amdinst-runtime", &[]),
    ("amdinst-text", &[]),
    ("cargo-amdinst", &[]),
    ("tools/corpus", &[]),
    ("tools/differential", &[]),
    ("harness", &[]),
    ("tools/xtask", &[]),
];

/// A room is a file or a folder next to the crate's root.
#[test]
fn rooms_import_one_another_in_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let mut wrong = Vec::new();
    for (package, known) in CIRCLES {
        let files = imports::of_crate(&root.join(package).join("src"));
        let rooms: BTreeSet<&String> = files.keys().filter_map(|module| module.first()).collect();
        let mut imported: BTreeMap<&String, BTreeSet<&String>> =
            rooms.iter().map(|room| (*room, BTreeSet::new())).collect();
        for (module, paths) in &files {
            let Some(room) = module.first() else { continue };
            let others = paths.iter().filter_map(|path| path.first()).filter(|other| *other != room);
            imported.entry(room).or_default().extend(others.filter(|other| rooms.contains(other)));
        }
        // From each room, all that it reaches: one that reaches itself is in a circle.
        let reached = |start: &String| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(room) = open.pop() {
                open.extend(imported[room].iter().filter(|other| seen.insert(**other)));
            }
            seen.contains(start)
        };
        let circle: Vec<&str> = rooms.iter().filter(|room| reached(room)).map(|room| room.as_str()).collect();
        if circle != known {
            wrong.push(format!("{package}: {circle:?}"));
        }
    }
    assert!(wrong.is_empty(), "rooms in circles: {wrong:#?}");
}

/// The page that follows an instruction names rooms that exist, each once, and none of these crates is left
/// out.
#[test]
fn the_page_of_an_instruction_names_each_room_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let page = std::fs::read_to_string(root.join("docs/src/bytes-to-counter.md")).expect("the page");
    let mut named = BTreeSet::new();
    for path in page.split('`').skip(1).step_by(2).filter(|code| code.contains('/')) {
        assert!(root.join(path).exists(), "{path} is no room");
        assert!(named.insert(Path::new(path).with_extension("")), "{path} is named twice");
    }
    let whole =
        ["amdinst-core/src/analysis", "amdinst-core/src/instrument", "amdinst-emu/src", "amdinst-proof/src"];
    for folder in whole {
        for entry in std::fs::read_dir(root.join(folder)).expect("a folder of rooms") {
            let room = Path::new(folder).join(entry.expect("its entry").file_name()).with_extension("");
            let is_room = !room.ends_with("mod") && !room.ends_with("lib");
            assert!(!is_room || named.contains(&room), "the page leaves {} out", room.display());
        }
    }
}
