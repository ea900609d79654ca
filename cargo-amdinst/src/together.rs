//! Files that are whole or not there, and several that belong together put in their places at once.
//!
//! Each is written beside its place under a name of [`PREFIX`], with a lock that ends with its writer. Only
//! when all are whole do they take their names, one writer of a directory at a time. What a killed writer
//! left is known by its lock, and the next one removes it.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir, TempPath};

/// What names of unfinished files and directories begin with.
pub const PREFIX: &str = ".amdinst-";

/// Files up to this size are on the disk before they take their names. What is larger takes too long for
/// that.
const SYNCED: u64 = 64 << 20;

/// A lock on a directory, for as long as this lives. It is there for order alone: where a file system has no
/// locks, there is none.
#[derive(Debug)]
pub struct DirectoryLock(Option<File>);

impl DirectoryLock {
    /// Waits until nobody else has it.
    pub fn take(directory: &Path) -> Self {
        let open = File::open(directory).ok();
        Self(open.filter(|directory| directory.lock().is_ok()))
    }
}

/// Several files, unfinished until [`Together::put`].
#[derive(Debug, Default)]
pub struct Together {
    /// The first one: its lock says that all of them have a writer.
    lock: Option<File>,
    /// Where each is, and its place; the first one first. Closed, for there may be more than a process may
    /// have open.
    written: Vec<(TempPath, PathBuf)>,
    /// What stands in the places of some until the first one is in its place.
    between: Vec<(TempPath, PathBuf)>,
    stale: Vec<PathBuf>,
}

impl Together {
    /// Adds a file, with what `write` writes. What a link leads to is meant, not the link. A file that is
    /// there already keeps its mode and its owner.
    ///
    /// # Errors
    /// What `write` gives; no file can be made in that directory; the file that is there may not be written,
    /// or would change its owner.
    pub fn add(&mut self, path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let path = whole(path);
        let file = self.write(&path, write)?;
        self.written.push((file, path));
        Ok(())
    }

    /// Adds a file that goes with the first one. `between` makes, of the bytes that are there now, a file
    /// that fits both the old first one and the new one. So a reader finds two files that belong together at
    /// any moment, even if this process is killed.
    ///
    /// # Errors
    /// As those of [`Together::add`].
    pub fn add_companion(
        &mut self,
        path: &Path,
        contents: &[u8],
        between: impl FnOnce(&[u8]) -> Option<Vec<u8>>,
    ) -> io::Result<()> {
        let path = whole(path);
        if let Some(both) = fs::read(&path).ok().and_then(|old| between(&old)) {
            let file = self.write(&path, |file| file.write_all(&both))?;
            self.between.push((file, path.clone()));
        }
        let file = self.write(&path, |file| file.write_all(contents))?;
        self.written.push((file, path));
        Ok(())
    }

    /// An unfinished file, to stand at `path`.
    fn write(
        &mut self,
        path: &Path,
        write: impl FnOnce(&mut File) -> io::Result<()>,
    ) -> io::Result<TempPath> {
        let there = replaceable(path)?;
        let mut file = unfinished(directory_of(path), self.written.first().map(|(first, _)| &**first))?;
        write(file.as_file_mut())?;
        if let Some(there) = there {
            keep(file.as_file(), &there)?;
        }
        // Some file systems write what has no place on the disk yet when a name is taken from another file:
        // not between two names.
        if file.as_file().metadata()?.len() <= SYNCED {
            file.as_file().sync_data()?;
        }
        // The first one's lock lasts until all are in their places.
        self.lock.get_or_insert(file.as_file().try_clone()?);
        Ok(file.into_temp_path())
    }

    /// Notes a file that belongs to those that are replaced, and is to go with them.
    pub fn remove(&mut self, path: PathBuf) {
        self.stale.push(path);
    }

    /// Puts all in their places: what may stand there for the old first file as well as for the new one, then
    /// that, then the others.
    ///
    /// # Errors
    /// A name cannot be taken.
    pub fn put(self) -> io::Result<()> {
        let Some((_, first)) = self.written.first() else { return Ok(()) };
        let _lock = DirectoryLock::take(directory_of(first));
        for (file, path) in self.between.into_iter().chain(self.written) {
            file.persist(path).map_err(|error| error.error)?;
        }
        for old in self.stale {
            removed(fs::remove_file(old))?;
        }
        Ok(())
    }
}

