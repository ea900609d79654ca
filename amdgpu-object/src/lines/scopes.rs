//! Functions and what was inlined into them: a tree per function, and a table of which scope an address is
//! in.

use std::ops::Range;

use gimli::{AttributeSpecification, AttributeValue, DwAt, DwForm, DwTag, constants as dw};

use super::entries::Entries;
use super::files::Files;
use super::names::{FunctionNames, Name, origin_place};
use super::ranges;
use super::sections::{Slice, Units};
use super::strides::Strides;
use super::{LinesError, NONE, SourceLocation};

/// A function or an inlined copy of one.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Its name, by number.
    pub(super) name: u32,
    /// Where it was called, if it is an inlined copy.
    pub(super) call: Option<SourceLocation>,
    /// The scope around it, by number; [`NONE`] of a function.
    outer: u32,
}

/// Code of a scope.
#[derive(Clone, Debug)]
struct Piece {
    code: Range<u64>,
    /// By number.
    scope: u32,
}

/// Every function of `.text`.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    /// Each before those inside it.
    scopes: Vec<Scope>,
    /// From which address on an innermost scope holds, by number, in order; [`NONE`] between functions.
    innermost: Vec<(u64, u32)>,
    strides: Strides,
    /// What scopes are called. Copies of one function share a name.
    names: Vec<Name>,
}

/// What is read, before it is put in order.
#[derive(Default)]
struct Reading {
    scopes: Vec<Scope>,
    pieces: Vec<Piece>,
    names: FunctionNames,
}

impl Functions {
    pub(super) fn read(units: &Units<'_>, text: &Range<u64>, files: &mut Files) -> Result<Self, LinesError> {
        let (info, ranges) = (units.info_bytes(), units.range_bytes());
        // About as many as most have. Memory that is not written to costs nothing.
        let mut reading = Reading {
            scopes: Vec::with_capacity(info / 32),
            pieces: Vec::with_capacity(info / 64 + ranges / 4),
            names: FunctionNames::default(),
        };
        for index in 0..units.units.len() {
            reading.unit(units, index, text, files).map_err(|error| units.damaged(index, &error))?;
            if reading.pieces.len() > most_pieces(units) {
                let problem = "its functions share lists of code ranges, far too many for each".to_owned();
                return Err(LinesError { part: units.name(index), problem });
            }
        }
        let Reading { scopes, pieces, names } = reading;
        let innermost = innermost(pieces);
        let strides = Strides::new(innermost.iter().map(|&(start, _)| start));
        Ok(Self { scopes, innermost, strides, names: names.into_names() })
    }

    /// The number of the innermost scope that holds an address.
    pub(super) fn at(&self, pc: u64) -> Option<u32> {
        self.around(pc).0
    }

    /// That, and the addresses around it of which the same is true.
    pub(super) fn around(&self, pc: u64) -> (Option<u32>, Range<u64>) {
        let next = self.strides.next(pc, &self.innermost, |&(start, _)| start);
        let end = self.innermost.get(next).map_or(u64::MAX, |&(start, _)| start);
        match next.checked_sub(1).map(|index| self.innermost[index]) {
            Some((start, scope)) => ((scope != NONE).then_some(scope), start..end),
            None => (None, 0..end),
        }
    }

    /// A scope and those around it, the function last, with their numbers.
    pub(super) fn outwards(&self, scope: Option<u32>) -> impl Iterator<Item = (u32, &Scope)> {
        let numbers = std::iter::successors(scope, |&number| {
            Some(self.scopes[number as usize].outer).filter(|&outer| outer != NONE)
        });
        numbers.map(|number| (number, &self.scopes[number as usize]))
    }

    /// The names of scopes, by number.
    pub(super) fn names(&self) -> &[Name] {
        &self.names
    }

    /// Whether the function around a scope has a name that links.
    pub(super) fn is_named(&self, scope: Option<u32>) -> bool {
        let function = self.outwards(scope).last();
        function.is_some_and(|(_, function)| self.names[function.name as usize].linkage.is_some())
    }
}

