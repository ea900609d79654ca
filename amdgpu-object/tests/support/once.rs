//! Work that several tests of a program need, done once.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What was made once, by what it was made of. Starting a tool takes longer than most that tests do.
pub(crate) struct Once<K, V>(Mutex<BTreeMap<K, Arc<OnceLock<V>>>>);

impl<K: Ord, V: Clone> Once<K, V> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// What was made for the key; others who want the same wait for it.
    pub(crate) fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        let slot = self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone();
        slot.get_or_init(make).clone()
    }
}

/// Whether a tool can be run.
pub(crate) fn installed(tool: &'static str) -> bool {
    static INSTALLED: Once<&str, bool> = Once::new();
    let runs = || Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    INSTALLED.get(tool, runs)
}
