//! Crates that were compiled once: `core`, and what packages take from registries.
//!
//! `core` is compiled for each processor and profile, and with the crates that tests need it is all but the
//! whole first build in a target directory. So what cargo made of crates that do not change is kept in the
//! user's cache, one entry for all that may change what cargo makes. A target directory that has nothing of a
//! profile yet begins with that entry. Cargo checks each of these files as it checks its own, by hash and by
//! time, and compiles again what does not fit. Without a cache all is as it would be.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use amdinst_core::instrument::digest;
use amdinst_llvm::cache;
use amdinst_llvm::toolchain::{TARGET, Toolchain};
use cargo_metadata::MetadataCommand;

use super::flags::Flags;
use super::package::KernelPackage;
use super::profile;
use crate::together::{PREFIX, is_left_behind, unfinished_directory};

/// The format of entries, a part of their names.
const FORMAT: u32 = 2;

/// Entries that are kept: the ones used last. One of kernels takes some 130 MB.
const MOST: usize = 12;

/// The file of an entry with the paths and sizes of all others.
const CONTENTS: &str = "contents.json";

/// The package of the harness.
const HARNESS: &str = "amdinst-harness";

/// What backups look for, see <https://bford.info/cachedir>.
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n";

/// Digits of cargo's hashes, which end the names of its files and directories.
const HASH: usize = 16;

/// A crate that does not change as long as its version does not: one of a registry, of a commit, or of the
/// toolchain.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unchanging {
    /// The package's name.
    package: String,
    /// The crate's name in its files.
    krate: String,
}

