//! Debug information of the new code: the old DWARF, with every code address where the code went.
//!
//! Lines, functions, inlined calls, scopes and the ranges of variables' locations follow the code; inserted
//! code belongs to the line of the instruction that it stands beside. What tells of no address stays as it
//! is, byte for byte. Fields of fixed size are corrected in place (entries in `info`, `.debug_addr` in
//! `addresses`, the lists before DWARF 5 in `pairs`); line tables (`lines`) and the lists of DWARF 5
//! (`lists`), whose numbers are as long as they are large, are written anew, and what refers to them follows.
//!
//! Left out: indexes that a debugger rebuilds (`.debug_names`, `.debug_aranges`, `.debug_pub*`) and
//! `.debug_frame`. Debug information as a whole is left out where it cannot be carried over: damaged ones,
//! type units, split ones.

mod addresses;
mod expressions;
mod info;
mod lines;
mod lists;
mod pairs;

use std::ops::Range;

use gimli::{LittleEndian, SectionId, UnitType, read};

use super::Edge;
use super::fixups::Context;
use crate::lines::sections::{Sections as OldSections, Slice};
use info::{Found, Into};

/// What became of debug information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DebugInfo {
    /// There was none.
    Absent,
    /// Debug information tells of the new code.
    Carried,
    /// Left out, and why.
    LeftOut(String),
}

impl DebugInfo {
    /// Why it is left out, if it is.
    pub fn problem(&self) -> Option<&str> {
        match self {
            Self::LeftOut(reason) => Some(reason),
            Self::Absent | Self::Carried => None,
        }
    }
}

/// A debug section that is kept, by its number.
pub(super) struct DebugSection {
    pub(super) section: usize,
    /// Its new contents; none if they stay as they are.
    pub(super) contents: Option<Vec<u8>>,
}

/// Debug information that cannot be carried over.
pub(super) struct Problem(String);

impl Problem {
    fn new(what: &str) -> Self {
        Self(what.to_owned())
    }
}

impl<E: std::error::Error> From<E> for Problem {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// The sections of the new debug information, empty when it is left out.
pub(super) fn relocated(
    context: &Context<'_>,
    address_map: &impl AddressMap,
) -> (DebugInfo, Vec<DebugSection>) {
    match correct(context, address_map) {
        Ok(None) => (DebugInfo::Absent, Vec::new()),
        Ok(Some(sections)) => (DebugInfo::Carried, sections),
        Err(Problem(reason)) => (DebugInfo::LeftOut(reason), Vec::new()),
    }
}

/// Sections without an address.
const AS_THEY_ARE: [SectionId; 5] = [
    SectionId::DebugAbbrev,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
    SectionId::DebugLineStr,
    SectionId::DebugMacinfo,
];

fn correct(
    context: &Context<'_>,
    address_map: &impl AddressMap,
) -> Result<Option<Vec<DebugSection>>, Problem> {
    let sections = OldSections::read(context.object)?;
    if sections.is_empty() {
        return Ok(None);
    }
    let dwarf = read::Dwarf::load(|id| Ok::<_, Problem>(sections.get(id)))?;
    let units = units(&dwarf)?;
    let new_end = context.text_address + context.edit.text.len() as u64;
    let moves = Moves {
        address_map,
        code: context.text_section().memory(),
        new_end: context.edit.keeps_code.then_some(new_end),
    };
    let old = |id| sections.get(id).slice();

    let mut found = Found::new(old(SectionId::DebugInfo), &units);
    for number in 0..units.len() {
        info::unit(&dwarf, &units, number, &moves, &mut found)?;
    }
    let Found { mut info, references, mut ranges, mut locations, macros } = found;
    ranges.order();
    locations.order();

    let mut new = Output { context, sections: Vec::new() };
    for id in AS_THEY_ARE {
        new.keep(id);
    }
    new.put(SectionId::DebugAddr, addresses::correct(old(SectionId::DebugAddr), &moves)?);
    let bases = lists::Bases { dwarf: &dwarf, units: &units };
    for (id, lists, is_locations) in
        [(SectionId::DebugRanges, &ranges, false), (SectionId::DebugLoc, &locations, true)]
    {
        new.put(id, pairs::correct(old(id), &lists.before_5, is_locations, &bases, &moves)?);
    }
    let (contents, new_lines) = lines::rewrite(old(SectionId::DebugLine), &moves)?;
    new.put(SectionId::DebugLine, contents);
    let (contents, new_ranges) =
        lists::rewrite(old(SectionId::DebugRngLists), &ranges, false, &bases, &moves)?;
    new.put(SectionId::DebugRngLists, contents);
    let (contents, new_locations) =
        lists::rewrite(old(SectionId::DebugLocLists), &locations, true, &bases, &moves)?;
    new.put(SectionId::DebugLocLists, contents);

    for reference in references {
        let moved = match reference.into {
            Into::Lines => &new_lines,
            Into::Ranges => &new_ranges,
            Into::Locations => &new_locations,
        };
        put(&mut info, reference.at, reference.size, moved.of(reference.old)? as u64)?;
    }
    new.put(SectionId::DebugInfo, info);
    new.put(SectionId::DebugMacro, info::macros(old(SectionId::DebugMacro), &macros, &new_lines)?);
    Ok(Some(new.sections))
}

type Dwarf<'a> = read::Dwarf<Reader<'a>>;
type Unit<'a> = read::Unit<Reader<'a>>;

/// How debug data is read.
type Reader<'a> = Slice<'a>;

fn reader(bytes: &[u8]) -> Reader<'_> {
    Reader::new(bytes, LittleEndian)
}

