//! Source lines of instructions, from DWARF: functions with their inline chain, files, lines and columns.
//!
//! Everything is read when a [`SourceMap`] is made, so that a look-up is two short searches and a walk
//! outwards from the innermost scope, needs no lock, and a damaged section is reported once.

pub(super) mod entries;
mod files;
pub(super) mod leb;
mod names;
mod program;
mod ranges;
mod rows;
mod scopes;
pub(super) mod sections;
mod strides;

use std::ops::Range;
use std::sync::Arc;

use super::CodeObject;
pub(crate) use names::Name;

/// Rows that are looked through for the line of one without, at most.
const ROWS_BACK: usize = 64;

/// What an address's frames go by: addresses with equal spots have equal frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The line table's row, by number.
    row: u32,
    /// The innermost scope, by number.
    scope: u32,
    /// The symbol that names the outermost scope, by number, if debug information does not.
    symbol: u32,
}

/// The number of none.
const NONE: u32 = u32::MAX;

/// Leaves what is within two bounds of a range of addresses.
fn narrow(range: &mut Range<u64>, start: u64, end: u64) {
    *range = range.start.max(start)..range.end.min(end);
}

/// A frame of the source location of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function: demangled if it is a Rust name, else the name in the source. `None` if DWARF names none.
    pub function: Option<Arc<str>>,
    /// Its mangled name, if it has one.
    pub linkage_name: Option<Arc<str>>,
    /// The file, with the compilation directory if it is relative. Empty if unknown.
    pub file: Arc<str>,
    /// The line, from 1. 0 if unknown.
    pub line: u32,
    /// The column in bytes, from 1. 0 if unknown.
    pub column: u32,
    /// The instruction itself has no line (the compiler gave it line 0), and this is the line before it in
    /// the same function.
    pub approximate: bool,
}

impl Frame {
    /// `at FILE:12:9, in saxpy`, as far as it is known. The file is the caller's, who may know a shorter name
    /// for it.
    pub fn place(&self, file: &str) -> String {
        let mut text = format!("at {file}");
        for number in [self.line, self.column].into_iter().take_while(|&number| number > 0) {
            text.push_str(&format!(":{number}"));
        }
        if let Some(function) = &self.function {
            text.push_str(&format!(", in {function}"));
        }
        text
    }
}

/// A [`Frame`] by numbers, which cost nothing to copy. [`SourceMap::function`] and [`SourceMap::file`] have
/// their texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameNumbers {
    /// The function, if DWARF or a symbol names one. Several numbers may stand for one name.
    pub name: Option<u32>,
    /// The file. Several numbers may stand for one path.
    pub file: u32,
    /// As in [`Frame`].
    pub line: u32,
    /// As in [`Frame`].
    pub column: u32,
    /// As in [`Frame`].
    pub approximate: bool,
}

/// Debug information that cannot be read. The caller can go on without source lines.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "debug information: {part}: {problem}; build again with debug information, or go on without source lines"
)]
pub struct LinesError {
    /// Which section or unit.
    pub part: String,
    /// Its problem.
    pub problem: String,
}

/// Leaves what is on the address's side of a range's bounds; whether that is inside.
fn narrow_to(around: &mut Range<u64>, range: &Range<u64>, pc: u64) -> bool {
    let is_inside = range.contains(&pc);
    if is_inside {
        narrow(around, range.start, range.end);
    } else if pc < range.start {
        narrow(around, 0, range.start);
    } else {
        narrow(around, range.end, u64::MAX);
    }
    is_inside
}

/// The source locations of a code object.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    rows: rows::Rows,
    /// Paths of files, by the number that rows and scopes have of them.
    files: Vec<Arc<str>>,
    functions: scopes::Functions,
    /// Code ranges and names of the symbol table, in order of address: compilers that are asked for line
    /// tables only leave out functions into which nothing was inlined, and mangled names altogether.
    symbols: Vec<(Range<u64>, Name)>,
}

impl SourceMap {
    /// Reads the debug information of a code object. Without any the map is empty.
    ///
    /// # Errors
    /// [`LinesError`] if it is damaged.
    pub fn new(object: &CodeObject) -> Result<Self, LinesError> {
        let sections = sections::Sections::read(object)?;
        if sections.is_empty() {
            return Ok(Self::default());
        }
        let units = sections::Units::read(&sections)?;
        let text = object.code_span();
        let kernels = object
            .kernels
            .iter()
            .filter(|kernel| !kernel.code.is_empty())
            .map(|kernel| (&kernel.code, &kernel.name));
        let functions = object.functions.iter().map(|function| (&function.code, &function.name));
        let mut symbols: Vec<_> = kernels
            .chain(functions)
            .map(|(code, name)| (code.clone(), Name::new(Some(Arc::from(name.as_str())), None)))
            .collect();
        symbols.sort_by_key(|(code, _)| code.start);
        let mut files = files::Files::new(&units);
        Ok(Self {
            rows: rows::read(&units, &text, &mut files)?,
            functions: scopes::Functions::read(&units, &text, &mut files)?,
            files: files.into_paths(),
            symbols,
        })
    }

    /// Whether there is no source location at all.
    pub fn is_empty(&self) -> bool {
        self.rows.as_slice().is_empty()
    }