impl Unchanging {
    /// What an artifact of a package with that id (as cargo writes it) is, if it does not change.
    pub fn of(id: &str, target: &str) -> Option<Self> {
        let (source, rest) = id.split_once('#')?;
        let is_fixed = ["registry+", "sparse+", "git+"].iter().any(|kind| source.starts_with(kind));
        let is_of_toolchain = source.contains("/lib/rustlib/src/rust/library/");
        let last = source.split(['?']).next()?.rsplit('/').next()?;
        let package = rest.split_once('@').map_or(last, |(name, _)| name).to_owned();
        (is_fixed || is_of_toolchain).then(|| Self { package, krate: target.replace('-', "_") })
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

/// The crates that the harness of a package's tests is built from and that do not change; none if cargo
/// cannot say.
pub fn of_harness(package: &KernelPackage, cargo: &OsStr) -> BTreeSet<Unchanging> {
    let mut command = MetadataCommand::new();
    command
        .cargo_path(cargo)
        .manifest_path(&package.manifest_path)
        .other_options(package.lock_options.clone());
    let Ok(metadata) = command.exec() else { return BTreeSet::new() };
    let nodes = metadata.resolve.as_ref().map_or(&[][..], |resolve| &resolve.nodes);
    let nodes: BTreeMap<_, _> = nodes.iter().map(|node| (&node.id, &node.dependencies)).collect();
    let harness =
        metadata.packages.iter().filter(|package| package.name == HARNESS).map(|package| &package.id);
    let (mut found, mut left) = (BTreeSet::new(), harness.collect::<Vec<_>>());
    while let Some(id) = left.pop() {
        if found.insert(id) {
            left.extend(nodes.get(id).into_iter().copied().flatten());
        }
    }
    let packages = metadata.packages.iter().filter(|package| found.contains(&package.id));
    let targets =
        packages.flat_map(|package| package.targets.iter().map(|target| (&package.id.repr, &target.name)));
    targets.filter_map(|(id, target)| Unchanging::of(id, target)).collect()
}

/// An entry, and the target directory that it is for.
#[derive(Debug)]
pub struct Entry {
    place: PathBuf,
    target_directory: PathBuf,
    /// Cargo's directories of the profile in that.
    profile: Vec<PathBuf>,
    /// None of these was there at the beginning.
    is_new: bool,
}

impl Entry {
    /// The entry for the kernels of a package, if there is a cache.
    pub(super) fn of_kernels(
        package: &KernelPackage,
        cpu: &str,
        toolchain: &Toolchain,
        flags: &Flags,
    ) -> Option<Self> {
        let overrides = profile::overrides(&package.workspace_root, &package.profile, package.level);
        let what = format!("{:?} {:?} {cpu} {flags:?} {overrides:?}", toolchain.rustc, toolchain.version);
        let directory = PathBuf::from(profile::directory(&package.profile));
        let profiles = vec![Path::new(TARGET).join(&directory), directory];
        Self::new(package, &package.profile, &what, package.build_directory(cpu), profiles)
    }

    /// The entry for the tests of a package, which the user's `cargo` builds, if there is a cache and a use
    /// for it.
    pub fn of_tests(package: &KernelPackage, cargo: &OsStr) -> Option<Self> {
        let directory = PathBuf::from(profile::directory("test"));
        // Asking costs a process.
        if package.target_directory.join(&directory).exists() {
            return None;
        }
        let version = Command::new(cargo).arg("-vV").output().ok()?;
        let flags = ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"].map(env::var_os);
        let what = format!("{} {flags:?}", String::from_utf8_lossy(&version.stdout));
        Self::new(package, "test", &what, package.target_directory.clone(), vec![directory])
    }

    fn new(
        package: &KernelPackage,
        profile: &str,
        what: &str,
        target_directory: PathBuf,
        profiles: Vec<PathBuf>,
    ) -> Option<Self> {
        let place = cache::directory().ok()?.join("crates");
        let variables = env::vars_os().filter(|(name, _)| {
            let name = name.to_string_lossy();
            ["CARGO_PROFILE_", "CARGO_BUILD_", "RUSTC"].iter().any(|prefix| name.starts_with(prefix))
        });
        let variables: BTreeSet<_> = variables.collect();
        let tables = profile::tables(&package.workspace_root, profile);
        let what = format!("{FORMAT}\n{profile}\n{what}\n{variables:?}\n{tables}");
        let hash = digest(what.as_bytes());
        let hash = hash.split_once(':').map_or(&*hash, |(_, digits)| digits);
        let is_new = !profiles.iter().any(|profile| target_directory.join(profile).exists());
        Some(Self { place: place.join(&hash[..HASH]), target_directory, profile: profiles, is_new })
    }

    /// Copies the kept files into a target directory that has nothing of the profile. Whether there was
    /// nothing to copy: cargo compiles all then, as it does if anything goes wrong.
    pub fn begin(&self) -> bool {
        remove_left_behind(&self.target_directory);
        if !self.is_new {
            return false;
        }
        let Some(files) = self.contents() else { return true };
        let copied = self.copy_out(&files);
        if copied.is_err() {
            // Cut short, or of another format: the next build makes another one.
            let _ = fs::remove_dir_all(&self.place);
        }
        copied.is_err()
    }

    /// The files of the entry by their paths in it, with their sizes.
    fn contents(&self) -> Option<BTreeMap<PathBuf, u64>> {
        let path = self.place.join(CONTENTS);
        let contents = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
        // When it was used last.
        let _ = File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::now()));
        Some(contents)
    }

