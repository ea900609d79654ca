//! Functions and what was inlined into them.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::Arc;

use gimli::{Attribute, AttributeSpecification, AttributeValue, DwAt, EntriesRaw, UnitOffset, constants};

use super::files::Files;
use super::sections::{Slice, Units};
use super::{LinesError, Place};
use crate::Mixer;

/// How far a name is followed from an inlined copy to its origin to its declaration.
const MAX_ORIGINS: usize = 16;

/// The names of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Name {
    /// For people.
    pub(super) function: Option<Arc<str>>,
    /// For linkers.
    pub(super) linkage: Option<Arc<str>>,
}

impl Name {
    /// From the mangled name and the name in the source, of which either may be missing.
    pub(super) fn new(linkage: Option<Arc<str>>, source: Option<Arc<str>>) -> Self {
        let demangled = linkage.as_deref().and_then(|name| rustc_demangle::try_demangle(name).ok());
        // The alternate form leaves out the hash at the end of legacy names.
        let function =
            demangled.map(|name| Arc::from(format!("{name:#}"))).or(source).or_else(|| linkage.clone());
        Self { function, linkage }
    }
}

/// A function or an inlined copy of one.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// Its name, by number.
    name: u32,
    /// Its code, as places in [`Functions::pieces`].
    pieces: [u32; 2],
    /// Where it was called, if it is an inlined copy.
    pub(super) call: Option<Place>,
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
        let mut origins = Origins::default();
        for index in 0..units.units.len() {
            functions
                .unit(units, index, text, files, &mut origins)
                .map_err(|error| units.damaged(index, &error))?;
            if functions.pieces.len() > most_pieces(units) {
                let problem = "its functions share lists of code ranges, far too many for each".to_owned();
                return Err(LinesError { part: units.name(index), problem });
            }
        }
        functions.ranges.sort_by_key(|(range, scopes)| (range.start, scopes.start));
        Ok(functions)
    }

    /// The scopes that hold an address, from the function inwards.
    pub(super) fn chain(&self, pc: u64) -> Vec<&Scope> {
        let next = self.ranges.partition_point(|(range, _)| range.start <= pc);
        let Some((range, scopes)) = next.checked_sub(1).map(|index| &self.ranges[index]) else {
            return Vec::new();
        };
        let mut chain = Vec::new();
        let mut rest = if range.contains(&pc) { scopes.clone() } else { 0..0 };
        while let Some(index) = rest.next() {
            let extent = &self.extents[index];
            if !extent.hull.contains(&pc) {
                rest.start = extent.end;
                continue;
            }
            let scope = &self.scopes[index];
            if self.pieces[scope.pieces()].iter().any(|piece| piece.contains(&pc)) {
                chain.push(scope);
            }
        }
        chain
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
        origins: &mut Origins,
    ) -> gimli::Result<()> {
        let unit = &units.units[index];
        let mut entries = unit.entries_raw(None)?;
        // Depths and numbers of the scopes around what is being read: a function, and copies inside it.
        let mut around: Vec<(isize, usize)> = Vec::new();
        while !entries.is_empty() {
            let depth = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while around.last().is_some_and(|&(outer, _)| depth <= outer) {
                self.close(&mut around);
            }
            let inlined = match abbreviation.tag() {
                constants::DW_TAG_subprogram => Some(false),
                constants::DW_TAG_inlined_subroutine => Some(true),
                _ => None,
            };
            // An inlined copy outside a function of .text belongs to code that the linker discarded.
            let Some(inlined) = inlined.filter(|&inlined| inlined != around.is_empty()) else {
                entries.skip_attributes(abbreviation.attributes())?;
                continue;
            };
            let entry = Entry::read(&mut entries, abbreviation.attributes())?;
            let pieces = self.pieces(units, index, &entry, text)?;
            if self.pieces.len() > most_pieces(units) {
                return Ok(());
            }
            let code = &self.pieces[pieces.clone()];
            let Some(start) = code.iter().map(|piece| piece.start).min() else { continue };
            let end = code.iter().map(|piece| piece.end).max().unwrap_or(start);
            let name = self.named(units, index, &entry, origins);
            let call = inlined.then(|| entry.call_site(units, index, files));
            around.push((depth, self.scopes.len()));
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
        entry: &Entry<'a>,
        text: &Range<u64>,
    ) -> gimli::Result<Range<usize>> {
        let first = self.pieces.len();
        let mut see = |begin: u64, end: u64| {
            if begin < end && text.contains(&begin) && end <= text.end {
                self.pieces.push(begin..end);
            }
        };
        let (dwarf, unit) = (&units.dwarf, &units.units[index]);
        let list = entry.ranges.map(|ranges| dwarf.attr_ranges(unit, ranges.value())).transpose()?.flatten();
        if let Some(mut list) = list {
            while let Some(range) = list.next()? {
                see(range.begin, range.end);
            }
            return Ok(first..self.pieces.len());
        }
        let address = |attribute: Attribute<Slice<'a>>| {
            let address = dwarf.attr_address(unit, attribute.value())?;
            address.ok_or(gimli::Error::UnsupportedAttributeForm(attribute.form()))
        };
        if let Some((low, high)) = entry.low.zip(entry.high) {
            let begin = address(low)?;
            match high.value() {
                AttributeValue::Udata(size) => see(begin, begin.wrapping_add(size)),
                _ => see(begin, address(high)?),
            }
        }
        Ok(first..self.pieces.len())
    }

    /// The number of the name of an entry, its own or that of what it is a copy of.
    fn named<'a>(
        &mut self,
        units: &Units<'a>,
        index: usize,
        entry: &Entry<'a>,
        origins: &mut Origins,
    ) -> usize {
        // Copies have no name of their own, and many have the same origin.
        let origin = if entry.has_name() { None } else { entry.origin(units, index) };
        if let Some(&known) = origin.and_then(|origin| origins.get(&origin)) {
            return known;
        }
        let number = self.names.len();
        self.names.push(name(units, index, entry));
        origins.extend(origin.map(|origin| (origin, number)));
        number
    }
}