    /// The source location of an instruction: the innermost inlined function first, the function proper last.
    /// Each frame but the first stands at the call that was inlined. Empty if nothing is known of the
    /// address.
    pub fn frames(&self, pc: u64) -> Vec<Frame> {
        let frame = |numbers: FrameNumbers| {
            let name = numbers.name.map(|number| self.name(number));
            Frame {
                function: name.and_then(|name| name.function.clone()),
                linkage_name: name.and_then(|name| name.linkage.clone()),
                file: Arc::clone(self.file(numbers.file)),
                line: numbers.line,
                column: numbers.column,
                approximate: numbers.approximate,
            }
        };
        self.numbered_frames(pc).into_iter().map(frame).collect()
    }

    /// [`SourceMap::frames`] by numbers, where there are many of them.
    pub fn numbered_frames(&self, pc: u64) -> Vec<FrameNumbers> {
        let row = self.rows.at(pc);
        let scope = self.functions.at(pc);
        if row.is_none() && scope.is_none() {
            return Vec::new();
        }
        let frame = |name: Option<u32>, place: SourceLocation| FrameNumbers {
            name,
            file: place.file,
            line: place.line,
            column: place.column,
            approximate: place.approximate,
        };
        // From the innermost function to the outermost; each inlined one says where it was called.
        let mut place = row.map(|row| self.place(row, scope)).unwrap_or_default();
        let mut frames = Vec::new();
        for (_, scope) in self.functions.outwards(scope) {
            let is_named =
                scope.call.is_some() || self.functions.names()[scope.name as usize].linkage.is_some();
            let symbol = if is_named { None } else { self.symbol(pc) };
            frames.push(frame(Some(symbol.unwrap_or(scope.name)), place));
            place = scope.call.unwrap_or_default();
        }
        if frames.is_empty() {
            frames.push(frame(self.symbol(pc), place));
        }
        frames
    }

    /// What [`SourceMap::frames`] goes by at an address, and the addresses around it where that is the same.
    pub fn spot(&self, pc: u64) -> (Spot, Range<u64>) {
        let (row, mut around) = self.rows.around(pc);
        let (scope, alike) = self.functions.around(pc);
        narrow(&mut around, alike.start, alike.end);
        let symbol = if self.functions.is_named(scope) { None } else { self.symbol_around(pc, &mut around) };
        let number = |index: Option<usize>| index.map_or(NONE, |index| index as u32);
        (Spot { row: number(row), scope: scope.unwrap_or(NONE), symbol: number(symbol) }, around)
    }

    /// The file with a number in [`FrameNumbers`].
    pub fn file(&self, number: u32) -> &Arc<str> {
        &self.files[number as usize]
    }

    /// The function with a number in [`FrameNumbers`], as [`Frame::function`] has it.
    pub fn function(&self, number: u32) -> Option<&Arc<str>> {
        self.name(number).function.as_ref()
    }

    /// The names of scopes come first, then those of symbols.
    fn name(&self, number: u32) -> &Name {
        let (scopes, number) = (self.functions.names(), number as usize);
        scopes.get(number).unwrap_or_else(|| &self.symbols[number - scopes.len()].1)
    }

    /// The number of the name of the symbol that holds an address.
    fn symbol(&self, pc: u64) -> Option<u32> {
        let symbol = self.symbol_around(pc, &mut (0..u64::MAX))?;
        Some((self.functions.names().len() + symbol) as u32)
    }

    /// The number of the symbol that holds an address; `around` becomes the addresses in it that this one
    /// holds, or none.
    fn symbol_around(&self, pc: u64, around: &mut Range<u64>) -> Option<usize> {
        let next = self.symbols.partition_point(|(code, _)| code.start <= pc);
        if let Some((code, _)) = self.symbols.get(next) {
            narrow(around, 0, code.start);
        }
        let index = next.checked_sub(1)?;
        narrow_to(around, &self.symbols[index].0, pc).then_some(index)
    }

    /// The location of a row in the innermost scope around it; by an earlier row of that scope if it has no
    /// line itself.
    fn place(&self, index: usize, scope: Option<u32>) -> SourceLocation {
        let rows = self.rows.as_slice();
        let row = &rows[index];
        if row.line != 0 {
            return row.location();
        }
        let before = rows[..index].iter().rev().take(ROWS_BACK);
        let of_scope = before
            .take_while(|other| other.sequence == row.sequence)
            .filter(|other| other.line != 0)
            .find_map(|other| self.within(other, scope));
        SourceLocation { approximate: true, ..of_scope.unwrap_or_default() }
    }

    /// Where a row stands in a scope: its own place, or that of the call that was inlined there. `None` if it
    /// is not in the scope.
    fn within(&self, row: &rows::Row, scope: Option<u32>) -> Option<SourceLocation> {
        let mut place = Some(row.location());
        for (number, inner) in self.functions.outwards(self.functions.at(row.start)) {
            if scope == Some(number) {
                return place;
            }
            place = inner.call;
        }
        if scope.is_none() { place } else { None }
    }
}

impl rows::Row {
    fn location(&self) -> SourceLocation {
        SourceLocation { file: self.file, line: self.line, column: self.column, approximate: false }
    }
}

/// A location without its function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SourceLocation {
    /// The number of its file, 0 if it is unknown.
    file: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
    approximate: bool,
}