/// Writes one file whole or not at all, as [`Together::add`] says.
///
/// # Errors
/// As those of [`Together::add`] and [`Together::put`].
pub fn write(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut together = Together::default();
    together.add(path, write)?;
    together.put()
}

/// The path of what a name leads to, or would stand at: two of one directory begin alike.
fn whole(path: &Path) -> PathBuf {
    let beside = || Some(directory_of(path).canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(beside).unwrap_or_else(|| path.to_owned())
}

/// A file that is there already and may be written.
///
/// # Errors
/// It may not be written.
pub fn replaceable(path: &Path) -> io::Result<Option<Metadata>> {
    match OpenOptions::new().write(true).open(path) {
        Ok(file) => file.metadata().map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // A program that runs is replaced by another file and runs on.
        Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => path.metadata().map(Some),
        Err(error) => Err(error),
    }
}

/// Gives a file the owner and the mode of another.
#[cfg(unix)]
fn keep(file: &File, there: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (there.uid(), there.gid()) {
        let kept = fchown(file, Some(there.uid()), Some(there.gid()));
        kept.map_err(|error| {
            let (uid, gid) = (there.uid(), there.gid());
            let message = format!(
                "it belongs to user {uid} and group {gid}, and would not any more: write to another file"
            );
            io::Error::new(error.kind(), message)
        })?;
    }
    // After the owner: a change of that takes bits away.
    file.set_permissions(fs::Permissions::from_mode(there.permissions().mode() & 0o7777))
}

/// A new file in a directory, locked, under a name that tells it is unfinished; after that of the writer's
/// first one, if there is one in that directory. What others left unfinished there is removed.
fn unfinished(directory: &Path, first: Option<&Path>) -> io::Result<NamedTempFile> {
    // Nobody takes it for left behind between its making and its lock.
    let lock = DirectoryLock::take(directory);
    let mut prefix = OsString::from(PREFIX);
    match first.filter(|first| directory_of(first) == directory).and_then(Path::file_name) {
        Some(first) => {
            prefix = first.to_owned();
            prefix.push(".");
        }
        None if lock.0.is_some() => remove_left_behind(directory),
        None => {}
    }
    let made = tempfile::Builder::new().prefix(&prefix).permissions(for_all()).tempfile_in(directory);
    let file = made.map_err(|error| no_file_in(directory, &error))?;
    // Without a lock it may be taken for left behind, where there are none for anybody.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// A new directory under a name that marks it as unfinished, and a lock that shows that its maker lives.
/// Without another name, the directory goes with its maker.
///
/// # Errors
/// It cannot be made.
pub fn unfinished_directory(place: &Path) -> io::Result<(TempDir, File)> {
    fs::create_dir_all(place)?;
    let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(place)?;
    let lock = File::open(directory.path())?;
    // Without locks nobody removes it either.
    let _ = lock.try_lock();
    Ok((directory, lock))
}

/// Removes unfinished files whose writers are gone. Whoever calls has the directory's lock.
fn remove_left_behind(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        let first = rest.split_once('.').map_or(rest, |(first, _)| first);
        let first = directory.join(format!("{PREFIX}{first}"));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && (!first.exists() || is_left_behind(&first)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a file or directory is one whose maker has it no longer locked.
pub fn is_left_behind(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => false,
    }
}

/// A temporary file is its owner's alone; a result is for all whom the umask lets.
#[cfg(unix)]
fn for_all() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// The error without the temporary file's name, which says nothing to who has asked for another.
fn no_file_in(directory: &Path, error: &io::Error) -> io::Error {
    let directory = directory.display();
    let message = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no directory {directory}, or no file can be made in it"),
        kind => format!("no file can be made in {directory}: {kind}"),
    };
    io::Error::new(error.kind(), message)
}

/// The directory that a file stands in.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// What came of removing something, which may not have been there.
///
/// # Errors
/// The system's error.
pub fn removed(outcome: io::Result<()>) -> io::Result<()> {
    outcome.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_writer_left_is_removed_and_what_a_live_one_writes_is_not() {
        let place = tempfile::tempdir().unwrap();
        let live = unfinished(place.path(), None).unwrap();
        fs::write(place.path().join(".amdinst-left"), "half").unwrap();
        write(&place.path().join("a"), |file| file.write_all(b"one")).unwrap();
        let live_name = live.path().file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(names(place.path()), [live_name, "a".to_owned()]);
        drop(live);
        assert_eq!(names(place.path()), ["a"]);
    }

    #[test]
    fn mode_stays_and_what_may_not_be_written_is_not_replaced() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a");
        fs::write(&path, "one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write(&path, |file| file.write_all(b"two")).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o640);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o440)).unwrap();
        let again = write(&path, |file| file.write_all(b"three"));
        // Who may write everything may write this.
        if OpenOptions::new().write(true).open(&path).is_ok() {
            again.unwrap();
        } else {
            assert_eq!(again.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
            assert_eq!(fs::read(&path).unwrap(), b"two");
        }
        assert_eq!(names(place.path()), ["a"]);
    }

    #[test]
    fn a_failure_while_one_is_written_leaves_all_as_they_were() {
        let place = tempfile::tempdir().unwrap();
        let [map, object] = ["map", "object"].map(|name| place.path().join(name));
        for path in [&map, &object] {
            fs::write(path, "old").unwrap();
        }
        let mut together = Together::default();
        together.add(&map, |file| file.write_all(b"new")).unwrap();
        let full = together.add(&object, |_| Err(io::ErrorKind::StorageFull.into())).unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        drop(together);
        assert!([&map, &object].iter().all(|path| fs::read(path).unwrap() == b"old"));
        assert_eq!(names(place.path()), ["map", "object"]);
    }

    #[test]
    fn of_many_files_none_is_taken_for_left_behind_while_others_are_written() {
        let place = tempfile::tempdir_in(".").unwrap();
        let relative = Path::new(".").join(place.path().file_name().unwrap());
        let mut together = Together::default();
        let expected: Vec<_> = (0..5).map(|number| number.to_string()).collect();
        for name in &expected {
            together.add(&relative.join(name), |file| file.write_all(name.as_bytes())).unwrap();
            write(&relative.join("other"), |file| file.write_all(b"other")).unwrap();
        }
        together.put().unwrap();
        fs::remove_file(relative.join("other")).unwrap();
        assert_eq!(names(&relative), expected);
    }

    #[test]
    fn what_goes_with_a_file_fits_the_old_one_and_the_new_one_until_that_is_there() {
        let place = tempfile::tempdir().unwrap();
        let [object, map] = ["object", "map"].map(|name| place.path().join(name));
        let both = |old: &[u8]| Some([b"for ", old, b" and two"].concat());
        for (text, between) in [("one", None), ("two", Some("for one and two"))] {
            let mut together = Together::default();
            together.add(&object, |file| file.write_all(text.as_bytes())).unwrap();
            together.add_companion(&map, text.as_bytes(), both).unwrap();
            let made = together.between.iter().map(|(file, _)| fs::read_to_string(file).unwrap());
            assert_eq!(made.collect::<Vec<_>>(), between.into_iter().collect::<Vec<_>>());
            together.put().unwrap();
            assert!([&object, &map].iter().all(|path| fs::read(path).unwrap() == text.as_bytes()));
        }
        assert_eq!(names(place.path()), ["map", "object"]);
    }

    #[test]
    fn two_writers_leave_a_pair_of_one_of_them() {
        let place = tempfile::tempdir().unwrap();
        let paths = ["map", "object"].map(|name| place.path().join(name));
        let write = |text: &str| {
            for _ in 0..200 {
                let mut together = Together::default();
                for path in &paths {
                    together.add(path, |file| file.write_all(text.as_bytes())).unwrap();
                }
                together.put().unwrap();
                let _lock = DirectoryLock::take(place.path());
                let [one, other] = [0, 1].map(|at: usize| fs::read(&paths[at]).unwrap());
                assert_eq!(one, other);
            }
        };
        std::thread::scope(|scope| {
            for text in ["one", "other"] {
                scope.spawn(move || write(text));
            }
        });
        assert_eq!(names(place.path()), ["map", "object"]);
    }
}
