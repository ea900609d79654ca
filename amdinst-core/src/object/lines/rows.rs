//! The line programs of all units as one sorted table.

use std::ops::Range;

use super::LinesError;
use super::files::Files;
use super::program::Machine;
use super::sections::Units;

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

/// The rows that describe `.text`, in order of address.
pub(super) fn read(units: &Units<'_>, text: &Range<u64>, files: &mut Files) -> Result<Vec<Row>, LinesError> {
    // A row takes about five bytes of a line program. Memory that is not written to costs nothing.
    let mut rows = Vec::with_capacity(units.line_bytes() / 4);
    let mut sequence = 0;
    for index in 0..units.units.len() {
        unit(units, index, files, text, &mut sequence, &mut rows)
            .map_err(|error| units.damaged(index, &error))?;
    }
    let order = |row: &Row| (row.start, row.sequence);
    if !rows.is_sorted_by_key(order) {
        rows.sort_by_key(order);
    }
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
    Ok(rows)
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
    let mut machine = Machine::new(header);
    // Mostly a row has the file of the last one.
    let mut last_file = None;
    let mut first = rows.len();
    while let Some(row) = machine.next()? {
        if rows.len() > first
            && let Some(last) = rows.last_mut()
        {
            last.end = row.address;
        }
        if row.ends {
            close(rows, first, text);
            first = rows.len();
            *sequence += 1;
            continue;
        }
        let file = match last_file {
            Some((file, number)) if file == row.file => number,
            _ => files.number(units, index, header, row.file),
        };
        last_file = Some((row.file, file));
        rows.push(Row {
            start: row.address,
            end: row.address,
            file,
            line: row.line.try_into().unwrap_or(0),
            column: row.column.try_into().unwrap_or(0),
            sequence: *sequence,
        });
    }
    // A sequence without an end says nothing about its last row.
    close(rows, first, text);
    *sequence += 1;
    Ok(())
}

/// Ends a sequence. Functions that the linker discarded have theirs at address 0, from where a long one can reach into
/// `.text`: so the whole sequence counts, not its rows.
fn close(rows: &mut Vec<Row>, first: usize, text: &Range<u64>) {
    let (Some(start), Some(end)) = (rows.get(first), rows.last()) else { return };
    if text.contains(&start.start) && end.end <= text.end {
        // Of several rows at one address the last holds; the others are empty.
        let mut kept = first;
        for index in first..rows.len() {
            if rows[index].start < rows[index].end {
                rows.swap(kept, index);
                kept += 1;
            }
        }
        rows.truncate(kept);
    } else {
        rows.truncate(first);
    }
}
