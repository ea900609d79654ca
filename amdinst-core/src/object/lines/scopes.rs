//! Functions and what was inlined into them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use gimli::{AttributeValue, DebuggingInformationEntry, UnitOffset, constants};

use super::rows::Files;
use super::sections::{Slice, Units};
use super::{LinesError, Place};

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
    pub(super) name: Name,
    ranges: Vec<Range<u64>>,
    /// Where it was called, if it is an inlined copy.
    pub(super) call: Option<Place>,
}

/// Every function of `.text`.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    /// Address ranges in order, each with its function's scopes.
    ranges: Vec<(Range<u64>, Range<usize>)>,
    /// The scopes of a function stand together, each before those inside it.
    scopes: Vec<Scope>,
}

impl Functions {
    pub(super) fn read(units: &Units<'_>, text: &Range<u64>) -> Result<Self, LinesError> {
        let mut functions = Self::default();
        let mut names = HashMap::new();
        for index in 0..units.units.len() {
            functions.unit(units, index, text, &mut names).map_err(|error| units.damaged(index, &error))?;
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
        if !range.contains(&pc) {
            return Vec::new();
        }
        let holds = |scope: &&Scope| scope.ranges.iter().any(|range| range.contains(&pc));
        self.scopes[scopes.clone()].iter().filter(holds).collect()
    }

    fn unit<'a>(
        &mut self,
        units: &Units<'a>,
        index: usize,
        text: &Range<u64>,
        names: &mut HashMap<(usize, UnitOffset), Name>,
    ) -> gimli::Result<()> {
        let unit = &units.units[index];
        let mut files = Files::new(units, index);
        let mut entries = unit.entries_raw(None)?;
        // Depth and first scope of the function that is being read.
        let mut open: Option<(isize, usize)> = None;
        while !entries.is_empty() {
            let (depth, offset) = (entries.next_depth(), entries.next_offset());
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            entries.skip_attributes(abbreviation.attributes())?;
            if open.is_some_and(|(function, _)| depth <= function) {
                self.close(open.take());
            }
            let inlined = match abbreviation.tag() {
                constants::DW_TAG_subprogram => false,
                constants::DW_TAG_inlined_subroutine => true,
                _ => continue,
            };
            if inlined != open.is_some() {
                // An inlined copy outside a function of .text belongs to code that the linker discarded.
                continue;
            }
            // Most entries are of neither kind: only these are read whole.
            let entry = &unit.entry(offset)?;
            let ranges = ranges(units, index, entry, text)?;
            if ranges.is_empty() {
                continue;
            }
            if !inlined {
                open = Some((depth, self.scopes.len()));
            }
            let call = inlined.then(|| call_site(unit, entry, &mut files));
            self.scopes.push(Scope { name: name(units, index, entry, names), ranges, call });
        }
        self.close(open);
        Ok(())
    }

    /// Ends a function: its ranges now lead to all its scopes.
    fn close(&mut self, open: Option<(isize, usize)>) {
        let Some((_, first)) = open else { return };
        let scopes = first..self.scopes.len();
        for range in &self.scopes[first].ranges {
            self.ranges.push((range.clone(), scopes.clone()));
        }
    }
}

/// The address ranges of an entry inside `.text`.
fn ranges<'a>(
    units: &Units<'a>,
    index: usize,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    text: &Range<u64>,
) -> gimli::Result<Vec<Range<u64>>> {
    let mut found = Vec::new();
    let mut all = units.dwarf.die_ranges(&units.units[index], entry)?;
    while let Some(range) = all.next()? {
        if range.begin < range.end && text.contains(&range.begin) && range.end <= text.end {
            found.push(range.begin..range.end);
        }
    }
    Ok(found)
}

fn call_site<'a>(
    unit: &gimli::Unit<Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    files: &mut Files<'_, 'a>,
) -> Place {
    let number = |name| entry.attr(name).and_then(|attr| attr.udata_value());
    let file = match (entry.attr_value(constants::DW_AT_call_file), &unit.line_program) {
        (Some(AttributeValue::FileIndex(file)), Some(program)) => files.path(program.header(), file),
        _ => Arc::from(""),
    };
    Place {
        file,
        line: number(constants::DW_AT_call_line).map_or(0, |line| line.try_into().unwrap_or(0)),
        column: number(constants::DW_AT_call_column).map_or(0, |column| column.try_into().unwrap_or(0)),
        approximate: false,
    }
}

/// The name of an entry, its own or that of what it is a copy of.
fn name<'a>(
    units: &Units<'a>,
    index: usize,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    names: &mut HashMap<(usize, UnitOffset), Name>,
) -> Name {
    let key = (index, entry.offset());
    if let Some(name) = names.get(&key) {
        return name.clone();
    }
    let mut linkage = None;
    let mut source = None;
    let mut place = Some((index, entry.clone()));
    for _ in 0..MAX_ORIGINS {
        let Some((unit, entry)) = place else { break };
        let text = |name| entry.attr_value(name).and_then(|value| units.text(unit, value));
        linkage = linkage.or_else(|| {
            text(constants::DW_AT_linkage_name).or_else(|| text(constants::DW_AT_MIPS_linkage_name))
        });
        source = source.or_else(|| text(constants::DW_AT_name));
        let origin = entry
            .attr_value(constants::DW_AT_abstract_origin)
            .or_else(|| entry.attr_value(constants::DW_AT_specification));
        place = match origin {
            Some(AttributeValue::UnitRef(offset)) => Some((unit, offset)),
            Some(AttributeValue::DebugInfoRef(offset)) => units.find(offset),
            _ => None,
        }
        .and_then(|(unit, offset)| Some((unit, units.units[unit].entry(offset).ok()?)));
    }
    let name = Name::new(linkage, source);
    names.insert(key, name.clone());
    name
}
