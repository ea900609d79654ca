//! A program whose kernels stand in its main file, built as a library: the crate `gpu-kernel` has them there.
//!
//! Cargo builds programs as programs. So a second manifest names the main file as a library's; it is a
//! workspace of its own, with what the real one says of dependencies, profiles and lints.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};
use toml::{Table, Value};

use super::files;
use crate::exit::{CommandResult, Exit, OrExit as _};

/// What of a workspace's manifest holds for its members.
const OF_WORKSPACE: [&str; 4] = ["package", "dependencies", "lints", "resolver"];
/// What a root's manifest says of the whole build.
const OF_ROOT: [&str; 3] = ["profile", "patch", "replace"];
/// Cargo's other targets, which are not built.
const TARGETS: [&str; 4] = ["bin", "example", "test", "bench"];

/// Writes the manifest that has the program `main` of a package as a library, and gives its path.
///
/// # Errors
/// A manifest that cannot be read or written.
pub(super) fn as_library(metadata: &Metadata, package: &Package, main: &Path) -> CommandResult<PathBuf> {
    let root = metadata.workspace_root.as_std_path();
    let own = package.manifest_path.as_std_path();
    let directory =
        metadata.target_directory.as_std_path().join("amdinst").join("programs").join(&*package.name);
    fs::create_dir_all(&directory)
        .or_exit_with(Exit::OutputFailed, || format!("cannot create {}", directory.display()))?;
    let workspace = (root.join("Cargo.toml") != own).then(|| read(&root.join("Cargo.toml"))).transpose()?;
    let table = library(read(own)?, own.parent().unwrap_or(root), workspace, root, package, main);
    let path = directory.join("Cargo.toml");
    let failed = |path: &Path| format!("cannot write {}", path.display());
    files::write(&path, table.to_string().as_bytes()).or_exit_with(Exit::OutputFailed, || failed(&path))?;
    let lock = directory.join("Cargo.lock");
    if let Ok(bytes) = fs::read(root.join("Cargo.lock")) {
        files::write(&lock, &bytes).or_exit_with(Exit::OutputFailed, || failed(&lock))?;
    }
    Ok(path)
}

fn read(path: &Path) -> CommandResult<Table> {
    let failed = || format!("cannot read {}", path.display());
    let text = fs::read_to_string(path).or_exit_with(Exit::BuildFailed, failed)?;
    text.parse().or_exit_with(Exit::BuildFailed, failed)
}

/// A package's manifest `table`, of `directory`, with `main` as its library; `workspace` is the manifest of
/// its workspace's `root`, if that is another.
fn library(
    mut table: Table,
    directory: &Path,
    workspace: Option<Table>,
    root: &Path,
    package: &Package,
    main: &Path,
) -> Table {
    for target in TARGETS {
        table.remove(target);
    }
    if let Some(Value::Table(own)) = table.get_mut("package") {
        own.remove("workspace");
        own.remove("default-run");
        for key in ["autobins", "autoexamples", "autotests", "autobenches"] {
            own.insert(key.to_owned(), Value::Boolean(false));
        }
        let script = match own.get("build") {
            Some(Value::String(path)) => Some(path.clone()),
            Some(_) => None,
            None => directory.join("build.rs").is_file().then(|| "build.rs".to_owned()),
        };
        let script = script.map(|path| Value::String(absolute(directory, &path)));
        own.insert("build".to_owned(), script.unwrap_or(Value::Boolean(false)));
    }
    let mut lib = Table::new();
    lib.insert("name".to_owned(), Value::String(package.name.replace('-', "_")));
    lib.insert("path".to_owned(), Value::String(main.display().to_string()));
    table.insert("lib".to_owned(), Value::Table(lib));
    with_absolute_paths(&mut table, directory);

    let mut of_root = workspace;
    let mut inherited = Table::new();
    let outer = match &mut of_root {
        Some(other) => other.remove("workspace"),
        None => table.remove("workspace"),
    };
    if let Some(Value::Table(outer)) = outer {
        inherited.extend(outer.into_iter().filter(|(key, _)| OF_WORKSPACE.contains(&key.as_str())));
    }
    with_absolute_paths(&mut inherited, root);
    table.insert("workspace".to_owned(), Value::Table(inherited));
    for (key, mut value) in of_root.into_iter().flatten().filter(|(key, _)| OF_ROOT.contains(&key.as_str())) {
        if let Value::Table(value) = &mut value {
            with_absolute_paths(value, root);
        }
        table.insert(key, value);
    }
    table
}

/// Makes the paths of all dependencies absolute, wherever they stand in a table.
fn with_absolute_paths(table: &mut Table, directory: &Path) {
    for (key, value) in table.iter_mut() {
        match value {
            // A target's own: the library's is absolute, and no other is left.
            Value::Table(_) if key == "lib" => {}
            Value::Table(inner) => {
                if let Some(Value::String(path)) = inner.get_mut("path") {
                    *path = absolute(directory, path);
                }
                with_absolute_paths(inner, directory);
            }
            _ => {}
        }
    }
}

fn absolute(directory: &Path, path: &str) -> String {
    directory.join(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package() -> Package {
        let value = json!({
            "name": "a-b", "version": "1.0.0", "id": "a", "source": null, "dependencies": [], "targets": [], "features": {},
            "manifest_path": "/w/a/Cargo.toml",
        });
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_member_becomes_a_workspace() {
        let table = "[package]\nname = 'a-b'\nworkspace = '..'\nversion.workspace = true\n[[bin]]\nname = 'x'\n\
                     [dependencies]\nc = { path = '../c' }\nd.workspace = true\n\
                     [target.'cfg(unix)'.dependencies.e]\npath = 'e'\n";
        let root = "[workspace]\nmembers = ['a']\npackage.version = '1.0.0'\ndependencies.d = { path = 'd' }\n\
                    [profile.release]\ndebug = 1\n[patch.crates-io]\nf = { path = 'f' }\n";
        let made = library(
            table.parse().unwrap(),
            Path::new("/w/a"),
            Some(root.parse().unwrap()),
            Path::new("/w"),
            &package(),
            Path::new("/w/a/src/main.rs"),
        );
        let expected = "[package]\nname = 'a-b'\nversion.workspace = true\nautobins = false\nautoexamples = false\nautotests = false\n\
                        autobenches = false\nbuild = false\n[lib]\nname = 'a_b'\npath = '/w/a/src/main.rs'\n\
                        [dependencies]\nc = { path = '/w/a/../c' }\nd.workspace = true\n\
                        [target.'cfg(unix)'.dependencies.e]\npath = '/w/a/e'\n\
                        [workspace]\npackage.version = '1.0.0'\ndependencies.d = { path = '/w/d' }\n\
                        [profile.release]\ndebug = 1\n[patch.crates-io]\nf = { path = '/w/f' }\n";
        assert_eq!(made, expected.parse::<Table>().unwrap());
    }
}
