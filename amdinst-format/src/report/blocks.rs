//! How often blocks ran, and with how many lanes: the report of
//! [`Probe::Blocks`](crate::counters::Probe::Blocks).
//!
//! # Coverage
//! The probe map gives each block the source lines of its instructions, with the lines of the calls that they
//! were inlined into. A line ran if a lane was active in one of its blocks.
//!
//! Only instructions that do nothing in inactive lanes count for `lines`. Scalar instructions, accesses to
//! one lane by its number, and whole-wave mode do not: register spills are made of these, and with them lines
//! that no work-item runs would look run at `-O0`. A line that has only such instructions is in
//! `scalar_lines`. It ran if a wave passed.
//!
//! A test compares the lines of C functions with gcov's on the host, and at `-O0` the lanes with gcov's
//! counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::counters::{BlockCounts, WaveRecord};
use crate::probes::{BlockProbe, FileLines};

use super::columns::{self, Column, Fit, Layout, Line};
use super::{Location, WaveId, is_library_file, ratio};

/// One block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockReport {
    /// Its number in the kernel's probe map.
    pub id: u32,
    /// Address of its first instruction in the original code object.
    pub pc: u64,
    /// The address after its last one.
    pub end_pc: u64,
    /// Instructions.
    pub instructions: u32,
    /// Where its first instruction with a place stands in the source.
    #[serde(flatten)]
    pub location: Location,
    /// The source lines that its instructions come from which do something in active lanes alone, those of
    /// Rust's own library left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<FileLines>,
    /// Lines that only its other instructions come from: active lanes tell nothing of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scalar_lines: Vec<FileLines>,
    /// Symbol of the kernel or function it stands in.
    pub function: String,
    /// Summed over waves.
    #[serde(flatten)]
    pub counts: BlockCounts,
    /// Wave by wave, in the order of launch; waves that never came here are left out.
    pub waves: Vec<WaveBlockReport>,
    /// Of a large launch: how many others ran it.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub waves_left_out: u64,
}

/// What one wave did in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaveBlockReport {
    /// Which wave.
    #[serde(flatten)]
    pub id: WaveId,
    /// Its counts.
    #[serde(flatten)]
    pub counts: BlockCounts,
}

impl BlockReport {
    pub(super) fn new(block: &BlockProbe, location: Location, records: &[WaveRecord]) -> Self {
        let of_wave = |record: &WaveRecord| {
            let counts = *record.blocks.get(block.id as usize)?;
            let id = WaveId { workgroup: record.workgroup, wave: record.wave };
            (counts.executions > 0).then_some(WaveBlockReport { id, counts })
        };
        let waves: Vec<_> = records.iter().filter(|record| record.flushed).filter_map(of_wave).collect();
        let mut counts = BlockCounts::default();
        waves.iter().for_each(|wave| counts += wave.counts);
        Self {
            id: block.id,
            pc: block.pc,
            end_pc: block.end_pc,
            instructions: block.instructions,
            location,
            lines: own_lines(&block.lines),
            scalar_lines: own_lines(&block.scalar_lines),
            function: (*block.function).to_owned(),
            counts,
            waves,
            waves_left_out: 0,
        }
    }

    /// Active lanes an execution.
    pub fn average_lanes(&self) -> f64 {
        ratio(self.counts.lanes, self.counts.executions)
    }
}

/// Source lines put together by file, those of Rust's own library left out.
pub fn own_lines<'a>(lines: impl IntoIterator<Item = &'a FileLines>) -> Vec<FileLines> {
    let own = lines.into_iter().filter(|of_file| !is_library_file(&of_file.file));
    FileLines::of_places(own.flat_map(FileLines::places))
}

const COLUMNS: [Column; 5] = [
    Column { head: "source", right: false, fit: Fit::Path },
    Column { head: "executions", right: true, fit: Fit::Keep },
    Column { head: "lanes of each", right: true, fit: Fit::Keep },
    Column { head: "instructions", right: true, fit: Fit::Keep },
    Column { head: "blocks", right: true, fit: Fit::Drop(0) },
];

/// For people: by source place, the executions of its blocks, the lanes of each, and the instructions that
/// waves ran in them, the most first. Blocks of a dependency are one line, unless all are shown. Ends with a
/// newline.
pub(super) fn table(blocks: &[BlockReport], layout: &Layout) -> String {
    #[derive(Default)]
    struct Row {
        counts: BlockCounts,
        instructions: u64,
        blocks: usize,
    }
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    for block in blocks {
        let place = match block.location.origin().package() {
            _ if layout.all => block.location.to_string(),
            None => block.location.short(),
            Some(package) => package.to_owned(),
        };
        let row = rows.entry(place).or_default();
        row.counts += block.counts;
        row.instructions += block.counts.executions * u64::from(block.instructions);
        row.blocks += 1;
    }
    let mut rows: Vec<_> = rows.into_iter().collect();
    // Stable: places are in order.
    rows.sort_by_key(|(_, row)| std::cmp::Reverse(row.instructions));
    let line = |(place, Row { counts, instructions, blocks }): (String, Row)| {
        let lanes = format!("{:.1}", ratio(counts.lanes, counts.executions));
        let figures = [counts.executions.to_string(), lanes, instructions.to_string(), blocks.to_string()];
        Line { cells: [place].into_iter().chain(figures).collect(), rest: String::new() }
    };
    let lines: Vec<Line> = rows.into_iter().map(line).collect();
    columns::table(&COLUMNS, &lines, layout)
}
