//! `run --waves`: the counters of every wave, a line each.

use std::io::{BufWriter, Write as _};
use std::path::Path;

use amdinst_core::counters::{BlockCounts, WaveRecord};
use amdinst_core::report::Counts;
use serde::Serialize;

use super::report::EachWave;
use crate::exit::{CommandResult, Exit, OrExit as _};
use crate::together;

/// A wave: one line of JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    workgroup: [u32; 3],
    wave: u32,
    /// The wave reached its end; else its counters mean nothing.
    flushed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sites: Vec<Site>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    blocks: &'a [BlockCounts],
    #[serde(skip_serializing_if = "Option::is_none")]
    ticks: Option<u64>,
}

/// A site that the wave came to.
#[derive(Debug, Serialize)]
struct Site {
    id: u32,
    #[serde(flatten)]
    counts: Counts,
}

impl<'a> Line<'a> {
    fn new(record: &'a WaveRecord) -> Self {
        let sites = (0..).zip(&record.sites).filter(|(_, counts)| counts.executions > 0);
        Self {
            workgroup: record.workgroup,
            wave: record.wave,
            flushed: record.flushed,
            sites: sites.map(|(id, counts)| Site { id, counts: (*counts).into() }).collect(),
            blocks: &record.blocks,
            ticks: record.time.map(|time| time.ticks()),
        }
    }
}

/// Lets `run` give each wave's counters, and writes them to a file, whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write<T>(path: &Path, run: impl FnOnce(&mut EachWave<'_>) -> T) -> CommandResult<T> {
    let mut result = None;
    let written = together::write(path, |file| {
        let mut out = BufWriter::new(file);
        result = Some(run(&mut |_, records| {
            for record in records {
                amdinst_text::json::to_writer(&mut out, &Line::new(record))?;
                out.write_all(b"\n")?;
            }
            Ok(())
        }));
        out.flush()
    });
    written.or_exit_with(Exit::OutputFailed, || format!("cannot write {}", path.display()))?;
    result.ok_or("nothing has run").map_err(anyhow::Error::msg).or_exit(Exit::OutputFailed)
}
