//! What a cargo profile needs so that kernels can be compiled and measured with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

/// Levels of optimization that `test --all-levels` tries.
pub const LEVELS: [&str; 5] = ["0", "1", "2", "3", "s"];

/// The level of optimization of profile `name`, as cargo spells it.
pub fn level(workspace_root: &Path, name: &str) -> String {
    let table = table_name(name);
    let set = std::env::var(variable(table, "OPT_LEVEL")).ok();
    set.unwrap_or_else(|| opt_level(&manifest(workspace_root).unwrap_or_default(), table))
}

/// `--config` values for profile `name`, with another level of optimization than its own if one is given.
pub fn overrides(workspace_root: &Path, name: &str, level: Option<&str>) -> Vec<String> {
    let table = table_name(name);
    let mut values = vec![
        // The target is linked by LTO whatever a profile says, and rustc refuses to compile incrementally
        // where it is told so.
        format!("profile.{table}.lto=false"),
        // It halves the time of an edit, and costs kernels nothing: their bitcode is optimised behind rustc.
        // Where it does not work, see `incremental`.
        format!("profile.{table}.incremental=true"),
    ];
    let manifest = manifest(workspace_root).unwrap_or_default();
    // A variable wins over the manifest, and what is said here over both.
    let set = |key| std::env::var(variable(table, key)).ok();
    let has_lines = match set("DEBUG").as_deref() {
        Some(value) => !matches!(value, "" | "false" | "0" | "none" | "line-directives-only"),
        None => has_line_tables(&manifest, table),
    };
    values.extend(level.map(|level| format!("profile.{table}.opt-level={}", toml_level(level))));
    let level = level.map_or_else(|| self::level(workspace_root, name), str::to_owned);
    if level == "0" {
        // The one crate that machine code is made of on the way, for it says `no_builtins`: see the flags of
        // all crates.
        values.push(format!("profile.{table}.package.compiler_builtins.opt-level=1"));
    }
    if !has_lines {
        values.push(format!("profile.{table}.debug=\"line-tables-only\""));
    }
    // What was inlined from them has lines, too.
    let without = packages_without_lines(&manifest, table).into_iter();
    values.extend(without.map(|of| format!("profile.{table}.package.{of:?}.debug=\"line-tables-only\"")));
    values
}

/// A level as TOML has it: a number, or a letter in quotes.
fn toml_level(level: &str) -> String {
    match level.parse::<u8>() {
        Ok(number) => number.to_string(),
        Err(_) => format!("{level:?}"),
    }
}

/// What profile `name` says of packages in tables of their own that have no line tables there, by what the
/// tables are called.
fn packages_without_lines(manifest: &Table, name: &str) -> BTreeSet<String> {
    let lineage = lineage(manifest, name);
    let tables = lineage.iter().filter_map(|name| profile(manifest, name)?.get("package")?.as_table());
    let lacks = |of: &Value| of.get("debug").is_some_and(|debug| !asks_for_lines(debug));
    tables.flatten().filter(|(_, of)| lacks(of)).map(|(package, _)| package.clone()).collect()
}

/// A text that tells the tables of a profile in a workspace from those in others. Settings of single packages
/// are left out: cargo compiles these packages otherwise, and all others as if they were not there.
pub fn tables(workspace_root: &Path, name: &str) -> String {
    said(&manifest(workspace_root).unwrap_or_default(), table_name(name))
}

fn said(manifest: &Table, name: &str) -> String {
    let mut tables = Vec::new();
    for name in lineage(manifest, name) {
        let Some(mut table) = profile(manifest, &name).cloned() else { continue };
        if let Some(Value::Table(packages)) = table.get_mut("package") {
            packages.retain(|package, _| package == "*");
        }
        table.retain(|_, value| !value.as_table().is_some_and(Table::is_empty));
        if !table.is_empty() {
            tables.push((name, table));
        }
    }
    format!("{tables:?}")
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

/// The variable that sets a key of the profile whose table has that name.
fn variable(table: &str, key: &str) -> String {
    format!("CARGO_PROFILE_{}_{key}", table.to_uppercase().replace('-', "_"))
}

/// The table in `Cargo.toml`: cargo's built-in `test` and `bench` profiles are called otherwise on the
/// command line, and `--profile dev` builds into `debug`, but tables bear the profile's name.
fn table_name(name: &str) -> &str {
    match name {
        "debug" => "dev",
        name => name,
    }
}

/// The table of profile `name`, if there is one.
fn profile<'a>(manifest: &'a Table, name: &str) -> Option<&'a Table> {
    manifest.get("profile")?.get(name)?.as_table()
}

/// Profile `name`, then those that it inherits from, the nearest first.
fn lineage(manifest: &Table, name: &str) -> Vec<String> {
    let mut names = vec![name.to_owned()];
    let mut last = name;
    // Cargo refuses cycles; ten is deeper than anyone goes.
    while names.len() <= 10 {
        let inherits = profile(manifest, last).and_then(|profile| profile.get("inherits"));
        last = match (inherits.and_then(Value::as_str), last) {
            (Some(parent), _) => parent,
            (None, "test") => "dev",
            (None, "bench") => "release",
            (None, _) => break,
        };
        names.push(last.to_owned());
    }
    names
}

