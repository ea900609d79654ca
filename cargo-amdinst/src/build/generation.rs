//! The files of one build of a code object: a directory that is whole or not there, and never changes.
//!
//! Its name is the hash of what is in it. The manifest says which one counts; so whoever reads the manifest
//! first finds files of one build, whenever others build again or are killed. Generations that the manifest
//! does not name are removed when the next one is written, and, if they were in use then, by whoever used
//! them last.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use amdinst_core::instrument::digest;
use amdinst_core::manifest::Manifest;
use tempfile::TempDir;

use crate::together::{DirectoryLock, PREFIX, directory_of, is_left_behind, unfinished_directory};

/// The manifest's name.
pub(super) const MANIFEST: &str = "manifest.json";

/// Digits of a name.
const DIGITS: usize = 16;

/// One that is being written.
#[derive(Debug)]
pub(super) struct Generation {
    directory: TempDir,
    /// Says that it has a writer.
    lock: File,
    contents: String,
}

impl Generation {
    /// An empty one, to stand in `place`.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn new(place: &Path) -> io::Result<Self> {
        let (directory, lock) = unfinished_directory(place)?;
        for_all(directory.path())?;
        Ok(Self { directory, lock, contents: String::new() })
    }

    /// Adds a file.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.contents.push_str(&format!("{name} {}\n", digest(bytes)));
        fs::write(self.directory.path().join(name), bytes)
    }

    /// Gives it its name, which is returned. If there is one of that name, then with the same contents.
    ///
    /// # Errors
    /// The name cannot be taken.
    pub(super) fn finish(self) -> io::Result<String> {
        let hash = digest(self.contents.as_bytes());
        let name = hash.split_once(':').map_or(&*hash, |(_, digits)| digits)[..DIGITS].to_owned();
        let place = self.directory.path().parent().unwrap_or(Path::new(".")).join(&name);
        if !place.is_dir() {
            fs::rename(self.directory.path(), place)?;
            let _renamed = self.directory.keep();
        }
        drop(self.lock);
        Ok(name)
    }
}

/// A temporary directory is its owner's alone; artifacts are for everybody, as cargo's are.
#[cfg(unix)]
fn for_all(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755))
}

/// Generations of a manifest that are not removed as long as this lives.
#[derive(Debug, Default)]
pub struct InUse {
    locks: Vec<File>,
    artifacts: PathBuf,
}

impl InUse {
    /// The generations that a manifest names, in the directory of the package's artifacts.
    pub(super) fn of(manifest: &Manifest, artifacts: &Path) -> Self {
        let open = named(manifest).into_iter().filter_map(|path| File::open(artifacts.join(path)).ok());
        let locks = open.filter(|directory| directory.try_lock_shared().is_ok()).collect();
        Self { locks, artifacts: artifacts.to_owned() }
    }
}

impl Drop for InUse {
    /// Another build may have come in between, and could not remove them.
    fn drop(&mut self) {
        let locks = std::mem::take(&mut self.locks);
        if !locks.is_empty() {
            drop(locks);
            // What another build makes is not named yet.
            let _lock = DirectoryLock::take(directory_of(&self.artifacts));
            remove_others(&self.artifacts);
        }
    }
}

/// The generations that a manifest names, from the directory of the package's artifacts.
fn named(manifest: &Manifest) -> BTreeSet<PathBuf> {
    let originals = manifest.code_objects.iter().map(|artifact| Path::new(&artifact.original));
    originals.filter_map(Path::parent).map(Path::to_owned).collect()
}

/// Removes generations that the manifest does not name and nobody uses, and what killed builds left. It is
/// the manifest that is there now: another build may have written it.
pub(super) fn remove_others(artifacts: &Path) {
    let manifest = fs::read(artifacts.join(MANIFEST)).ok();
    let Some(manifest) = manifest.and_then(|bytes| Manifest::from_json(&bytes).ok()) else { return };
    let named = named(&manifest);
    let directories = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path())
    };
    for place in directories(artifacts).flat_map(|cpu| directories(&cpu)) {
        for path in directories(&place) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let is_generation = name.len() == DIGITS && name.bytes().all(|digit| digit.is_ascii_hexdigit());
            let is_named = path.strip_prefix(artifacts).is_ok_and(|path| named.contains(path));
            if (is_generation && !is_named || name.starts_with(PREFIX)) && is_left_behind(&path) {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use amdinst_core::manifest::{Artifact, SCHEMA};

    use super::*;

    fn written(place: &Path, text: &str) -> String {
        let mut generation = Generation::new(place).unwrap();
        generation.write("k.elf", text.as_bytes()).unwrap();
        generation.finish().unwrap()
    }

    fn manifest(generation: &str) -> Manifest {
        let artifact = Artifact {
            cpu: "gfx90a".to_owned(),
            profile: "release".to_owned(),
            original: format!("gfx90a/release/{generation}/k.elf"),
            kernels: Vec::new(),
            instrumented: Vec::new(),
            inputs: Vec::new(),
            origin: None,
        };
        Manifest { schema: SCHEMA, package: "k".to_owned(), code_objects: vec![artifact] }
    }

    #[test]
    fn what_the_manifest_does_not_name_goes_unless_it_is_in_use() {
        let artifacts = tempfile::tempdir().unwrap();
        let place = artifacts.path().join("gfx90a/release");
        let [one, other] = ["one", "other"].map(|text| written(&place, text));
        assert_eq!(written(&place, "one"), one);
        fs::create_dir(place.join(".amdinst-killed")).unwrap();
        let running = Generation::new(&place).unwrap();
        let used = InUse::of(&manifest(&one), artifacts.path());
        let bytes = serde_json::to_vec(&manifest(&other)).unwrap();
        fs::write(artifacts.path().join(MANIFEST), bytes).unwrap();
        remove_others(artifacts.path());
        assert!(place.join(&one).join("k.elf").exists() && place.join(&other).join("k.elf").exists());
        assert!(running.directory.path().exists() && !place.join(".amdinst-killed").exists());
        drop(running);
        // Whoever used it removes it.
        drop(used);
        assert!(!place.join(&one).exists() && place.join(&other).exists());
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    }
}
