//! Crates that were compiled once: `core`, and what packages take from registries.
//!
//! `core` is compiled for each processor and profile, and is most of the first build in a target directory. So what cargo made of crates
//! that do not change is kept in the user's cache, one entry for all that may change what cargo makes. A target directory that has
//! nothing of a profile yet begins with that entry. Cargo checks each of these files as it checks its own, by hash and by time,
//! and compiles again what does not fit. Without a cache all is as it would be.

use std::collections::BTreeSet;
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use amdinst_core::instrument::digest;
use tempfile::TempDir;

use super::flags::Flags;
use super::package::KernelPackage;
use super::profile;
use crate::cache;
use crate::together::{PREFIX, is_left_behind, unfinished_directory};
use crate::toolchain::{TARGET, Toolchain};

/// The format of entries, a part of their names.
const FORMAT: u32 = 1;

/// Entries that are kept: the ones used last. Each takes some 130 MB.
const MOST: usize = 8;

/// The file of an entry with the paths and sizes of all others.
const CONTENTS: &str = "contents.json";

/// Digits of cargo's hashes, which end the names of its files and directories.
const HASH: usize = 16;

/// A crate that does not change as long as its version does not: one of a registry, of a commit, or of the toolchain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unchanging {
    /// The package's name.
    package: String,
    /// The crate's name in its files.
    krate: String,
}

impl Unchanging {
    /// What an artifact of a package with that id (as cargo writes it) is, if it does not change.
    pub(super) fn of(id: &str, target: &str) -> Option<Self> {
        let (source, rest) = id.split_once('#')?;
        let is_fixed = ["registry+", "sparse+", "git+"].iter().any(|kind| source.starts_with(kind));
        let is_of_toolchain = source.contains("/lib/rustlib/src/rust/library/");
        let last = source.split(['?']).next()?.rsplit('/').next()?;
        let package = rest.split_once('@').map_or(last, |(name, _)| name).to_owned();
        (is_fixed || is_of_toolchain).then(|| Self { package, krate: target.replace('-', "_") })
    }

    /// Whether it is `core`, for the sake of which all this is done.
    pub(super) fn is_core(&self) -> bool {
        self.package == "core"
    }

    /// Whether a file or directory with that name, in that one of cargo's directories, is its.
    fn has(&self, place: &str, name: &str) -> bool {
        let (name, owner) = match place {
            "deps" => {
                let stem = name.split('.').next().unwrap_or(name);
                (stem, &self.krate)
            }
            _ => (name, &self.package),
        };
        let of = |name: &str| {
            let hash = name.strip_prefix(&**owner).and_then(|rest| rest.strip_prefix('-'));
            hash.is_some_and(|hash| hash.len() == HASH && hash.bytes().all(|digit| digit.is_ascii_hexdigit()))
        };
        of(name) || name.strip_prefix("lib").is_some_and(of)
    }
}

/// The entry for a package, and the target directory that it is for.
#[derive(Debug)]
pub(super) struct Entry {
    place: PathBuf,
    target_directory: PathBuf,
    /// Cargo's directories of the profile in that, for the device and for the host.
    profile: [PathBuf; 2],
}

