//! A type that leaves its file has a name that is one in its crate: whoever reads the name in another file
//! knows which is meant.

#[path = "support/files.rs"]
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use files::sources;
use syn::{Attribute, Item, Meta, Visibility};

/// Packages, each with the names that several types still have. None may come in, and those that are one come
/// off the list.
const SHARED: [(&str, &[&str]); 5] = [
    ("amdinst-core", &["Added", "Entry", "Exit", "Item", "Part", "Pending", "Step"]),
    (
        "amdinst-emu",
        &[
            "Access",
            "Atomic",
            "Compare",
            "Do",
            "Float",
            "Format",
            "InMode",
            "Lds",
            "Less",
            "Look",
            "Move",
            "Number",
            "Operation",
            "Packed",
            "Part",
            "Place",
            "Reads",
            "Resident",
            "Rules",
            "Select",
            "Spot",
            "Store",
            "Test",
            "Trace",
            "Watch",
        ],
    ),
    ("amdinst-format", &["Layout", "Line", "Occupancy", "Origin", "Run"]),
    // Those of each chore.
    ("tools/corpus", &["Options", "Tally"]),
    ("tools/xtask", &["Options", "Outcome"]),
];

/// The names of types in a file that others can see, tests aside.
fn names(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    add(&syn::parse_file(source).expect("Rust").items, &mut found);
    found
}

fn add(items: &[Item], found: &mut Vec<String>) {
    for item in items {
        let (visibility, name) = match item {
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Union(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            Item::Mod(module) if !module.attrs.iter().any(is_of_tests) => {
                if let Some((_, items)) = &module.content {
                    add(items, found);
                }
                continue;
            }
            _ => continue,
        };
        if !matches!(visibility, Visibility::Inherited) {
            found.push(name.to_string());
        }
    }
}

/// Whether an attribute is `#[cfg(test)]`.
fn is_of_tests(attribute: &Attribute) -> bool {
    let Meta::List(list) = &attribute.meta else { return false };
    list.path.is_ident("cfg") && list.tokens.to_string() == "test"
}

/// Names that stand there more than once.
fn shared(names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut seen = BTreeSet::new();
    names.into_iter().filter(|name| !seen.insert(name.clone())).collect()
}

#[test]
fn types_that_leave_their_files_have_a_name_for_themselves() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the workspace");
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, source) in sources(root) {
        let name = path.strip_prefix(root).expect("in the workspace").to_string_lossy();
        // Templates of new packages are no packages yet.
        let Some((package, _)) = name.split_once("/src/") else { continue };
        if root.join(package).join("Cargo.toml").is_file() {
            packages.entry(package.to_owned()).or_default().extend(names(&source));
        }
    }
    assert!(packages.len() > 20 && packages.values().map(Vec::len).sum::<usize>() > 1000);
    let found: BTreeMap<String, BTreeSet<String>> = packages
        .into_iter()
        .map(|(package, names)| (package, shared(names)))
        .filter(|(_, names)| !names.is_empty())
        .collect();
    let known = SHARED.map(|(package, names)| {
        (package.to_owned(), names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>())
    });
    assert_eq!(found, known.into(), "names of several types (left), and those that are known (right)");
}

#[test]
fn a_name_of_two_types_is_noticed() {
    let one = "pub struct Row;\nstruct Own;\nmod inner { pub(super) enum Own {} }";
    let other = "pub(crate) type Row = u8;\n#[cfg(test)]\nmod tests { pub struct Own; }";
    let all = names(one).into_iter().chain(names(other));
    assert_eq!(shared(all), BTreeSet::from(["Row".to_owned()]));
}