/// From which address on which scope is the innermost: of those that hold an address, the one that began
/// last.
fn innermost(mut pieces: Vec<Piece>) -> Vec<(u64, u32)> {
    // Of those that begin together the outer ones come first.
    pieces.sort_by_key(|piece| (piece.code.start, piece.scope));
    let mut sweep = Sweep { table: Vec::with_capacity(pieces.len() * 2), open: Vec::new() };
    for piece in pieces {
        sweep.close(piece.code.start);
        sweep.hold(piece.code.start, piece.scope);
        sweep.open.push(piece);
    }
    sweep.close(u64::MAX);
    sweep.table
}

/// A walk over code in order of address.
struct Sweep {
    /// As [`Functions::innermost`], up to where the walk is.
    table: Vec<(u64, u32)>,
    /// What has begun and may not have ended, the innermost last.
    open: Vec<Piece>,
}

impl Sweep {
    /// Another scope holds from an address on.
    fn hold(&mut self, start: u64, scope: u32) {
        match self.table.last_mut() {
            Some((last, held)) if *last == start => *held = scope,
            Some(&mut (_, held)) if held == scope => {}
            _ => self.table.push((start, scope)),
        }
    }

    /// Ends what ends up to an address; what is around it holds from there on.
    fn close(&mut self, until: u64) {
        while let Some(ended) = self.open.pop_if(|last| last.code.end <= until) {
            let end = ended.code.end;
            while self.open.pop_if(|outer| outer.code.end <= end).is_some() {}
            self.hold(end, self.open.last().map_or(NONE, |outer| outer.scope));
        }
    }
}

impl Reading {
    fn unit<'a>(
        &mut self,
        units: &Units<'a>,
        index: usize,
        text: &Range<u64>,
        files: &mut Files,
    ) -> gimli::Result<()> {
        let mut entries = Entries::new(&units.units[index], is_asked)?;
        // Depths and numbers of the scopes around what is being read: a function, and copies inside it.
        let mut around: Vec<(isize, u32)> = Vec::new();
        while let Some(entry) = entries.next()? {
            while around.pop_if(|&mut (outer, _)| entry.least_depth <= outer).is_some() {}
            let inlined = entry.tag == dw::DW_TAG_inlined_subroutine;
            // An inlined copy outside a function of .text belongs to code that the linker discarded.
            if inlined == around.is_empty() {
                continue;
            }
            let mut told = Told::default();
            told.read(&mut entries)?;
            let scope = self.scopes.len() as u32;
            let before = self.pieces.len();
            self.pieces(units, index, &told, text, scope)?;
            if self.pieces.len() > most_pieces(units) {
                return Ok(());
            }
            if self.pieces.len() == before {
                continue;
            }
            let name = if told.has_name {
                self.names.own(units, (index, entry.offset))
            } else {
                // Copies have no name of their own, and many have the same origin.
                let origin = told.abstract_origin.or(told.specification);
                self.names.of_origin(units, origin.and_then(|origin| origin_place(units, index, origin)))
            };
            let call = inlined.then(|| told.call_site(units, index, files));
            let outer = around.last().map_or(NONE, |&(_, outer)| outer);
            around.push((entry.depth, scope));
            self.scopes.push(Scope { name: name as u32, call, outer });
        }
        Ok(())
    }

    /// Notes the address ranges of an entry inside `.text`, which are a scope's.
    fn pieces<'a>(
        &mut self,
        units: &Units<'a>,
        index: usize,
        told: &Told<'a>,
        text: &Range<u64>,
        scope: u32,
    ) -> gimli::Result<()> {
        let mut see = |begin: u64, end: u64| {
            if begin < end && text.contains(&begin) && end <= text.end {
                self.pieces.push(Piece { code: begin..end, scope });
            }
        };
        let (dwarf, unit) = (&units.dwarf, &units.units[index]);
        let list = told.ranges.map(|ranges| dwarf.attr_ranges_offset(unit, ranges)).transpose()?.flatten();
        if let Some(list) = list {
            return ranges::each(dwarf, unit, list, see);
        }
        let address = |(value, form)| {
            let address = dwarf.attr_address(unit, value)?;
            address.ok_or(gimli::Error::UnsupportedAttributeForm(form))
        };
        if let Some((low, high)) = told.low.zip(told.high) {
            let begin = address(low)?;
            match high {
                Ok(size) => see(begin, begin.wrapping_add(size)),
                Err(high) => see(begin, address(high)?),
            }
        }
        Ok(())
    }
}

