//! Functions and what was inlined into them: a tree per function. A look-up passes over whole trees that an
//! address lies outside of.

use std::ops::Range;

use gimli::{AttributeSpecification, AttributeValue, DwAt, DwForm, DwTag, constants as dw};

use super::entries::Entries;
use super::files::Files;
use super::names::{Name, Names, origin_place};
use super::ranges;
use super::sections::{Slice, Units};
use super::{LinesError, SourceLocation, narrow, narrow_to};

/// A function or an inlined copy of one.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Its name, by number.
    name: u32,
    /// Its code, as places in [`Functions::pieces`].
    pieces: [u32; 2],
    /// Where it was called, if it is an inlined copy.
    pub(super) call: Option<SourceLocation>,
}

impl Scope {
    fn pieces(&self) -> Range<usize> {
        let [start, end] = self.pieces;
        start as usize..end as usize
    }
}

/// How far a scope reaches. Of most no more than this is asked.
#[derive(Clone, Debug)]
struct Extent {
    /// From the first to the last address of its code and of what is inside it.
    hull: Range<u64>,
    /// The scope behind all that are inside it.
    end: usize,
}

/// Every function of `.text`.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    /// Address ranges in order, each with its function's scopes.
    ranges: Vec<(Range<u64>, Range<usize>)>,
    /// The scopes of a function stand together, each before those inside it.
    scopes: Vec<Scope>,
    /// By scope.
    extents: Vec<Extent>,
    /// Address ranges of the scopes.
    pieces: Vec<Range<u64>>,
    /// What scopes are called. Copies of one function share a name.
    names: Vec<Name>,
}

impl Functions {
    pub(super) fn read(units: &Units<'_>, text: &Range<u64>, files: &mut Files) -> Result<Self, LinesError> {
        let (info, ranges) = (units.info_bytes(), units.range_bytes());
        // About as many as most have. Memory that is not written to costs nothing.
        let mut functions = Self {
            scopes: Vec::with_capacity(info / 32),
            extents: Vec::with_capacity(info / 32),
            pieces: Vec::with_capacity(info / 64 + ranges / 4),
            ..Self::default()
        };
        let mut names = Names::default();
        for index in 0..units.units.len() {
            functions
                .unit(units, index, text, files, &mut names)
                .map_err(|error| units.damaged(index, &error))?;
            if functions.pieces.len() > most_pieces(units) {
                let problem = "its functions share lists of code ranges, far too many for each".to_owned();
                return Err(LinesError { part: units.name(index), problem });
            }
        }
        functions.ranges.sort_by_key(|(range, scopes)| (range.start, scopes.start));
        functions.names = names.into_names();
        Ok(functions)
    }

    /// The scopes that hold an address, from the function inwards.
    pub(super) fn chain(&self, pc: u64) -> Vec<&Scope> {
        // Few are deeper.
        let mut chain = Vec::with_capacity(8);
        self.visit(pc, &mut (0..u64::MAX), |_, scope| chain.push(scope));
        chain
    }

