//! Where a new package takes `amdinst-device` and `harness` from.
//!
//! A manifest is committed, so it names what a colleague's machine has, too: crates.io, a git repository,
//! what the workspace's other packages use, or a checkout beside the package by a relative path. A checkout
//! elsewhere on this machine is the last choice, and is said to be one. (`[patch]` in a file that git ignores
//! would keep it out of the manifest. But cargo applies patches to the standard library that it builds for
//! kernels, too, and warns each time that nothing there needs them.)

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use toml::Table;

use super::cargo;
use crate::cli::SourceArgs;
use crate::exit::{CommandResult, Exit, Failure};

/// The crates that a new package depends on: kernels on the first, tests on the second.
pub(super) const CRATES: [Crate; 2] = [
    Crate { name: "amdinst-device", package: "amdinst-device" },
    Crate { name: "harness", package: "amdinst-harness" },
];

/// A crate of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crate {
    /// What the package calls it, and its directory's name.
    pub(super) name: &'static str,
    /// Its package's name.
    pub(super) package: &'static str,
}

/// Where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::commands) enum Source {
    /// In a checkout, which the package names by its relative path.
    Beside(PathBuf),
    /// In a checkout, which the package names by its absolute path: no other way is left, or it was asked
    /// for.
    Absolute(PathBuf),
    /// In a git repository.
    Git {
        /// Its address.
        url: String,
        /// `rev`, `tag` or `branch`, and which.
        at: Option<(String, String)>,
    },
    /// On crates.io, of this version.
    Registry(String),
    /// Where the workspace says that its packages find them.
    Workspace,
}

impl Source {
    /// What an option asks for.
    ///
    /// # Errors
    /// A directory that is no checkout.
    pub(super) fn asked(args: &SourceArgs) -> CommandResult<Option<Self>> {
        if let Some(url) = &args.git {
            return Ok(Some(Self::Git { url: url.clone(), at: None }));
        }
        if args.registry {
            return Ok(Some(Self::this_version()));
        }
        let Some(given) = &args.path else { return Ok(None) };
        let root = checkout(given).map_err(|missing| {
            let message = format!("{} is no checkout of cargo-amdinst", given.display());
            Failure::msg(Exit::Usage, message).note(format!("there is no {missing}"))
        })?;
        Ok(Some(if given.is_absolute() { Self::Absolute(root) } else { Self::Beside(root) }))
    }

    /// What is best for the package in `directory`, which is there. `root` is its workspace's `Cargo.toml`,
    /// if that is not its own.
    pub(in crate::commands) fn best(directory: &Path, root: Option<&Path>) -> Self {
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        if let Some(found) = directory.ancestors().skip(1).find_map(|above| checkout(above).ok()) {
            return Self::Beside(found);
        }
        if let Some(found) = root.and_then(of_workspace) {
            return found;
        }
        if let Some(found) = installed() {
            return found;
        }
        // The sources that this program was built from, if they are still there.
        let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
        match built_from.and_then(|built_from| checkout(built_from).ok()) {
            None => Self::this_version(),
            Some(found) if is_beside(&directory, &found) => Self::Beside(found),
            Some(found) => Self::Absolute(found),
        }
    }

    fn this_version() -> Self {
        Self::Registry(env!("CARGO_PKG_VERSION").to_owned())
    }

    /// The line of a dependency on `what` in the `Cargo.toml` of a package in `directory`, which is there.
    pub(super) fn dependency(&self, what: Crate, directory: &Path) -> String {
        let mut fields = Vec::new();
        if what.package != what.name && *self != Self::Workspace {
            fields.push(("package", what.package.to_owned()));
        }
        match self {
            Self::Workspace => return format!("{}.workspace = true", what.name),
            Self::Beside(root) => {
                let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
                fields.push(("path", relative(&directory, root).join(what.name).display().to_string()));
            }
            Self::Absolute(root) => fields.push(("path", root.join(what.name).display().to_string())),
            Self::Git { url, at } => {
                fields.push(("git", url.clone()));
                fields.extend(at.as_ref().map(|(key, value)| (&key[..], value.clone())));
            }
            Self::Registry(version) => fields.push(("version", version.clone())),
        }
        let fields: Vec<String> =
            fields.into_iter().map(|(key, value)| format!("{key} = {}", toml_string(&value))).collect();
        format!("{} = {{ {} }}", what.name, fields.join(", "))
    }