impl Entry {
    /// The entry, if there is a cache.
    pub(super) fn of(
        package: &KernelPackage,
        cpu: &str,
        toolchain: &Toolchain,
        flags: &Flags,
    ) -> Option<Self> {
        let place = cache::directory().ok()?.join("crates");
        let variables = env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy();
            ["CARGO_PROFILE_", "CARGO_BUILD_", "RUSTC"].iter().any(|prefix| name.starts_with(prefix))
        });
        let variables: BTreeSet<_> = variables.collect();
        let profiles = profile::tables(&package.workspace_root);
        let overrides = profile::overrides(&package.workspace_root, &package.profile);
        let (rustc, version) = (&toolchain.rustc, &toolchain.version);
        let what = format!(
            "{FORMAT}\n{rustc:?}\n{version:?}\n{cpu}\n{}\n{flags:?}\n{overrides:?}\n{variables:?}\n{profiles}",
            package.profile
        );
        let hash = digest(what.as_bytes());
        let hash = hash.split_once(':').map_or(&*hash, |(_, digits)| digits);
        let directory = PathBuf::from(profile::directory(&package.profile));
        Some(Self {
            place: place.join(&hash[..HASH]),
            target_directory: package.build_directory(cpu),
            profile: [Path::new(TARGET).join(&directory), directory],
        })
    }

    /// Has a target directory with nothing of the profile begin with what is kept. Whatever goes wrong, cargo compiles.
    pub(super) fn begin(&self) {
        remove_left_behind(&self.target_directory);
        if self.profile.iter().any(|profile| self.target_directory.join(profile).exists()) {
            return;
        }
        let Some(files) = self.contents() else { return };
        if self.copy_out(&files).is_err() {
            // Cut short, or of another format: the next build makes another one.
            let _ = fs::remove_dir_all(&self.place);
        }
    }

    /// The files of the entry by their paths in it, with their sizes.
    fn contents(&self) -> Option<Vec<(PathBuf, u64)>> {
        let path = self.place.join(CONTENTS);
        let contents = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        // When it was used last.
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(contents)
    }

    fn copy_out(&self, files: &[(PathBuf, u64)]) -> io::Result<()> {
        let (unfinished, _lock) = unfinished_directory(&self.target_directory)?;
        for (path, size) in files {
            if path.is_absolute() || path.components().any(|part| part.as_os_str() == "..") {
                return Err(io::Error::other("a path that leads out of the entry"));
            }
            let from = self.place.join(path);
            if from.metadata()?.len() != *size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            duplicate(&from, &unfinished.path().join(path))?;
        }
        for profile in &self.profile {
            let (from, to) = (unfinished.path().join(profile), self.target_directory.join(profile));
            if from.is_dir() {
                fs::create_dir_all(to.parent().unwrap_or(&self.target_directory))?;
                // Another build may have begun in the meantime: then its directory stays.
                let _ = fs::rename(from, to);
            }
        }
        Ok(())
    }

    /// Keeps what cargo made of these crates in the target directory. Whatever goes wrong, nothing is kept.
    pub(super) fn keep(&self, crates: &BTreeSet<Unchanging>) {
        let _ = self.copy_in(crates);
        if let Some(entries) = self.place.parent() {
            remove_left_behind(entries);
            remove_all_but(entries, MOST);
        }
    }

    fn copy_in(&self, crates: &BTreeSet<Unchanging>) -> io::Result<()> {
        // No other cargo changes what is copied. It locks files of these names, the way that `File` does.
        let mut locks = Vec::new();
        for profile in &self.profile {
            for name in [".cargo-lock", ".cargo-build-lock", ".cargo-artifact-lock"] {
                if let Ok(lock) = File::open(self.target_directory.join(profile).join(name)) {
                    lock.try_lock()?;
                    locks.push(lock);
                }
            }
        }
        let entries = self.place.parent().unwrap_or(&self.place);
        let (unfinished, _lock) = unfinished_directory(entries)?;
        let mut files = Vec::new();
        for profile in &self.profile {
            for part in ["deps", "build", ".fingerprint"] {
                let part_of_profile = profile.join(part);
                let from = self.target_directory.join(&part_of_profile);
                for entry in fs::read_dir(from).into_iter().flatten() {
                    let name = entry?.file_name();
                    let is_kept =
                        name.to_str().is_some_and(|name| crates.iter().any(|krate| krate.has(part, name)));
                    if is_kept {
                        self.copy_tree(&part_of_profile.join(name), &unfinished, &mut files)?;
                    }
                }
            }
        }
        if files.is_empty() {
            return Ok(());
        }
        let contents = serde_json::to_vec(&files)?;
        fs::write(unfinished.path().join(CONTENTS), contents)?;
        let _ = fs::remove_dir_all(&self.place);
        fs::rename(unfinished.path(), &self.place)?;
        let _renamed = unfinished.keep();
        Ok(())
    }

    /// Copies a file or a directory of the target directory, and notes what files there are.
    fn copy_tree(&self, path: &Path, to: &TempDir, files: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
        let from = self.target_directory.join(path);
        let metadata = from.symlink_metadata()?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&from)? {
                self.copy_tree(&path.join(entry?.file_name()), to, files)?;
            }
        } else if metadata.is_file() {
            duplicate(&from, &to.path().join(path))?;
            files.push((path.to_owned(), metadata.len()));
        }
        Ok(())
    }
}