/// What profile `name`, or the nearest that it inherits from, says of a key; if none does, the name of the
/// last.
fn value<'a>(manifest: &'a Table, name: &str, key: &str) -> Result<&'a Value, String> {
    let mut lineage = lineage(manifest, name);
    let found = lineage.iter().find_map(|name| profile(manifest, name)?.get(key));
    found.ok_or_else(|| lineage.pop().unwrap_or_default())
}

/// Whether profile `name` asks for line tables or more. Sites are named by source lines, so there is no doing
/// without.
fn has_line_tables(manifest: &Table, name: &str) -> bool {
    match value(manifest, name, "debug") {
        Ok(debug) => asks_for_lines(debug),
        // Cargo's own default.
        Err(root) => root == "dev",
    }
}

fn asks_for_lines(debug: &Value) -> bool {
    match debug {
        Value::Boolean(debug) => *debug,
        Value::Integer(level) => *level > 0,
        Value::String(level) => !matches!(&level[..], "none" | "line-directives-only"),
        _ => false,
    }
}

/// The level of optimisation of profile `name`.
fn opt_level(manifest: &Table, name: &str) -> String {
    match value(manifest, name, "opt-level") {
        Ok(Value::String(level)) => level.clone(),
        Ok(Value::Integer(level)) => level.to_string(),
        // Cargo will say what is wrong with it.
        Ok(_) => String::new(),
        // Cargo's own default.
        Err(root) => if root == "dev" { "0" } else { "3" }.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line_tables(manifest: &str, profile: &str) -> bool {
        has_line_tables(&manifest.parse().unwrap(), profile)
    }

    #[test]
    fn another_level_is_not_the_profiles() {
        let directory = tempfile::tempdir().unwrap();
        let has = |level, value: &str| {
            overrides(directory.path(), "release", level).iter().any(|known| known == value)
        };
        let of_builtins = "profile.release.package.compiler_builtins.opt-level=1";
        assert_eq!(level(directory.path(), "release"), "3");
        assert!(!has(None, of_builtins) && !has(Some("s"), of_builtins) && has(Some("0"), of_builtins));
        assert!(has(Some("0"), "profile.release.opt-level=0"));
        assert!(has(Some("s"), "profile.release.opt-level=\"s\""));
        assert!(LEVELS.contains(&"3"));
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
    fn packages_without_lines_get_them() {
        let manifest = "[profile.dev.package.\"*\"]\ndebug = false\n[profile.dev.package.one]\ndebug = 1\n\
                        [profile.slow]\ninherits = \"dev\"\n[profile.slow.package.two]\ndebug = \"none\"\n";
        let packages =
            |name| packages_without_lines(&manifest.parse().unwrap(), name).into_iter().collect::<Vec<_>>();
        assert_eq!(packages("dev"), ["*"]);
        assert_eq!(packages("slow"), ["*", "two"]);
        assert!(packages("release").is_empty());
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("Cargo.toml"), manifest).unwrap();
        let told = overrides(directory.path(), "dev", None);
        assert!(
            told.contains(&"profile.dev.package.\"*\".debug=\"line-tables-only\"".to_owned()),
            "{told:?}"
        );
    }

    #[test]
    fn what_is_said_of_other_profiles_and_of_single_packages_makes_no_difference() {
        let text = |manifest: &str, profile| said(&manifest.parse().unwrap(), profile);
        let plain = text("", "release");
        assert_eq!(text("[profile.dev]\ndebug = 1\n", "release"), plain);
        assert_eq!(text("[profile.release.package.one]\nopt-level = 1\n", "release"), plain);
        assert_ne!(text("[profile.release.package.\"*\"]\nopt-level = 1\n", "release"), plain);
        assert_ne!(text("[profile.release.build-override]\nopt-level = 1\n", "release"), plain);
        let inherited =
            "[profile.release]\noverflow-checks = true\n[profile.small]\ninherits = \"release\"\n";
        let other = inherited.replace("true", "false");
        assert_ne!(text(inherited, "small"), text(&other, "small"));
        assert_ne!(text(inherited, "bench"), text(&other, "bench"));
        assert_eq!(text(inherited, "dev"), text(&other, "dev"));
    }

    #[test]
    fn the_variable_is_cargos() {
        assert_eq!(variable("dev", "DEBUG"), "CARGO_PROFILE_DEV_DEBUG");
        assert_eq!(variable("kernel-o0", "OPT_LEVEL"), "CARGO_PROFILE_KERNEL_O0_OPT_LEVEL");
    }

    #[test]
    fn levels_are_inherited() {
        let manifest = "[profile.release]\nopt-level = \"s\"\n[profile.none]\ninherits = \"release\"\nopt-level = 0\n\
                        [profile.small]\ninherits = \"release\"\n[profile.slow]\ninherits = \"dev\"\n";
        let level = |name| opt_level(&manifest.parse().unwrap(), name);
        assert_eq!(
            ["release", "none", "small", "slow", "test", "bench"].map(level),
            ["s", "0", "s", "0", "0", "s"]
        );
        assert_eq!(opt_level(&Table::new(), "release"), "3");
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
