//! Archives of ROCm's HIP Record & Replay, format version 3.
//!
//! A folder holds `events.bin`, an event for each call of the program that succeeded ([`log`]), `blobs/` with
//! the contents of buffers and `code_objects/`, both by their hashes, and `manifest.json`. Events have their
//! fields without padding, little-endian ([`fields`]), by the number of the function ([`functions`]); the
//! meaning of each is in `decode`. Where several processes were recorded, each has a folder `pid-*`.
//!
//! Pointers and handles are those of the recorded process. What a pointer argument of the host leads to is
//! recorded for few functions, so some calls cannot be replayed from any archive of this version; they are
//! told by name.

mod decode;
pub mod fields;
pub mod functions;
pub mod log;
mod manifest;

use std::fs;

use crate::calls::Event;
use crate::error::ArchiveError;
use crate::folder::{Folder, FolderError};
use crate::process::Process;

/// The log's name in a folder.
pub const EVENTS: &str = "events.bin";

/// Whether a folder is the archive of a process.
pub(crate) fn is_process(folder: &Folder) -> bool {
    folder.has(EVENTS)
}

/// The folders of processes in one of several, by the number of the process.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn processes(folder: &Folder) -> Result<Vec<(String, Folder)>, ArchiveError> {
    let failed = |source| FolderError::Io { path: folder.path().to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.path()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(number) = name.to_str().and_then(|name| name.strip_prefix("pid-")?.parse::<u64>().ok())
        else {
            continue;
        };
        // A link may lead anywhere.
        let process = Folder::new(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_process(&process) {
            found.push((number, process));
        }
    }
    found.sort_by_key(|(number, _)| *number);
    Ok(found.into_iter().map(|(number, process)| (format!("pid {number}"), process)).collect())
}

/// Reads the archive of a process.
///
/// # Errors
/// It has no log, or one of another version.
pub(crate) fn read(name: Option<String>, folder: Folder) -> Result<Process, ArchiveError> {
    let log = log::read(&folder)?;
    let mut events: Vec<Event> = log.records.iter().map(decode::event).collect();
    // Threads write in the order in which they come to it; the numbers have the order of the calls.
    events.sort_by_key(|event| event.number);
    let mut notes = Vec::new();
    match log.end {
        log::End::Whole => {}
        log::End::Between => {
            notes.push("its log has no end mark: the recorded program did not end well".to_owned())
        }
        log::End::Torn { at, left } => {
            notes.push(format!("{EVENTS} breaks off in the event at byte {at} ({left} bytes left): events before it are replayed"));
        }
    }
    let recorded_on = manifest::processors(&folder);
    Ok(Process { name, folder, events, notes, recorded_on })
}