/// How many code ranges all scopes together may have. A range in a list takes three bytes or more, and scopes
/// seldom share a list: with many that share a long one, a small file would take any amount of memory.
fn most_pieces(units: &Units<'_>) -> usize {
    units.range_bytes().saturating_mul(8).saturating_add(units.info_bytes()).min(u32::MAX as usize)
}

/// What is asked of functions and inlined copies.
fn is_asked(tag: DwTag, attribute: AttributeSpecification) -> bool {
    let name = attribute.name();
    matches!(tag, dw::DW_TAG_subprogram | dw::DW_TAG_inlined_subroutine)
        && (is_name(name)
            || matches!(
                name,
                dw::DW_AT_low_pc
                    | dw::DW_AT_high_pc
                    | dw::DW_AT_ranges
                    | dw::DW_AT_call_file
                    | dw::DW_AT_call_line
                    | dw::DW_AT_call_column
                    | dw::DW_AT_abstract_origin
                    | dw::DW_AT_specification
            ))
}

fn is_name(attribute: DwAt) -> bool {
    matches!(attribute, dw::DW_AT_linkage_name | dw::DW_AT_MIPS_linkage_name | dw::DW_AT_name)
}

/// The value of an attribute, and its form for errors.
type Value<'a> = (AttributeValue<Slice<'a>>, DwForm);

/// What the entry of a function, or of an inlined copy, tells. Of attributes that it has twice the first
/// counts.
#[derive(Default)]
struct Told<'a> {
    low: Option<Value<'a>>,
    /// A length, or an address.
    high: Option<Result<u64, Value<'a>>>,
    ranges: Option<AttributeValue<Slice<'a>>>,
    call_file: Option<u64>,
    call_line: Option<u64>,
    call_column: Option<u64>,
    abstract_origin: Option<AttributeValue<Slice<'a>>>,
    specification: Option<AttributeValue<Slice<'a>>>,
    has_name: bool,
}

impl<'a> Told<'a> {
    #[inline]
    fn read<F>(&mut self, entries: &mut Entries<'_, 'a, F>) -> gimli::Result<()>
    where
        F: Fn(DwTag, AttributeSpecification) -> bool,
    {
        while let Some(attribute) = entries.attribute()? {
            let form = attribute.form;
            match attribute.name {
                dw::DW_AT_call_file | dw::DW_AT_call_line | dw::DW_AT_call_column => {
                    let place = match attribute.name {
                        dw::DW_AT_call_file => &mut self.call_file,
                        dw::DW_AT_call_line => &mut self.call_line,
                        _ => &mut self.call_column,
                    };
                    *place = place.or(entries.number(attribute)?.ok());
                }
                dw::DW_AT_high_pc => {
                    let high = entries.number(attribute)?.map_err(|value| (value, form));
                    self.high.get_or_insert(high);
                }
                name if is_name(name) => {
                    self.has_name = true;
                    entries.pass(attribute)?;
                }
                name => {
                    let value = entries.value(attribute)?;
                    match name {
                        dw::DW_AT_low_pc => _ = self.low.get_or_insert((value, form)),
                        dw::DW_AT_ranges => _ = self.ranges.get_or_insert(value),
                        dw::DW_AT_abstract_origin => _ = self.abstract_origin.get_or_insert(value),
                        _ => _ = self.specification.get_or_insert(value),
                    }
                }
            }
        }
        Ok(())
    }

    fn call_site(&self, units: &Units<'a>, unit: usize, files: &mut Files) -> SourceLocation {
        let number = |value: Option<u64>| value.and_then(|value| value.try_into().ok()).unwrap_or(0);
        let file = match (self.call_file, &units.units[unit].line_program) {
            (Some(file), Some(program)) => files.number(units, unit, program.header(), file),
            _ => 0,
        };
        SourceLocation {
            file,
            line: number(self.call_line),
            column: number(self.call_column),
            approximate: false,
        }
    }
}