/// The units, if all are of a kind that can be carried over.
fn units<'a>(dwarf: &Dwarf<'a>) -> Result<Vec<Unit<'a>>, Problem> {
    let mut headers = dwarf.units();
    let mut units = Vec::new();
    while let Some(header) = headers.next()? {
        if !matches!(header.type_(), UnitType::Compilation | UnitType::Partial) {
            return Err(Problem::new("it has a unit of types, or one that is split over files"));
        }
        if usize::from(header.encoding().address_size) != ADDRESS {
            return Err(Problem::new("its addresses are not of 64 bits"));
        }
        units.push(dwarf.unit(header)?);
    }
    if dwarf.type_units().next()?.is_some() {
        return Err(Problem::new("it has a unit of types"));
    }
    Ok(units)
}

/// Bytes of the shortest instruction.
const WORD: usize = 4;

/// Bytes of an address.
const ADDRESS: usize = 8;

/// The debug sections that are kept.
struct Output<'a> {
    context: &'a Context<'a>,
    sections: Vec<DebugSection>,
}

impl Output<'_> {
    fn keep(&mut self, id: SectionId) {
        self.add(id, None);
    }

    fn put(&mut self, id: SectionId, contents: Vec<u8>) {
        self.add(id, Some(contents));
    }

    fn add(&mut self, id: SectionId, contents: Option<Vec<u8>>) {
        if let Some((section, _)) = self.context.elf.section(id.name()) {
            self.sections.push(DebugSection { section, contents });
        }
    }
}

/// Where the parts of a section went that is written anew: old and new offsets, ascending.
#[derive(Default)]
struct Moved(Vec<(usize, usize)>);

impl Moved {
    fn note(&mut self, old: usize, new: usize) {
        if self.0.last() != Some(&(old, new)) {
            self.0.push((old, new));
        }
    }

    fn of(&self, old: usize) -> Result<usize, Problem> {
        Ok(self.0[self.find(old)?].1)
    }

    /// Where the part at offset `old` went. `last` is the number of the part asked for last; mostly the next
    /// one is asked for.
    fn near(&self, last: &mut usize, old: usize) -> Result<usize, Problem> {
        let next = *last + 1;
        *last = match self.0.get(next) {
            Some(&(start, _)) if start == old => next,
            _ => self.find(old)?,
        };
        Ok(self.0[*last].1)
    }

    fn find(&self, old: usize) -> Result<usize, Problem> {
        self.0.binary_search_by_key(&old, |&(old, _)| old).map_err(|_| {
            Problem(format!("something refers to offset {old:#x} of a section, where nothing starts"))
        })
    }
}

/// Writes a number into a field of `size` bytes.
fn put(bytes: &mut [u8], at: usize, size: usize, value: u64) -> Result<(), Problem> {
    let fits = size >= 8 || value >> (8 * size) == 0;
    let field = at.checked_add(size).and_then(|end| bytes.get_mut(at..end));
    match field.filter(|_| fits && size <= 8) {
        Some(field) => field.copy_from_slice(&value.to_le_bytes()[..size]),
        None => return Err(Problem::new("a number has outgrown its place")),
    }
    Ok(())
}

