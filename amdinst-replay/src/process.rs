//! A process of an archive.

use crate::calls::Event;
use crate::folder::Folder;

/// A recorded process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name, where the archive has several.
    pub name: Option<String>,
    /// Where its files are.
    pub folder: Folder,
    /// Its calls, in order.
    pub events: Vec<Event>,
    /// Oddities of its archive.
    pub notes: Vec<String>,
    /// The processors that it was recorded on, if the archive says so.
    pub recorded_on: Vec<String>,
}
