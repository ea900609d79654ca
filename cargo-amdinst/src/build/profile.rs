//! What a cargo profile needs so that kernels can be compiled and measured with it, and so that their tests are fast.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// `--config` values for profile `name`.
pub fn overrides(workspace_root: &Path, name: &str) -> Vec<String> {
    let table = table_name(name);
    let mut values = vec![
        // The target is linked by fat LTO whatever a profile says, and that excludes incremental compilation.
        format!("profile.{table}.lto=false"),
        format!("profile.{table}.incremental=false"),
    ];
    let manifest = fs::read_to_string(workspace_root.join("Cargo.toml")).ok();
    let manifest: Option<Table> = manifest.and_then(|text| text.parse().ok());
    if !manifest.is_some_and(|manifest| has_line_tables(&manifest, table)) {
        values.push(format!("profile.{table}.debug=\"line-tables-only\""));
    }
    values
}

/// What the crates that do the heavy work of every test are compiled with, though the tests themselves are for debugging: package,
/// setting, value. Without, a kernel runs more than ten times as long.
const HEAVY: [(&str, &str, &str); 4] = [
    ("amdinst-emu", "opt-level", "3"),
    // Checks inside the lane loops keep them from being vectorised.
    ("amdinst-emu", "overflow-checks", "false"),
    ("amdinst-emu", "debug-assertions", "false"),
    ("amdinst-core", "opt-level", "2"),
];

/// `--config` values for the programs that test kernels. None where the workspace itself says how the emulator is compiled.
pub fn fast_tests(workspace_root: &Path) -> Vec<String> {
    let manifest = fs::read_to_string(workspace_root.join("Cargo.toml")).ok();
    let manifest: Option<Table> = manifest.and_then(|text| text.parse().ok());
    if manifest.is_some_and(|manifest| names_heavy_packages(&manifest)) {
        return Vec::new();
    }
    let value = |(package, setting, value)| format!("profile.dev.package.{package}.{setting}={value}");
    HEAVY.map(value).into()
}

/// The same as tables of a `Cargo.toml`, for whoever tests without `cargo amdinst test`.
pub fn fast_tests_tables() -> String {
    let mut text = String::new();
    let mut last = "";
    for (package, setting, value) in HEAVY {
        if package != last {
            let _ = writeln!(text, "\n[profile.dev.package.{package}]");
            last = package;
        }
        let _ = writeln!(text, "{setting} = {value}");
    }
    text
}

/// Whether the profile that tests are compiled with has a table for one of those packages, or one for all dependencies.
fn names_heavy_packages(manifest: &Table) -> bool {
    let packages = ["dev", "test"]
        .into_iter()
        .filter_map(|name| manifest.get("profile")?.get(name)?.get("package")?.as_table());
    // A name may be followed by a version.
    let names =
        |key: &str| key == "*" || HEAVY.iter().any(|(name, ..)| key.split(['@', ':']).next() == Some(name));
    packages.flat_map(Table::keys).any(|key| names(key))
}

/// The table in `Cargo.toml`: cargo's built-in `test` and `bench` profiles are called otherwise on the command line, and
/// `--profile dev` builds into `debug`, but tables bear the profile's name.
fn table_name(name: &str) -> &str {
    match name {
        "debug" => "dev",
        name => name,
    }
}

/// Whether profile `name`, or the one it inherits from, asks for line tables or more. Sites are named by source lines,
/// so there is no doing without.
fn has_line_tables(manifest: &Table, name: &str) -> bool {
    let mut name = name.to_owned();
    // Cargo refuses cycles; ten is deeper than anyone goes.
    for _ in 0..10 {
        let profile = manifest.get("profile").and_then(|profiles| profiles.get(&name));
        match profile.and_then(|profile| profile.get("debug")) {
            Some(Value::Boolean(debug)) => return *debug,
            Some(Value::Integer(level)) => return *level > 0,
            Some(Value::String(level)) => return !matches!(&level[..], "none" | "line-directives-only"),
            _ => {}
        }
        let inherits = profile.and_then(|profile| profile.get("inherits")).and_then(Value::as_str);
        name = match (inherits, &name[..]) {
            (Some(parent), _) => parent.to_owned(),
            (None, "test") => "dev".to_owned(),
            (None, "bench") => "release".to_owned(),
            (None, name) => return name == "dev",
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_tables(manifest: &str, profile: &str) -> bool {
        has_line_tables(&manifest.parse().unwrap(), profile)
    }

    #[test]
    fn debug_information_is_inherited() {
        let manifest = "[profile.release]\ndebug = 1\n[profile.small]\ninherits = \"release\"\nopt-level = \"s\"\n\
                        [profile.bare]\ninherits = \"small\"\ndebug = false\n";
        assert!(line_tables(manifest, "release"));
        assert!(line_tables(manifest, "small"));
        assert!(line_tables(manifest, "bench"));
        assert!(!line_tables(manifest, "bare"));
    }

    #[test]
    fn tests_are_fast_unless_the_workspace_says_otherwise() {
        let values = |manifest: &str| {
            let directory = tempfile::tempdir().unwrap();
            fs::write(directory.path().join("Cargo.toml"), manifest).unwrap();
            fast_tests(directory.path())
        };
        let own =
            values("[profile.dev]\nopt-level = 1\n[profile.release.package.amdinst-emu]\nopt-level = 3\n");
        assert!(own.contains(&"profile.dev.package.amdinst-emu.opt-level=3".to_owned()), "{own:?}");
        for name in ["dev.package.amdinst-emu", "test.package.\"amdinst-core@0.1\"", "dev.package.\"*\""] {
            assert_eq!(values(&format!("[profile.{name}]\nopt-level = 1\n")), [""; 0], "{name}");
        }
        assert_eq!(values(&fast_tests_tables()), [""; 0]);
        // What cargo is told is what the tables say.
        let tables: Table = fast_tests_tables().parse().unwrap();
        assert_eq!(own.join("\n").parse::<Table>().unwrap(), tables);
    }

    /// This workspace, too, has them.
    #[test]
    fn this_workspace_tests_as_others_do() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
        let manifest: Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let tables: Table = fast_tests_tables().parse().unwrap();
        assert_eq!(manifest["profile"]["dev"]["package"], tables["profile"]["dev"]["package"]);
    }

    #[test]
    fn cargo_defaults() {
        assert!(line_tables("", "dev"));
        assert!(!line_tables("", "release"));
        assert!(!line_tables("[profile.release]\ndebug = \"line-directives-only\"", "release"));
        assert!(line_tables("[profile.release]\ndebug = \"line-tables-only\"", "release"));
        assert!(!line_tables("[profile.a]\ninherits = \"b\"\n[profile.b]\ninherits = \"a\"", "a"));
    }
}
