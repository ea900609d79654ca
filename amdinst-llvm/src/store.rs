//! What was made or found out before, and is the same until what it came from is another: a file each, named
//! by a hash of all that it was made from. A file that is not whole is as good as none. What was not asked
//! for in a long time makes room.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of all files that are left when a link ends.
const ROOM: u64 = 64 << 20;

/// The 128-bit hash of bytes.
pub fn hash(bytes: &[u8]) -> u128 {
    twox_hash::XxHash3_128::oneshot(bytes)
}

/// A directory of such files.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
}

/// What a thing was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(u128);

impl Key {
    /// The key of what these words and texts make.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut all = Vec::new();
        for word in words {
            all.extend((word.len() as u64).to_le_bytes());
            all.extend(word.as_bytes());
        }
        Self(hash(&all))
    }
}

impl Store {
    /// The store in a directory, which need not be there.
    pub fn within(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The store of an output: beside it, and named after it.
    pub fn of(output: &Path) -> Self {
        let mut name = output.file_name().map_or_else(OsString::new, ToOwned::to_owned);
        name.push(".units");
        Self::within(output.with_file_name(name))
    }

    fn path(&self, Key(key): Key) -> PathBuf {
        self.directory.join(format!("{key:032x}"))
    }

    /// The bytes that are stored under a key, if they are whole.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let mut bytes = fs::read(&path).ok()?;
        let check = bytes.split_off(bytes.len().checked_sub(size_of::<u128>())?);
        if check != hash(&bytes).to_le_bytes() {
            return None;
        }
        // For `make_room`. It is no harm if a file system keeps no times.
        let _ = fs::File::options()
            .append(true)
            .open(&path)
            .and_then(|file| file.set_modified(SystemTime::now()));
        Some(bytes)
    }

    /// Stores something. A store that cannot be written to stores nothing.
    pub fn put(&self, key: Key, bytes: &[u8]) {
        let write = || {
            fs::create_dir_all(&self.directory)?;
            let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
            file.write_all(bytes)?;
            file.write_all(&hash(bytes).to_le_bytes())?;
            file.persist(self.path(key))?;
            Ok::<_, std::io::Error>(())
        };
        let _ = write();
    }

    /// Removes the files that nobody has asked for the longest, until the rest fits.
    pub fn make_room(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let mut files: Vec<(SystemTime, u64, PathBuf)> = entries
            .flatten()
            .filter_map(|entry| {
                let about = entry.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), entry.path()))
            })
            .collect();
        files.sort_unstable();
        let mut all: u64 = files.iter().map(|(_, size, _)| size).sum();
        for (_, size, path) in files {
            if all <= ROOM {
                break;
            }
            all -= size;
            let _ = fs::remove_file(path);
        }
    }
}

/// Tells one state of a file from another without reading it: its size, and when it was written.
pub fn stamp(path: &Path) -> String {
    let Ok(metadata) = fs::metadata(path) else { return String::new() };
    let written =
        metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{}@{}", metadata.len(), written.as_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_whole_is_found_and_what_is_cut_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::of(&directory.path().join("kernels.elf"));
        let (one, other) = (Key::of(["a", "bc"]), Key::of(["ab", "c"]));
        store.put(one, b"object");
        assert_eq!(store.get(one).as_deref(), Some(&b"object"[..]));
        assert_eq!(store.get(other), None);
        let path = store.path(one);
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            assert_eq!(store.get(one), None, "{length}");
        }
    }

    #[test]
    fn the_oldest_make_room() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::of(&directory.path().join("kernels.elf"));
        let keys: Vec<Key> = ["old", "used", "new"].map(|word| Key::of([word])).into();
        for key in &keys {
            store.put(*key, &vec![0; ROOM as usize * 2 / 5]);
        }
        for (age, key) in [3, 2, 1].into_iter().zip(&keys) {
            let file = fs::File::options().append(true).open(store.path(*key)).unwrap();
            file.set_modified(SystemTime::now() - std::time::Duration::from_secs(age)).unwrap();
        }
        assert!(store.get(keys[0]).is_some());
        store.make_room();
        let there: Vec<bool> = keys.iter().map(|key| store.get(*key).is_some()).collect();
        assert_eq!(there, [true, false, true]);
    }
}
