//! `.debug_rnglists` and `.debug_loclists`: the lists of DWARF 5, written anew (sections 7.28 and 7.29).

use gimli::{DebugAddrIndex, Encoding, Reader as _};

use super::{
    ADDRESS, Dwarf, Moved, Moves, Problem, Reader, Unit, expressions, offset, put, put_uleb, reader,
};
use crate::object::lines::leb;

/// What the addresses in lists are counted from.
pub(super) struct Bases<'a> {
    pub(super) dwarf: &'a Dwarf<'a>,
    pub(super) units: &'a [Unit<'a>],
}

impl Bases<'_> {
    /// Where the code of a unit starts.
    pub(super) fn of_unit(&self, unit: usize) -> u64 {
        self.units[unit].low_pc
    }

    pub(super) fn encoding(&self, unit: usize) -> Encoding {
        self.units[unit].encoding()
    }

    /// An address by its number.
    fn numbered(&self, unit: usize, index: u64) -> Result<u64, Problem> {
        Ok(self.dwarf.address(&self.units[unit], DebugAddrIndex(usize::try_from(index)?))?)
    }
}

// Kinds of entries of locations. Those of ranges are the same, without default locations and hence one less from there on.
const END_OF_LIST: u8 = 0;
const BASE_ADDRESSX: u8 = 1;
const STARTX_ENDX: u8 = 2;
const STARTX_LENGTH: u8 = 3;
const OFFSET_PAIR: u8 = 4;
const DEFAULT_LOCATION: u8 = 5;
const BASE_ADDRESS: u8 = 6;
const START_END: u8 = 7;
const START_LENGTH: u8 = 8;

/// The new section, and where its lists and tables went. `lists` has offset and unit of those that units refer to, ascending.
pub(super) fn rewrite(
    old: &[u8],
    lists: &[(usize, usize)],
    is_locations: bool,
    bases: &Bases<'_>,
    moves: &Moves<'_>,
) -> Result<(Vec<u8>, Moved), Problem> {
    let all = reader(old);
    let mut writer =
        Writer { out: Vec::with_capacity(old.len() + old.len() / 8), is_locations, bases, moves };
    let mut moved = Moved::default();
    let mut lists = lists.iter().copied().peekable();
    let mut rest = all;
    while !rest.is_empty() {
        let (start, new_start) = (offset(&rest, &all), writer.out.len());
        let (length, format) = rest.read_initial_length()?;
        let length_size = usize::from(format.initial_length_size());
        let mut table = rest.split(length)?;
        let (version, size, segments) = (table.read_u16()?, table.read_u8()?, table.read_u8()?);
        if (version, usize::from(size), segments) != (5, ADDRESS, 0) {
            return Err(Problem::new("its lists are of an unknown form"));
        }
        let word = format.word_size();
        let count = usize::try_from(table.read_u32()?)?;
        let base = offset(&table, &all);
        writer.out.extend(&old[start..base]);
        let new_base = writer.out.len();
        let first = moved.0.len();
        moved.note(base, new_base);
        let mut offsets =
            table.split(count.checked_mul(word.into()).ok_or_else(|| Problem::new("damaged lists"))?)?;
        writer.out.extend(offsets.slice());
        while !table.is_empty() {
            let at = offset(&table, &all);
            moved.note(at, writer.out.len());
            while lists.next_if(|&(offset, _)| offset < at).is_some() {}
            let unit = lists.next_if(|&(offset, _)| offset == at).map(|(_, unit)| unit);
            writer.list(&mut table, unit)?;
        }
        let mut near = first;
        for index in 0..count {
            let list = offsets.read_sized_offset(word)?;
            let new = moved.near(&mut near, base.saturating_add(list))? - new_base;
            put(&mut writer.out, new_base + index * usize::from(word), word.into(), new as u64)?;
        }
        let new_length = writer.out.len() - new_start - length_size;
        // The 64-bit form announces itself with four bytes of ones.
        put(&mut writer.out, new_start + length_size - usize::from(word), word.into(), new_length as u64)?;
    }
    Ok((writer.out, moved))
}

struct Writer<'r, 'b, 'm> {
    out: Vec<u8>,
    is_locations: bool,
    bases: &'r Bases<'b>,
    moves: &'r Moves<'m>,
}

