//! What `replay --list` prints.

use std::fmt::Write as _;

use amdinst_replay::{Archive, Choice, Launches};
use amdinst_text::{count, shown};
use serde::Serialize;

use super::human::{self, sizes};
use super::view::SCHEMA;

/// The launches of an archive: the JSON form.
#[derive(Debug, Serialize)]
pub(super) struct ListView {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Who recorded it.
    pub recorder: &'static str,
    /// Events of all processes.
    pub events: u64,
    /// The launches that are asked for.
    pub launches: Vec<ListedView>,
    /// Functions that were called and are not replayed.
    pub not_replayed: Vec<FunctionView>,
}

/// A launch.
#[derive(Debug, Serialize)]
pub(super) struct ListedView {
    /// Its number, from 1.
    pub launch: u64,
    /// The process, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The number of its event.
    pub event: u64,
    /// The kernel's name.
    pub kernel: String,
    /// Workgroups in x, y, z.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in x, y, z.
    pub block: [u32; 3],
    /// The processor of its code object, if it can be told.
    pub target: Option<String>,
    /// Bytes of the allocations that its arguments point into.
    pub bytes: u64,
}

/// A function that is not replayed.
#[derive(Debug, Serialize)]
pub(super) struct FunctionView {
    /// Its name.
    pub function: &'static str,
    /// How often it was called.
    pub calls: u64,
}

impl ListView {
    /// The chosen launches of an archive.
    pub(super) fn new(archive: &Archive, launches: &Launches, choice: &Choice) -> Self {
        let chosen = launches.launches.iter().filter(|one| choice.takes(one.number, &one.kernel));
        let view = |one: &amdinst_replay::Listed| ListedView {
            launch: one.number,
            process: archive.processes.get(one.process).and_then(|process| process.name.clone()),
            event: one.event,
            kernel: one.kernel.clone(),
            grid: one.grid,
            block: one.block,
            target: one.processor.clone(),
            bytes: one.bytes,
        };
        let not_replayed = launches.not_replayed.iter();
        Self {
            schema: SCHEMA,
            recorder: archive.kind.name(),
            events: launches.events,
            launches: chosen.map(view).collect(),
            not_replayed: not_replayed.map(|(&function, &calls)| FunctionView { function, calls }).collect(),
        }
    }

    /// For people.
    pub(super) fn human(&self) -> String {
        let mut rows =
            vec![["launch", "event", "kernel", "grid", "block", "target", "bytes"].map(str::to_owned)];
        for one in &self.launches {
            let of = one.process.as_ref().map_or(String::new(), |process| format!("{process}: "));
            rows.push([
                one.launch.to_string(),
                format!("{of}{}", one.event),
                shown(&one.kernel).to_string(),
                sizes(one.grid),
                sizes(one.block),
                one.target.clone().unwrap_or_else(|| "?".to_owned()),
                one.bytes.to_string(),
            ]);
        }
        let mut text = human::table(&rows);
        for FunctionView { function, calls } in &self.not_replayed {
            let _ = writeln!(text, "not replayed: {function} ({})", count(*calls as usize, "call"));
        }
        let _ = writeln!(
            text,
            "{}, {}, recorded by {}",
            count(self.events as usize, "event"),
            count(self.launches.len(), "launch"),
            self.recorder
        );
        text
    }
}