/// Appends a number in as few bytes as it needs (DWARF 5, section 7.6).
#[inline]
fn put_uleb(out: &mut Vec<u8>, mut value: u64) {
    // As most are.
    if value > 0x7f && value < 1 << 14 {
        out.extend_from_slice(&[value as u8 | 0x80, (value >> 7) as u8]);
        return;
    }
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// What [`rewrite`](super::rewrite()) is told of where code went. It is asked so often here that a call would
/// take most of the time.
pub(super) trait AddressMap: Fn(u64, Edge) -> Option<u64> {}

impl<F: Fn(u64, Edge) -> Option<u64>> AddressMap for F {}

/// Where addresses went.
struct Moves<'a, M> {
    address_map: &'a M,
    /// The old addresses of code.
    code: Range<u64>,
    /// Where the new code ends, if some of the old code stays.
    new_end: Option<u64>,
}

impl<M: AddressMap> Moves<'_, M> {
    /// The new address of old code; `None` for other addresses, such as those of functions that the linker
    /// dropped.
    fn start(&self, old: u64) -> Option<u64> {
        let is_code = self.code.contains(&old);
        if is_code { (self.address_map)(old, Edge::Start) } else { None }
    }

    /// The new end of old code.
    fn end(&self, old: u64) -> Option<u64> {
        let is_code = self.code.contains(&old.checked_sub(1)?);
        if is_code { (self.address_map)(old, Edge::End) } else { None }
    }

    /// The part of a range that is code, however large damaged numbers are.
    fn inside(&self, range: Range<u64>) -> Range<u64> {
        range.start.max(self.code.start)..range.end.min(self.code.end)
    }

    /// The new range of old code.
    fn range(&self, begin: u64, end: u64) -> Option<gimli::Range> {
        let new = gimli::Range { begin: self.start(begin)?, end: self.end(end)? };
        (new.begin < new.end).then_some(new)
    }

    /// How long what has one range is in the new code. Of a unit some functions may stay: it then reaches to
    /// the end of the new code, before which all old code stands.
    fn length_of(&self, begin: u64, end: u64) -> Option<u64> {
        let range = || self.range(begin, end).map(|range| range.end - range.begin);
        let Some(new_end) = self.new_end else { return range() };
        let mut code = self.inside(begin..end).step_by(WORD);
        let first = code.next().map(|pc| self.start(pc) == Some(pc));
        if code.all(|pc| Some(self.start(pc) == Some(pc)) == first) {
            return range();
        }
        new_end.checked_sub(self.start(begin)?)
    }

    /// An address as it is written: data stay where they are.
    fn address(&self, old: u64) -> u64 {
        self.start(old).unwrap_or(old)
    }
}

/// The offset of what a reader reads next in what another one started with.
fn offset(rest: &Reader<'_>, all: &Reader<'_>) -> usize {
    rest.offset_from(*all)
}

#[cfg(test)]
mod tests {
    use gimli::Reader as _;

    use super::*;

    #[test]
    fn numbers_have_the_bytes_that_they_need() {
        for bits in 0..64 {
            for value in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let mut bytes = Vec::new();
                put_uleb(&mut bytes, value);
                assert_eq!(bytes.len() as u32, (64 - value.leading_zeros()).div_ceil(7).max(1), "{value:#x}");
                let mut rest = reader(&bytes);
                assert_eq!(rest.read_uleb128().map_err(|error| error.to_string()), Ok(value));
                assert!(rest.is_empty());
            }
        }
    }

    #[test]
    fn parts_are_found_in_any_order() {
        let mut moved = Moved::default();
        for (old, new) in [(0, 0), (4, 8), (4, 8), (8, 12), (20, 30)] {
            moved.note(old, new);
        }
        let mut last = 0;
        for (old, new) in [(4, 8), (8, 12), (20, 30), (4, 8), (4, 8), (0, 0), (20, 30)] {
            assert_eq!(moved.near(&mut last, old).ok(), Some(new));
            assert_eq!(moved.of(old).ok(), Some(new));
        }
        assert!(moved.near(&mut last, 16).is_err() && moved.of(21).is_err());
        // A part that was not there has left no trace.
        assert_eq!(moved.near(&mut last, 8).ok(), Some(12));
    }
}