/// Removes the directories of makers that were killed.
fn remove_left_behind(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) && is_left_behind(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Makes a file stand at another place, too, with its time, which cargo looks at.
fn duplicate(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    // The compiler makes a library under another name and renames it, so the file itself never changes.
    let is_library = from.extension().is_some_and(|extension| extension == "rlib" || extension == "rmeta");
    if is_library && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(from.metadata()?.modified()?)
}

/// Removes entries, the ones used longest ago first, until so many are left.
fn remove_all_but(directory: &Path, most: usize) {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let used = path.join(CONTENTS).metadata().and_then(|metadata| metadata.modified());
            entries.push((used.ok(), path));
        }
    }
    entries.sort();
    for (_, path) in entries.iter().rev().skip(most) {
        let _ = fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn krate(package: &str) -> Unchanging {
        Unchanging { package: package.to_owned(), krate: package.replace('-', "_") }
    }

    #[test]
    fn what_stands_in_a_directory_of_the_user_may_change() {
        let library = "path+file:///t/lib/rustlib/src/rust/library/core#0.0.0";
        assert_eq!(Unchanging::of(library, "core"), Some(krate("core")));
        let registry = "registry+https://github.com/rust-lang/crates.io-index#proc-macro2@1.0.1";
        assert_eq!(Unchanging::of(registry, "proc-macro2"), Some(krate("proc-macro2")));
        let commit = "git+https://example.org/a-b.git?rev=1#0.1.0";
        assert_eq!(Unchanging::of(commit, "a-b").map(|krate| krate.krate), Some("a_b".to_owned()));
        assert_eq!(Unchanging::of("path+file:///home/me/kernels#0.1.0", "kernels"), None);
    }

    #[test]
    fn names_of_files_say_whose_they_are() {
        let macros = krate("proc-macro2");
        assert!(macros.has("deps", "libproc_macro2-0123456789abcdef.rlib"));
        assert!(macros.has("deps", "proc_macro2-0123456789abcdef.d"));
        assert!(macros.has("build", "proc-macro2-0123456789abcdef"));
        assert!(!macros.has("deps", "libproc_macro2_more-0123456789abcdef.rlib"));
        assert!(!krate("core").has("deps", "libcore-x-0123456789abcdef.rlib"));
    }

    fn entry(root: &Path, target: &str) -> Entry {
        Entry {
            place: root.join("cache/0123456789abcdef"),
            target_directory: root.join(target),
            profile: [PathBuf::from("gpu/release"), PathBuf::from("release")],
        }
    }

    fn built(root: &Path, target: &str) -> PathBuf {
        let directory = root.join(target).join("gpu/release");
        for (path, text) in [
            ("deps/libcore-0123456789abcdef.rlib", "core"),
            ("deps/libmine-0123456789abcdef.rlib", "mine"),
            (".fingerprint/core-0123456789abcdef/lib-core", "hash"),
        ] {
            fs::create_dir_all(directory.join(path).parent().unwrap()).unwrap();
            fs::write(directory.join(path), text).unwrap();
        }
        directory
    }

    #[test]
    fn a_new_target_directory_begins_with_what_does_not_change() {
        let root = tempfile::tempdir().unwrap();
        let first = built(root.path(), "first");
        entry(root.path(), "first").keep(&BTreeSet::from([krate("core")]));
        entry(root.path(), "second").begin();
        let second = root.path().join("second/gpu/release");
        for path in ["deps/libcore-0123456789abcdef.rlib", ".fingerprint/core-0123456789abcdef/lib-core"] {
            let modified = |directory: &Path| directory.join(path).metadata().unwrap().modified().unwrap();
            assert_eq!(fs::read(first.join(path)).unwrap(), fs::read(second.join(path)).unwrap());
            assert_eq!(modified(&first), modified(&second));
        }
        assert!(!second.join("deps/libmine-0123456789abcdef.rlib").exists());
        assert_eq!(fs::read_dir(root.path().join("second")).unwrap().count(), 1, "nothing is left behind");

        // What is there stays as it is.
        fs::remove_file(second.join("deps/libcore-0123456789abcdef.rlib")).unwrap();
        entry(root.path(), "second").begin();
        assert!(!second.join("deps/libcore-0123456789abcdef.rlib").exists());
    }

    #[test]
    fn an_entry_that_is_cut_short_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        built(root.path(), "first");
        let first = entry(root.path(), "first");
        first.keep(&BTreeSet::from([krate("core")]));
        fs::write(first.place.join("gpu/release/.fingerprint/core-0123456789abcdef/lib-core"), "").unwrap();
        entry(root.path(), "second").begin();
        assert!(!root.path().join("second/gpu").exists());
        assert!(!first.place.exists());
    }

    #[test]
    fn what_was_used_last_is_kept() {
        let root = tempfile::tempdir().unwrap();
        for (name, age) in [("a", 1), ("b", 3), ("c", 2)] {
            fs::create_dir(root.path().join(name)).unwrap();
            let contents = File::create(root.path().join(name).join(CONTENTS)).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(100 - age);
            contents.set_modified(time).unwrap();
        }
        fs::create_dir(root.path().join(".amdinst-killed")).unwrap();
        remove_left_behind(root.path());
        remove_all_but(root.path(), 2);
        let mut names: Vec<_> =
            fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a", "c"]);
    }
}
