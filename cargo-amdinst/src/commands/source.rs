//! Lines of source files, for people: those that are on this machine.

use std::collections::HashMap;

/// Source files that were asked for.
#[derive(Debug, Default)]
pub(super) struct Sources(HashMap<String, Option<String>>);

impl Sources {
    /// A line of a file, counted from 1. `None` if the file is not there or has no such line.
    pub(super) fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        let text = self.0.entry(file.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(file).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        });
        text.as_ref()?.lines().nth((line as usize).checked_sub(1)?)
    }

    /// Files that were asked for and are not there, by name.
    pub(super) fn missing(&self) -> Vec<&str> {
        let missing = self.0.iter().filter(|(_, text)| text.is_none());
        let mut names: Vec<_> = missing.map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names
    }
}