    /// The git repository that has what the manifest names, where only this machine has it at that path.
    pub(super) fn repository(&self) -> Option<String> {
        let Self::Absolute(root) = self else { return None };
        let output = Command::new("git").arg("-C").arg(root).args(["remote", "get-url", "origin"]).output();
        let origin = output.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        // A clone of another directory of this machine is no help.
        let elsewhere = origin.filter(|url| url.contains("://") && !url.starts_with("file:"));
        Some(elsewhere.unwrap_or_else(|| env!("CARGO_PKG_REPOSITORY").to_owned()))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beside(root) => write!(f, "{}, by a relative path", root.display()),
            Self::Absolute(root) => write!(f, "{}, by its absolute path", root.display()),
            Self::Git { url, at: Some((key, value)) } => write!(f, "{url} ({key} {value})"),
            Self::Git { url, at: None } => write!(f, "{url}"),
            Self::Registry(version) => write!(f, "crates.io, version {version}"),
            Self::Workspace => write!(f, "[workspace.dependencies]"),
        }
    }
}

/// The absolute path of a checkout, or the file that it lacks.
fn checkout(root: &Path) -> Result<PathBuf, String> {
    let mut files = CRATES.iter().map(|what| root.join(what.name).join("Cargo.toml"));
    if let Some(missing) = files.find(|file| !file.is_file()) {
        return Err(missing.display().to_string());
    }
    root.canonicalize().map_err(|error| error.to_string())
}

/// What the packages of the workspace with this `Cargo.toml` use: its own table of dependencies, else what a
/// member takes.
fn of_workspace(root: &Path) -> Option<Source> {
    let manifest: Table = fs::read_to_string(root).ok()?.parse().ok()?;
    let shared = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
    if CRATES.iter().all(|what| shared.and_then(|shared| shared.get(what.name)).is_some()) {
        return Some(Source::Workspace);
    }
    let mut command: Command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(root);
    let output = command.output().ok()?;
    let metadata: WorkspaceMetadata = serde_json::from_slice(&output.stdout).ok()?;
    let mut dependencies = metadata.packages.into_iter().flat_map(|package| package.dependencies);
    of_member(&dependencies.find(|dependency| dependency.name == CRATES[0].package)?)
}

/// The part of `cargo metadata` that says what members depend on.
#[derive(Deserialize)]
struct WorkspaceMetadata {
    packages: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    source: Option<String>,
    path: Option<PathBuf>,
}

fn of_member(dependency: &Dependency) -> Option<Source> {
    match (&dependency.path, &dependency.source) {
        (Some(path), _) => checkout(path.parent()?).ok().map(Source::Beside),
        (None, Some(source)) if source.starts_with("git+") => git(source),
        (None, _) => Some(Source::Registry(dependency.req.trim_start_matches('^').to_owned())),
    }
}

/// `git+URL?rev=R#COMMIT`, as cargo writes it.
fn git(source: &str) -> Option<Source> {
    let (address, commit) = match source.strip_prefix("git+")?.split_once('#') {
        Some((address, commit)) => (address, Some(commit)),
        None => (source.strip_prefix("git+")?, None),
    };
    let (url, query) = address.split_once('?').unwrap_or((address, ""));
    let asked = query.split_once('=').filter(|(key, _)| ["rev", "tag", "branch"].contains(key));
    let at = match (asked, commit) {
        (Some((key, value)), _) => Some((key.to_owned(), value.to_owned())),
        (None, commit) => commit.map(|commit| ("rev".to_owned(), commit.to_owned())),
    };
    Some(Source::Git { url: url.to_owned(), at })
}

/// What `cargo install` installed this program from, if it was a registry or a git repository.
fn installed() -> Option<Source> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let list = fs::read_to_string(program.parent()?.parent()?.join(".crates2.json")).ok()?;
    installed_from(&list)
}