impl Writer<'_, '_, '_> {
    /// Writes a list that a unit refers to; one of nobody has no base, and its offsets stay.
    fn list(&mut self, old: &mut Reader<'_>, unit: Option<usize>) -> Result<(), Problem> {
        // What addresses are counted from, and where that went.
        let moves = self.moves;
        let with_new = |base: u64| (base, moves.address(base));
        let mut base = unit.map(|unit| with_new(self.bases.of_unit(unit)));
        // From there on kinds are one less.
        let first_less = if self.is_locations { u8::MAX } else { DEFAULT_LOCATION };
        let numbered = |index| match unit {
            Some(unit) => self.bases.numbered(unit, index).map(Some),
            None => Ok(None),
        };
        loop {
            let raw = old.read_u8()?;
            let kind = raw.saturating_add(u8::from(raw >= first_less));
            match kind {
                END_OF_LIST => {
                    self.out.push(END_OF_LIST);
                    return Ok(());
                }
                BASE_ADDRESSX => {
                    let index = leb::unsigned(old)?;
                    base = numbered(index)?.map(with_new);
                    self.out.push(raw);
                    put_uleb(&mut self.out, index);
                }
                BASE_ADDRESS => {
                    let address = old.read_u64()?;
                    let new = moves.address(address);
                    base = Some((address, new));
                    self.out.push(raw);
                    self.address(new);
                }
                OFFSET_PAIR => {
                    let (mut begin, mut end) = (leb::unsigned(old)?, leb::unsigned(old)?);
                    if let Some((base, new_base)) = base {
                        match self.moves.range(base.wrapping_add(begin), base.wrapping_add(end)) {
                            Some(range) => {
                                let distance = |address: u64| address.checked_sub(new_base);
                                (begin, end) = distance(range.begin)
                                    .zip(distance(range.end))
                                    .ok_or_else(|| Problem::new("code moved before the start of its unit"))?;
                            }
                            // Nothing that was carried over.
                            None if new_base != base => {
                                self.skip_expression(old)?;
                                continue;
                            }
                            None => {}
                        }
                    }
                    self.out.push(raw);
                    put_uleb(&mut self.out, begin);
                    put_uleb(&mut self.out, end);
                    self.expression(old, unit)?;
                }
                STARTX_LENGTH => {
                    let (index, length) = (leb::unsigned(old)?, leb::unsigned(old)?);
                    let begin = numbered(index)?;
                    let new = begin.and_then(|begin| self.moves.range(begin, begin.checked_add(length)?));
                    self.out.push(raw);
                    put_uleb(&mut self.out, index);
                    put_uleb(&mut self.out, new.map_or(length, |new| new.end - new.begin));
                    self.expression(old, unit)?;
                }
                STARTX_ENDX => {
                    let (begin, end) = (numbered(leb::unsigned(old)?)?, numbered(leb::unsigned(old)?)?);
                    // A numbered address is corrected as that of an instruction, not as an end.
                    let range =
                        begin.zip(end).ok_or_else(|| Problem::new("a list of numbers is of no unit"))?;
                    self.start_length(range, old, unit)?;
                }
                START_END => {
                    let range = (old.read_u64()?, old.read_u64()?);
                    self.start_length(range, old, unit)?;
                }
                START_LENGTH => {
                    let (begin, length) = (old.read_u64()?, leb::unsigned(old)?);
                    self.start_length((begin, begin.wrapping_add(length)), old, unit)?;
                }
                DEFAULT_LOCATION => {
                    self.out.push(raw);
                    self.expression(old, unit)?;
                }
                _ => return Err(Problem(format!("its lists have entries of an unknown kind {raw}"))),
            }
        }
    }

    /// Writes an entry with addresses of its own.
    fn start_length(
        &mut self,
        (begin, end): (u64, u64),
        old: &mut Reader<'_>,
        unit: Option<usize>,
    ) -> Result<(), Problem> {
        let range = self.moves.range(begin, end).unwrap_or(gimli::Range { begin, end });
        // Ranges have no default locations, which come before.
        self.out.push(START_LENGTH - u8::from(!self.is_locations));
        self.address(range.begin);
        put_uleb(&mut self.out, range.end.saturating_sub(range.begin));
        self.expression(old, unit)
    }

    fn address(&mut self, address: u64) {
        self.out.extend(address.to_le_bytes());
    }

    /// The expression behind an entry of a location.
    #[inline]
    fn expression(&mut self, old: &mut Reader<'_>, unit: Option<usize>) -> Result<(), Problem> {
        if !self.is_locations {
            return Ok(());
        }
        let from = *old;
        let expression = self.read_expression(old)?;
        // Its length too.
        self.out.extend(&from.slice()[..offset(old, &from)]);
        let at = self.out.len() - expression.len();
        if let Some(unit) = unit {
            expressions::correct(&mut self.out[at..], self.bases.encoding(unit), self.moves);
        }
        Ok(())
    }

    #[inline]
    fn skip_expression(&self, old: &mut Reader<'_>) -> Result<(), Problem> {
        if self.is_locations {
            self.read_expression(old)?;
        }
        Ok(())
    }

    #[inline]
    fn read_expression<'a>(&self, old: &mut Reader<'a>) -> Result<Reader<'a>, Problem> {
        let length = usize::try_from(leb::unsigned(old)?)?;
        Ok(old.split(length)?)
    }
}
