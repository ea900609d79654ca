//! What a code object was built from, for those who launch it without having built it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use amdinst_core::counters::Probe;
use amdinst_core::instrument::{Abi, Level, SiteSelector};
use amdinst_format::manifest::{FileState, Origin};
use amdinst_llvm::toolchain::Toolchain;
use amdinst_runtime::freshness;

use super::cargo::CargoBuilt;
use super::instrument::Forms;
use super::package::KernelPackage;
use crate::cli::PackageArgs;
use crate::exit::{CommandResult, Exit, OrExit as _};

/// A build of a package, and how it was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build<'a> {
    pub(super) package: &'a KernelPackage,
    pub(super) toolchain: &'a Toolchain,
    /// The path of the running program.
    pub(super) executable: &'a Path,
    pub(super) args: &'a PackageArgs,
    pub(super) forms: &'a Forms,
    /// When it began.
    pub(super) started: SystemTime,
}

/// Notes what `built` was made from.
///
/// # Errors
/// Cargo's list of the sources cannot be read.
pub(super) fn of(build: &Build<'_>, built: &CargoBuilt) -> CommandResult<Origin> {
    let list = built.code_object.with_extension("d");
    let text = std::fs::read_to_string(&list)
        .or_exit_with(Exit::BuildFailed, || format!("cannot read {}", list.display()))?;
    let mut texts: BTreeSet<PathBuf> = sources(&text).into_iter().collect();
    let manifests: BTreeSet<PathBuf> = texts.iter().filter_map(|source| manifest_of(source)).collect();
    texts.extend(manifests);
    let root = &build.package.workspace_root;
    texts.insert(root.join("Cargo.toml"));
    let configuration = |directory: &Path| {
        ["config.toml", "config"].map(|name| directory.join(".cargo").join(name)).into_iter()
    };
    texts.extend(root.ancestors().flat_map(configuration).filter(|path| path.is_file()));

    let llvm = &build.toolchain.llvm;
    let programs = [build.toolchain.rustc.clone(), llvm.path("opt"), llvm.path("llc"), llvm.lld.clone()];
    let programs = programs.into_iter().chain([build.executable.to_owned()]);
    let texts = texts.iter().filter_map(|path| text_state(path, build.started));
    // Cargo itself may just have written it.
    let lock = freshness::state(&root.join("Cargo.lock"), true);
    let programs = programs.filter_map(|path| freshness::state(&path, false));
    Ok(Origin {
        files: texts.chain(lock).chain(programs).collect(),
        features: built.features.clone(),
        command: build.executable.display().to_string(),
        arguments: arguments(build),
        directory: root.display().to_string(),
    })
}

/// A text as the compiler has seen it. One that was written since the build began may be another by now: it
/// is noted in a way that no file is.
fn text_state(path: &Path, started: SystemTime) -> Option<FileState> {
    let state = freshness::state(path, true)?;
    let started = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    if u128::from(state.modified) < started {
        return Some(state);
    }
    Some(FileState { size: 0, modified: 0, hash: None, ..state })
}

/// The files that cargo's list names behind the artifact: separated by spaces, those in names behind a
/// backslash.
fn sources(list: &str) -> Vec<PathBuf> {
    let Some((_, files)) = list.lines().next().and_then(|line| line.split_once(": ")) else {
        return Vec::new();
    };
    let mut names = vec![String::new()];
    let mut characters = files.chars();
    while let Some(character) = characters.next() {
        match (character, names.last_mut()) {
            ('\\', Some(name)) => name.extend(characters.next()),
            (' ', _) => names.push(String::new()),
            (other, Some(name)) => name.push(other),
            (_, None) => {}
        }
    }
    names.into_iter().filter(|name| !name.is_empty()).map(PathBuf::from).collect()
}

/// The `Cargo.toml` of the package that a source file belongs to.
fn manifest_of(source: &Path) -> Option<PathBuf> {
    source.ancestors().skip(1).map(|directory| directory.join("Cargo.toml")).find(|path| path.is_file())
}

/// What follows `cargo amdinst` to build the same again. What was not said is left to the package's settings,
/// which may change.
fn arguments(build: &Build<'_>) -> Vec<String> {
    let Build { package, args, forms, .. } = build;
    let mut words = vec!["build".to_owned(), "--manifest-path".to_owned()];
    words.push(package.manifest_path.display().to_string());
    // By its name, too: who named it may know better whether it has kernels.
    words.extend(["--package".to_owned(), package.name.clone()]);
    let mut option = |name: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
    };
    option("--target-cpu", Some(args.target_cpu.join(",")).filter(|cpus| !cpus.is_empty()));
    option("--wave-size", args.wave_size.map(|wave| wave.lanes().to_string()));
    option("--profile", args.profile.clone());
    // Of the features that several packages were asked for, those of this one.
    option("--features", Some(package.asked_features.join(",")).filter(|features| !features.is_empty()));
    option("--code-object-version", args.code_object_version.map(|version| version.to_string()));
    option("--toolchain", args.toolchain.toolchain.clone());
    let (probe, level, abi) = (forms.options.probe, forms.options.level, forms.options.abi);
    option("--measure", (probe != Probe::default()).then(|| format!("{probe:?}").to_lowercase()));
    option("--level", (level != Level::default()).then(|| format!("{level:?}").to_lowercase()));
    option("--abi", (abi != Abi::default()).then(|| format!("{abi:?}").to_lowercase()));
    for kernel in forms.options.kernels.iter().flatten() {
        option("--kernel", Some(kernel.clone()));
    }
    for selector in &forms.options.only {
        match selector {
            SiteSelector::Probe(name) => option("--probe", Some(name.clone())),
            SiteSelector::Lines(lines) => option("--line", Some(lines.to_string())),
        }
    }
    for (given, name) in [
        (!forms.options.skips_formatting, "--formatting"),
        (args.release, "--release"),
        (args.all_features, "--all-features"),
        (args.no_default_features, "--no-default-features"),
        (args.panic_messages, "--panic-messages"),
    ] {
        words.extend(given.then(|| name.to_owned()));
    }
    if forms.homes.is_empty() {
        words.push("--no-instrument".to_owned());
    }
    words.extend(package.lock_options.iter().cloned());
    words
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_with_spaces_are_read() {
        let list = "/t/k.elf: /a/b\\ c/lib.rs /d/e.rs\n\n/other: /x\n";
        assert_eq!(sources(list), [PathBuf::from("/a/b c/lib.rs"), PathBuf::from("/d/e.rs")]);
        assert!(sources("").is_empty());
    }

    #[test]
    fn what_was_written_during_the_build_is_no_file_that_can_be() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lib.rs");
        std::fs::write(&path, "text").unwrap();
        let now = SystemTime::now();
        let later = text_state(&path, now + Duration::from_secs(60)).unwrap();
        assert_eq!((later.size, later.hash.is_some()), (4, true));
        let before = text_state(&path, now - Duration::from_secs(60)).unwrap();
        let origin = Origin { files: vec![before], ..Origin::default() };
        assert!(freshness::change(&origin, None).is_some());
    }
}
