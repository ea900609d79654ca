//! The line programs of all units as one sorted table.

use std::ops::Range;
use std::sync::Arc;

use gimli::{ColumnType, LineProgramHeader};

use super::sections::{Slice, Units};
use super::{LinesError, Row};

/// The rows that describe `.text`, in order of address.
pub(super) fn read(units: &Units<'_>, text: &Range<u64>) -> Result<Vec<Row>, LinesError> {
    let mut rows = Vec::new();
    let mut sequence = 0;
    for index in 0..units.units.len() {
        let mut files = Files::new(units, index);
        unit(units, index, &mut files, text, &mut sequence, &mut rows)
            .map_err(|error| units.damaged(index, &error))?;
    }
    let order = |row: &Row| (row.code.start, row.sequence);
    if !rows.is_sorted_by_key(order) {
        rows.sort_by_key(order);
    }
    // Sequences of functions that the linker discarded can claim addresses again: the first claim stands.
    let mut end = 0;
    rows.retain_mut(|row: &mut Row| {
        row.code.start = row.code.start.max(end);
        let keep = row.code.start < row.code.end;
        if keep {
            end = row.code.end;
        }
        keep
    });
    Ok(rows)
}

fn unit<'a>(
    units: &Units<'a>,
    index: usize,
    files: &mut Files<'_, 'a>,
    text: &Range<u64>,
    sequence: &mut u32,
    rows: &mut Vec<Row>,
) -> gimli::Result<()> {
    let Some(program) = units.units[index].line_program.clone() else { return Ok(()) };
    let mut table = program.rows();
    let mut first = rows.len();
    while let Some((header, row)) = table.next_row()? {
        let address = row.address();
        if rows.len() > first
            && let Some(last) = rows.last_mut()
        {
            last.code.end = address;
        }
        if row.end_sequence() {
            close(rows, first, text);
            first = rows.len();
            *sequence += 1;
            continue;
        }
        rows.push(Row {
            code: address..address,
            file: files.path(header, row.file_index()),
            line: row.line().map_or(0, |line| line.get().try_into().unwrap_or(0)),
            column: match row.column() {
                ColumnType::LeftEdge => 0,
                ColumnType::Column(column) => column.get().try_into().unwrap_or(0),
            },
            is_stmt: row.is_stmt(),
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
    if text.contains(&start.code.start) && end.code.end <= text.end {
        // Of several rows at one address the last holds; the others are empty.
        let mut kept = first;
        for index in first..rows.len() {
            if rows[index].code.start < rows[index].code.end {
                rows.swap(kept, index);
                kept += 1;
            }
        }
        rows.truncate(kept);
    } else {
        rows.truncate(first);
    }
}

/// The paths of a unit's files.
pub(super) struct Files<'u, 'a> {
    units: &'u Units<'a>,
    unit: usize,
    /// By number, each composed when it is first asked for.
    paths: Vec<Option<Arc<str>>>,
    none: Arc<str>,
}

impl<'u, 'a> Files<'u, 'a> {
    pub(super) fn new(units: &'u Units<'a>, unit: usize) -> Self {
        // Numbers begin with 0 or 1.
        let program = units.units[unit].line_program.as_ref();
        let numbers = program.map_or(0, |program| program.header().file_names().len() + 1);
        Self { units, unit, paths: vec![None; numbers], none: Arc::from("") }
    }

    /// The path of a file; empty if the table does not have it.
    pub(super) fn path(&mut self, header: &LineProgramHeader<Slice<'a>>, file: u64) -> Arc<str> {
        let number = usize::try_from(file).ok().filter(|&number| number < self.paths.len());
        let Some(number) = number else { return self.none.clone() };
        if let Some(path) = &self.paths[number] {
            return path.clone();
        }
        let path: Arc<str> = Arc::from(self.compose(header, file).unwrap_or_default());
        self.paths[number] = Some(path.clone());
        path
    }

    fn compose(&self, header: &LineProgramHeader<Slice<'a>>, file: u64) -> Option<String> {
        let entry = header.file(file)?;
        let name = self.units.text(self.unit, entry.path_name())?;
        let mut path = String::new();
        let compilation =
            self.units.units[self.unit].comp_dir.as_ref().map(|directory| directory.to_string_lossy());
        let directory = entry.directory(header).and_then(|directory| self.units.text(self.unit, directory));
        for part in [compilation.as_deref(), directory.as_deref(), Some(&*name)].into_iter().flatten() {
            if part.starts_with('/') {
                path.clear();
            } else if !path.is_empty() && !path.ends_with('/') {
                path.push('/');
            }
            path.push_str(part);
        }
        Some(path)
    }
}