/// Reads cargo's list of installed programs, whose keys are `NAME VERSION (SOURCE)`.
fn installed_from(list: &str) -> Option<Source> {
    #[derive(Deserialize)]
    struct List {
        installs: BTreeMap<String, serde_json::Value>,
    }
    let list: List = serde_json::from_str(list).ok()?;
    let start = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"), " (");
    let source = list.installs.keys().find_map(|key| key.strip_prefix(start)?.strip_suffix(')'))?;
    match source {
        git_source if git_source.starts_with("git+") => git(git_source),
        registry if registry.starts_with("registry+") => Some(Source::this_version()),
        _ => None,
    }
}

/// Whether the package in `directory` stands beside the checkout `root`, so that both can be moved together.
fn is_beside(directory: &Path, root: &Path) -> bool {
    root.parent().is_some_and(|parent| parent.parent().is_some() && directory.parent() == Some(parent))
}

/// How a package in `directory` calls `root`, both absolute.
fn relative(directory: &Path, root: &Path) -> PathBuf {
    let shared = directory.components().zip(root.components()).take_while(|(a, b)| a == b).count();
    let up = directory.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(root.components().skip(shared)).collect()
}

/// A basic string of TOML, which escapes as JSON does.
fn toml_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths() {
        let path = |directory: &str| relative(Path::new(directory), Path::new("/home/me/amdinst"));
        assert_eq!(path("/home/me/amdinst/mine"), Path::new(".."));
        assert_eq!(path("/home/me/amdinst/a/b"), Path::new("../.."));
        assert_eq!(path("/home/me/mine"), Path::new("../amdinst"));
        let beside = |directory: &str, root: &str| is_beside(Path::new(directory), Path::new(root));
        assert!(beside("/home/me/mine", "/home/me/amdinst"));
        assert!(!beside("/home/other/mine", "/home/me/amdinst"));
        // Beside in the root of the file system is chance.
        assert!(!beside("/mine", "/amdinst"));
    }

    #[test]
    fn dependencies_as_cargo_reads_them() {
        let here = Path::new("/nowhere/mine");
        let read = |source: &Source| {
            let table = source.dependency(CRATES[1], here).parse::<Table>().unwrap();
            assert_eq!(table["harness"]["package"].as_str(), Some("amdinst-harness"));
            table["harness"].clone()
        };
        let root = PathBuf::from("/nowhere/a \"b\"");
        assert_eq!(read(&Source::Beside(root.clone()))["path"].as_str(), Some("../a \"b\"/harness"));
        assert_eq!(read(&Source::Absolute(root))["path"].as_str(), Some("/nowhere/a \"b\"/harness"));
        assert_eq!(read(&Source::Registry("1.2".to_owned()))["version"].as_str(), Some("1.2"));
        let line = Source::Workspace.dependency(CRATES[1], here).parse::<Table>().unwrap();
        assert_eq!(line["harness"]["workspace"].as_bool(), Some(true));
        let at = Some(("tag".to_owned(), "v1".to_owned()));
        let git = read(&Source::Git { url: "https://host/x".to_owned(), at });
        assert_eq!((git["git"].as_str(), git["tag"].as_str()), (Some("https://host/x"), Some("v1")));
    }

    #[test]
    fn what_cargo_says_of_sources() {
        let at = |key: &str, value: &str| Some((key.to_owned(), value.to_owned()));
        let url = || "https://host/x".to_owned();
        assert_eq!(
            git("git+https://host/x?branch=b#abc"),
            Some(Source::Git { url: url(), at: at("branch", "b") })
        );
        assert_eq!(git("git+https://host/x#abc"), Some(Source::Git { url: url(), at: at("rev", "abc") }));
        assert_eq!(git("git+https://host/x"), Some(Source::Git { url: url(), at: None }));
        let list = |source: &str| {
            let key = format!("cargo-amdinst {} ({source})", env!("CARGO_PKG_VERSION"));
            installed_from(
                &serde_json::json!({ "installs": { "ripgrep 1.0.0 (x)": {}, key: {} } }).to_string(),
            )
        };
        assert_eq!(
            list("registry+https://github.com/rust-lang/crates.io-index"),
            Some(Source::this_version())
        );
        assert_eq!(list("git+https://host/x#abc"), Some(Source::Git { url: url(), at: at("rev", "abc") }));
        assert_eq!(list("path+file:///home/me/amdinst/cargo-amdinst"), None);
        assert_eq!(installed_from("{"), None);
    }
}
