//! What a cargo profile needs so that kernels can be compiled and measured with it.

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
    let manifest = manifest(workspace_root);
    // A variable wins over the manifest, and what is said here over both.
    let variable = std::env::var(variable(table)).ok();
    let has_lines = match variable.as_deref() {
        Some(value) => !matches!(value, "" | "false" | "0" | "none" | "line-directives-only"),
        None => manifest.is_some_and(|manifest| has_line_tables(&manifest, table)),
    };
    if !has_lines {
        values.push(format!("profile.{table}.debug=\"line-tables-only\""));
    }
    values
}

/// A text that tells the profile tables of a workspace from others.
pub fn tables(workspace_root: &Path) -> String {
    format!("{:?}", manifest(workspace_root).as_ref().and_then(|manifest| manifest.get("profile")))
}

fn manifest(workspace_root: &Path) -> Option<Table> {
    fs::read_to_string(workspace_root.join("Cargo.toml")).ok()?.parse().ok()
}

/// The directory in which cargo builds with a profile.
pub fn directory(name: &str) -> &str {
    match name {
        "dev" | "test" => "debug",
        "bench" => "release",
        name => name,
    }
}

/// The variable that sets `debug` of the profile whose table has that name.
fn variable(table: &str) -> String {
    format!("CARGO_PROFILE_{}_DEBUG", table.to_uppercase().replace('-', "_"))
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
    fn the_variable_is_cargos() {
        assert_eq!(variable("dev"), "CARGO_PROFILE_DEV_DEBUG");
        assert_eq!(variable("kernel-o0"), "CARGO_PROFILE_KERNEL_O0_DEBUG");
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