    /// A hash of [`Functions::chain`], and whether its function has a name that links; `around` becomes the addresses in it for which
    /// they are the same.
    pub(super) fn around(&self, pc: u64, around: &mut Range<u64>) -> (u64, bool) {
        let (mut hash, mut is_named) = (0u64, false);
        self.visit(pc, around, |index, scope| {
            hash = (hash ^ (index as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            if scope.call.is_none() {
                is_named = self.name(scope).linkage.is_some();
            }
        });
        (hash, is_named)
    }

    /// Visits the scopes that hold an address, from the function inwards, with their numbers; `around` becomes the addresses in it that the
    /// same scopes hold.
    fn visit<'a>(&'a self, pc: u64, around: &mut Range<u64>, mut see: impl FnMut(usize, &'a Scope)) {
        let next = self.ranges.partition_point(|(range, _)| range.start <= pc);
        if let Some((range, _)) = self.ranges.get(next) {
            narrow(around, 0, range.start);
        }
        let Some((range, scopes)) = next.checked_sub(1).map(|index| &self.ranges[index]) else { return };
        if !range.contains(&pc) {
            return narrow(around, range.end, u64::MAX);
        }
        narrow(around, range.start, range.end);
        let mut rest = scopes.clone();
        while let Some(index) = rest.next() {
            let extent = &self.extents[index];
            if !narrow_to(around, &extent.hull, pc) {
                rest.start = extent.end;
                continue;
            }
            let scope = &self.scopes[index];
            // Each tells how far the others' answer goes.
            let pieces = self.pieces[scope.pieces()].iter();
            if pieces.fold(false, |is_inside, piece| narrow_to(around, piece, pc) | is_inside) {
                see(index, scope);
            }
        }
    }

    /// What a scope is called.
    pub(super) fn name(&self, scope: &Scope) -> &Name {
        &self.names[scope.name as usize]
    }

    fn unit<'a>(
        &mut self,
        units: &Units<'a>,
        index: usize,
        text: &Range<u64>,
        files: &mut Files,
        names: &mut Names,
    ) -> gimli::Result<()> {
        let mut entries = Entries::new(&units.units[index], is_asked)?;
        // Depths and numbers of the scopes around what is being read: a function, and copies inside it.
        let mut around: Vec<(isize, usize)> = Vec::new();
        while let Some(entry) = entries.next()? {
            while around.last().is_some_and(|&(outer, _)| entry.least_depth <= outer) {
                self.close(&mut around);
            }
            let inlined = entry.tag == dw::DW_TAG_inlined_subroutine;
            // An inlined copy outside a function of .text belongs to code that the linker discarded.
            if inlined == around.is_empty() {
                continue;
            }
            let mut told = Told::default();
            told.read(&mut entries)?;
            let pieces = self.pieces(units, index, &told, text)?;
            if self.pieces.len() > most_pieces(units) {
                return Ok(());
            }
            let code = &self.pieces[pieces.clone()];
            let Some(start) = code.iter().map(|piece| piece.start).min() else { continue };
            let end = code.iter().map(|piece| piece.end).max().unwrap_or(start);
            let name = if told.has_name {
                names.own(units, (index, entry.offset))
            } else {
                // Copies have no name of their own, and many have the same origin.
                let origin = told.abstract_origin.or(told.specification);
                names.of_origin(units, origin.and_then(|origin| origin_place(units, index, origin)))
            };
            let call = inlined.then(|| told.call_site(units, index, files));
            around.push((entry.depth, self.scopes.len()));
            let pieces = [pieces.start as u32, pieces.end as u32];
            self.scopes.push(Scope { name: name as u32, pieces, call });
            self.extents.push(Extent { hull: start..end, end: self.scopes.len() });
        }
        while !around.is_empty() {
            self.close(&mut around);
        }
        Ok(())
    }

    /// Ends the innermost scope. The ranges of a function now lead to all its scopes.
    fn close(&mut self, around: &mut Vec<(isize, usize)>) {
        let Some((_, closed)) = around.pop() else { return };
        let behind = self.scopes.len();
        self.extents[closed].end = behind;
        match around.last() {
            Some(&(_, outer)) => {
                let Range { start, end } = self.extents[closed].hull;
                let hull = &mut self.extents[outer].hull;
                *hull = hull.start.min(start)..hull.end.max(end);
            }
            None => {
                let code = self.scopes[closed].pieces();
                self.ranges.extend(self.pieces[code].iter().map(|piece| (piece.clone(), closed..behind)));
            }
        }
    }

    /// Notes the address ranges of an entry inside `.text`.
    fn pieces<'a>(
        &mut self,
        units: &Units<'a>,
        index: usize,
        told: &Told<'a>,
        text: &Range<u64>,
    ) -> gimli::Result<Range<usize>> {
        let first = self.pieces.len();
        let mut see = |begin: u64, end: u64| {
            if begin < end && text.contains(&begin) && end <= text.end {
                self.pieces.push(begin..end);
            }
        };
        let (dwarf, unit) = (&units.dwarf, &units.units[index]);
        let list = told.ranges.map(|ranges| dwarf.attr_ranges_offset(unit, ranges)).transpose()?.flatten();
        if let Some(list) = list {
            ranges::each(dwarf, unit, list, see)?;
            return Ok(first..self.pieces.len());
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
        Ok(first..self.pieces.len())
    }
}

/// How many code ranges all scopes together may have. A range in a list takes three bytes or more, and scopes seldom share a
/// list: with many that share a long one, a small file would take any amount of memory.
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

/// What the entry of a function, or of an inlined copy, tells. Of attributes that it has twice the first counts.
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