    fn copy_out(&self, files: &BTreeMap<PathBuf, u64>) -> io::Result<()> {
        let (unfinished, _lock) = unfinished_directory(&self.target_directory)?;
        // Cargo does so in a directory that it makes.
        if let Ok(mut tag) = File::create_new(self.target_directory.join("CACHEDIR.TAG")) {
            tag.write_all(CACHE_TAG)?;
        }
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

    /// Keeps what cargo made of crates that do not change, if the target directory was new. Whatever goes
    /// wrong, nothing is kept.
    pub fn keep(&self, crates: impl FnOnce() -> BTreeSet<Unchanging>) {
        if self.is_new {
            let _ = self.copy_in(&crates());
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
        let files = self.files(crates)?;
        let kept = self.contents().unwrap_or_default();
        let is_kept = |(path, size): (&PathBuf, &u64)| {
            let modified =
                |root: &Path| root.join(path).metadata().and_then(|metadata| metadata.modified()).ok();
            kept.get(path) == Some(size) && modified(&self.place) == modified(&self.target_directory)
        };
        if files.iter().all(is_kept) {
            return Ok(());
        }
        let entries = self.place.parent().unwrap_or(&self.place);
        let (unfinished, _lock) = unfinished_directory(entries)?;
        for path in files.keys() {
            duplicate(&self.target_directory.join(path), &unfinished.path().join(path))?;
        }
        fs::write(unfinished.path().join(CONTENTS), serde_json::to_vec(&files)?)?;
        let _ = fs::remove_dir_all(&self.place);
        fs::rename(unfinished.path(), &self.place)?;
        let _renamed = unfinished.keep();
        remove_left_behind(entries);
        remove_all_but(entries, MOST);
        Ok(())
    }

    /// The files of these crates in the target directory, by their paths in it, with their sizes.
    fn files(&self, crates: &BTreeSet<Unchanging>) -> io::Result<BTreeMap<PathBuf, u64>> {
        let mut files = BTreeMap::new();
        for profile in &self.profile {
            for part in ["deps", "build", ".fingerprint"] {
                let place = profile.join(part);
                for entry in fs::read_dir(self.target_directory.join(&place)).into_iter().flatten() {
                    let name = entry?.file_name();
                    let is_theirs =
                        name.to_str().is_some_and(|name| crates.iter().any(|krate| krate.has(part, name)));
                    if is_theirs {
                        self.add_files(place.join(name), &mut files)?;
                    }
                }
            }
        }
        Ok(files)
    }

    /// Adds a file of the target directory, or the files of a directory.
    fn add_files(&self, path: PathBuf, files: &mut BTreeMap<PathBuf, u64>) -> io::Result<()> {
        let place = self.target_directory.join(&path);
        let metadata = place.symlink_metadata()?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&place)? {
                self.add_files(path.join(entry?.file_name()), files)?;
            }
        } else if metadata.is_file() {
            files.insert(path, metadata.len());
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
        let profile = [PathBuf::from("gpu/release"), PathBuf::from("release")];
        Entry {
            place: root.join("cache/0123456789abcdef"),
            target_directory: root.join(target),
            is_new: !root.join(target).join("gpu/release").exists(),
            profile: profile.to_vec(),
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
        let new = entry(root.path(), "first");
        assert!(new.begin(), "there is nothing yet");
        let first = built(root.path(), "first");
        new.keep(|| BTreeSet::from([krate("core")]));
        assert!(!entry(root.path(), "second").begin());
        let second = root.path().join("second/gpu/release");
        for path in ["deps/libcore-0123456789abcdef.rlib", ".fingerprint/core-0123456789abcdef/lib-core"] {
            let modified = |directory: &Path| directory.join(path).metadata().unwrap().modified().unwrap();
            assert_eq!(fs::read(first.join(path)).unwrap(), fs::read(second.join(path)).unwrap());
            assert_eq!(modified(&first), modified(&second));
        }
        assert!(!second.join("deps/libmine-0123456789abcdef.rlib").exists());
        let left = fs::read_dir(root.path().join("second")).unwrap().map(|entry| entry.unwrap().file_name());
        let left: BTreeSet<_> = left.collect();
        assert_eq!(left, ["CACHEDIR.TAG", "gpu"].map(Into::into).into(), "nothing is left behind");

        // What is there stays as it is.
        fs::remove_file(second.join("deps/libcore-0123456789abcdef.rlib")).unwrap();
        assert!(!entry(root.path(), "second").begin());
        assert!(!second.join("deps/libcore-0123456789abcdef.rlib").exists());
    }

    #[test]
    fn an_entry_that_is_cut_short_is_not_used() {
        let root = tempfile::tempdir().unwrap();
        let first = entry(root.path(), "first");
        built(root.path(), "first");
        first.keep(|| BTreeSet::from([krate("core")]));
        fs::write(first.place.join("gpu/release/.fingerprint/core-0123456789abcdef/lib-core"), "").unwrap();
        assert!(entry(root.path(), "second").begin());
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