/// How many code ranges all scopes together may have. A range in a list takes three bytes or more, and scopes seldom share a
/// list: with many that share a long one, a small file would take any amount of memory.
fn most_pieces(units: &Units<'_>) -> usize {
    units.range_bytes().saturating_mul(8).saturating_add(units.info_bytes()).min(u32::MAX as usize)
}

/// The names, by number, of what entries are copies of: by unit, and offset in it.
type Origins = HashMap<(usize, UnitOffset), usize, BuildHasherDefault<Mixer>>;

/// What is asked of the entry of a function, or of an inlined copy.
#[derive(Clone, Default)]
struct Entry<'a> {
    low: Value<'a>,
    high: Value<'a>,
    ranges: Value<'a>,
    call_file: Value<'a>,
    call_line: Value<'a>,
    call_column: Value<'a>,
    linkage_name: Value<'a>,
    mips_linkage_name: Value<'a>,
    name: Value<'a>,
    abstract_origin: Value<'a>,
    specification: Value<'a>,
}

type Value<'a> = Option<Attribute<Slice<'a>>>;

impl<'a> Entry<'a> {
    /// Reads what is asked for of the attributes that come next, and passes over the others.
    fn read(
        entries: &mut EntriesRaw<'_, Slice<'a>>,
        attributes: &[AttributeSpecification],
    ) -> gimli::Result<Self> {
        let mut this = Self::default();
        for &spec in attributes {
            match this.place(spec.name()) {
                Some(place) => _ = place.get_or_insert(entries.read_attribute(spec)?),
                None => entries.skip_attributes(&[spec])?,
            }
        }
        Ok(this)
    }

    /// Where the value of an attribute goes, if it is asked for.
    fn place(&mut self, name: DwAt) -> Option<&mut Value<'a>> {
        Some(match name {
            constants::DW_AT_low_pc => &mut self.low,
            constants::DW_AT_high_pc => &mut self.high,
            constants::DW_AT_ranges => &mut self.ranges,
            constants::DW_AT_call_file => &mut self.call_file,
            constants::DW_AT_call_line => &mut self.call_line,
            constants::DW_AT_call_column => &mut self.call_column,
            constants::DW_AT_linkage_name => &mut self.linkage_name,
            constants::DW_AT_MIPS_linkage_name => &mut self.mips_linkage_name,
            constants::DW_AT_name => &mut self.name,
            constants::DW_AT_abstract_origin => &mut self.abstract_origin,
            constants::DW_AT_specification => &mut self.specification,
            _ => return None,
        })
    }

    fn has_name(&self) -> bool {
        self.linkage_name.or(self.mips_linkage_name).or(self.name).is_some()
    }

    /// What it is a copy of, or declared by: unit, and offset in it.
    fn origin(&self, units: &Units<'a>, unit: usize) -> Option<(usize, UnitOffset)> {
        match self.abstract_origin.or(self.specification)?.value() {
            AttributeValue::UnitRef(offset) => Some((unit, offset)),
            AttributeValue::DebugInfoRef(offset) => units.find(offset),
            _ => None,
        }
    }

    fn call_site(&self, units: &Units<'a>, unit: usize, files: &mut Files) -> Place {
        let number =
            |value: Value<'a>| value.and_then(|value| value.udata_value()?.try_into().ok()).unwrap_or(0);
        let file = match (self.call_file.map(|file| file.value()), &units.units[unit].line_program) {
            (Some(AttributeValue::FileIndex(file)), Some(program)) => {
                files.number(units, unit, program.header(), file)
            }
            _ => 0,
        };
        Place { file, line: number(self.call_line), column: number(self.call_column), approximate: false }
    }
}

/// The name of an entry, as far as it and what it is a copy of tell.
fn name<'a>(units: &Units<'a>, index: usize, entry: &Entry<'a>) -> Name {
    let mut linkage = None;
    let mut source = None;
    let mut place = Some((index, entry.clone()));
    for _ in 0..MAX_ORIGINS {
        let Some((unit, entry)) = place else { break };
        let text = |value: Value<'a>| value.and_then(|value| units.text(unit, value.value()));
        linkage = linkage.or_else(|| text(entry.linkage_name).or_else(|| text(entry.mips_linkage_name)));
        source = source.or_else(|| text(entry.name));
        place = entry.origin(units, unit).and_then(|(unit, offset)| {
            let mut entries = units.units[unit].entries_raw(Some(offset)).ok()?;
            let abbreviation = entries.read_abbreviation().ok()??;
            Some((unit, Entry::read(&mut entries, abbreviation.attributes()).ok()?))
        });
    }
    Name::new(linkage, source)
}
