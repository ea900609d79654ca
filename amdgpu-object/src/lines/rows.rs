//! The line programs of all units as one sorted table.

use std::ops::Range;

use super::LinesError;
use super::files::Files;
use super::program;
use super::sections::Units;
use super::strides::Strides;

/// A row of the line table: a range of instructions with one source location.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Virtual address of the first.
    pub(super) start: u64,
    /// The address behind the last.
    pub(super) end: u64,
    /// The number of its file in [`Files`].
    pub(super) file: u32,
    /// The line, from 1. 0 if the compiler gave none.
    pub(super) line: u32,
    /// The column, from 1. 0 is the left edge, or unknown.
    pub(super) column: u32,
    /// Which sequence of the line table it belongs to, from 0: rows of a sequence follow on from one another.
    pub(super) sequence: u32,
}

/// The rows that describe `.text`.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// In order of address; they do not overlap.
    all: Vec<Row>,
    strides: Strides,
}

impl Rows {
    fn new(all: Vec<Row>) -> Self {
        Self { strides: Strides::new(all.iter().map(|row| row.start)), all }
    }

    pub(super) fn as_slice(&self) -> &[Row] {
        &self.all
    }

    /// The number of the row that holds an address.
    pub(super) fn at(&self, pc: u64) -> Option<usize> {
        let index = self.next(pc).checked_sub(1)?;
        (pc < self.all[index].end).then_some(index)
    }

    /// That, and the addresses around it in the same row, or in none.
    pub(super) fn around(&self, pc: u64) -> (Option<usize>, Range<u64>) {
        let next = self.next(pc);
        let end = self.all.get(next).map_or(u64::MAX, |row| row.start);
        match next.checked_sub(1).map(|index| (index, &self.all[index])) {
            Some((index, row)) if pc < row.end => (Some(index), row.start..row.end.min(end)),
            Some((_, row)) => (None, row.end..end),
            None => (None, 0..end),
        }
    }

    /// How many rows start at an address or before it.
    fn next(&self, pc: u64) -> usize {
        self.strides.next(pc, &self.all, |row| row.start)
    }
}

/// The rows that describe `.text`.
pub(super) fn read(units: &Units<'_>, text: &Range<u64>, files: &mut Files) -> Result<Rows, LinesError> {
    // A row takes about five bytes of a line program. Memory that is not written to costs nothing.
    let mut rows = Vec::with_capacity(units.line_bytes() / 4);
    let mut sequence = 0;
    for index in 0..units.units.len() {
        unit(units, index, files, text, &mut sequence, &mut rows)
            .map_err(|error| units.damaged(index, &error))?;
    }
    if !rows.is_sorted_by(|row, next| row.end <= next.start) {
        rows.sort_by_key(|row| (row.start, row.sequence));
        // Sequences of functions that the linker discarded can claim addresses again: the first claim stands.
        let mut end = 0;
        rows.retain_mut(|row: &mut Row| {
            row.start = row.start.max(end);
            let keep = row.start < row.end;
            if keep {
                end = row.end;
            }
            keep
        });
    }
    Ok(Rows::new(rows))
}

fn unit(
    units: &Units<'_>,
    index: usize,
    files: &mut Files,
    text: &Range<u64>,
    sequence: &mut u32,
    rows: &mut Vec<Row>,
) -> gimli::Result<()> {
    let Some(program) = &units.units[index].line_program else { return Ok(()) };
    let header = program.header();
    // Mostly a row has the file of the last one.
    let mut last_file = None;
    let mut first = rows.len();
    program::run(header, |row| {
        let address = row.address;
        let last = rows[first..].last_mut();
        if row.ends {
            if let Some(last) = last {
                last.end = address;
            }
            close(rows, first, text);
            first = rows.len();
            *sequence += 1;
            return;
        }
        let file = match last_file {
            Some((file, number)) if file == row.file => number,
            _ => files.number(units, index, header, row.file),
        };
        last_file = Some((row.file, file));
        let new = Row {
            start: address,
            end: address,
            file,
            line: row.line.try_into().unwrap_or(0),
            column: row.column.try_into().unwrap_or(0),
            sequence: *sequence,
        };
        match last {
            // Of several rows at one address the last holds.
            Some(last) if last.start == address => *last = new,
            Some(last) => {
                last.end = address;
                rows.push(new);
            }
            None => rows.push(new),
        }
    })?;
    // A sequence without an end says nothing about its last row.
    close(rows, first, text);
    *sequence += 1;
    Ok(())
}

/// Ends a sequence. Functions that the linker discarded have theirs at address 0, from where a long one can
/// reach into `.text`: so the whole sequence counts, not its rows.
fn close(rows: &mut Vec<Row>, first: usize, text: &Range<u64>) {
    let (Some(start), Some(end)) = (rows.get(first), rows.last()) else { return };
    if !text.contains(&start.start) || end.end > text.end {
        rows.truncate(first);
    } else if end.start == end.end {
        rows.pop();
    }
}
