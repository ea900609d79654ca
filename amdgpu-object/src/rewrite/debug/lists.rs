//! `.debug_rnglists` and `.debug_loclists`: the lists of DWARF 5, written anew (sections 7.28 and 7.29).

use gimli::{DebugAddrIndex, Encoding, Reader as _};

use super::info::Lists;
use super::{
    ADDRESS, AddressMap, Dwarf, Moved, Moves, Problem, Reader, Unit, expressions, offset, put, put_uleb,
    reader,
};
use crate::lines::leb;

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

// Kinds of entries of locations. Those of ranges are the same, without default locations and hence one less
// from there on.
const END_OF_LIST: u8 = 0;
const BASE_ADDRESSX: u8 = 1;
const STARTX_ENDX: u8 = 2;
const STARTX_LENGTH: u8 = 3;
const OFFSET_PAIR: u8 = 4;
const DEFAULT_LOCATION: u8 = 5;
const BASE_ADDRESS: u8 = 6;
const START_END: u8 = 7;
const START_LENGTH: u8 = 8;

/// The new section, and where its lists and tables went. `lists` has those that units refer to, in order.
pub(super) fn rewrite(
    old: &[u8],
    lists: &Lists,
    is_locations: bool,
    bases: &Bases<'_>,
    moves: &Moves<'_, impl AddressMap>,
) -> Result<(Vec<u8>, Moved), Problem> {
    let all = reader(old);
    let mut writer = Writer {
        out: Vec::with_capacity(old.len() + old.len() / 8),
        is_locations,
        bases,
        moves,
        of_unit: None,
        of_number: None,
    };
    let mut moved = Moved::default();
    let mut noted = lists.of_5.iter().copied().peekable();
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
        let owner = lists.owner(base);
        let first = moved.0.len();
        moved.note(base, new_base);
        let mut offsets =
            table.split(count.checked_mul(word.into()).ok_or_else(|| Problem::new("damaged lists"))?)?;
        writer.out.extend(offsets.slice());
        while !table.is_empty() {
            let at = offset(&table, &all);
            moved.note(at, writer.out.len());
            while noted.next_if(|&(offset, _)| offset < at).is_some() {}
            let unit = noted.next_if(|&(offset, _)| offset == at).map(|(_, unit)| unit);
            writer.list(&mut table, unit.or(owner))?;
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

struct Writer<'r, 'b, 'm, M> {
    out: Vec<u8>,
    is_locations: bool,
    bases: &'r Bases<'b>,
    moves: &'r Moves<'m, M>,
    /// The last unit whose base was asked for, and that: lists of one unit follow one another.
    of_unit: Option<(usize, Base)>,
    /// The last base that was told by a number, by unit and number. Lists of one function have the same.
    of_number: Option<((usize, u64), Base)>,
}

/// What addresses are counted from, and where that went.
type Base = (u64, u64);

impl<M: AddressMap> Writer<'_, '_, '_, M> {
    /// Writes a list that a unit refers to; one of nobody has no base, and its offsets stay.
    fn list(&mut self, old: &mut Reader<'_>, unit: Option<usize>) -> Result<(), Problem> {
        let mut base = unit.map(|unit| self.base_of_unit(unit));
        // From there on kinds are one less.
        let first_less = if self.is_locations { u8::MAX } else { DEFAULT_LOCATION };
        let bases = self.bases;
        let numbered = |index| unit.map(|unit| bases.numbered(unit, index)).transpose();
        loop {
            if let (Some(bases), Some(&OFFSET_PAIR)) = (base, old.slice().first()) {
                self.usual_pairs::<2>(old, bases)?;
                self.usual_pairs::<3>(old, bases)?;
            }
            let raw = old.read_u8()?;
            let kind = raw.saturating_add(u8::from(raw >= first_less));
            match kind {
                END_OF_LIST => {
                    self.out.push(END_OF_LIST);
                    return Ok(());
                }
                BASE_ADDRESSX => {
                    let index = leb::unsigned(old)?;
                    base = unit.map(|unit| self.numbered_base(unit, index)).transpose()?;
                    self.out.push(raw);
                    put_uleb(&mut self.out, index);
                }
                BASE_ADDRESS => {
                    let address = old.read_u64()?;
                    let new = self.moves.address(address);
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

    fn base_of_unit(&mut self, unit: usize) -> Base {
        match self.of_unit {
            Some((of, base)) if of == unit => base,
            _ => {
                let base = self.bases.of_unit(unit);
                self.of_unit.insert((unit, (base, self.moves.address(base)))).1
            }
        }
    }

    fn numbered_base(&mut self, unit: usize, index: u64) -> Result<Base, Problem> {
        Ok(match self.of_number {
            Some((of, base)) if of == (unit, index) => base,
            _ => {
                let base = self.bases.numbered(unit, index)?;
                self.of_number.insert(((unit, index), (base, self.moves.address(base)))).1
            }
        })
    }

    /// Writes pairs of offsets, as long as all about them is as it is with nearly all: some bytes for each
    /// offset, before and after, and a short expression that names no address. What else there is
    /// [`Self::list`] takes care of.
    fn usual_pairs<const BYTES: usize>(
        &mut self,
        old: &mut Reader<'_>,
        (base, new_base): Base,
    ) -> Result<(), Problem> {
        /// So much of an expression is looked at, and copied, whatever of it there is.
        const MOST: usize = 16;
        // The kind and two offsets: no more than eight bytes.
        let head = 1 + 2 * BYTES;
        let bytes = old.slice();
        let mut at = 0;
        while let Some(&first) = bytes[at..].first_chunk::<8>()
            && first[0] == OFFSET_PAIR
            && let Some((begin, end)) = leb::pair::<BYTES>(u64::from_le_bytes(first) >> 8)
        {
            let mut tail = None;
            if self.is_locations {
                tail = bytes[at + head..].first_chunk::<{ 1 + MOST }>().copied();
                let is_usual = |[length, expression @ ..]: [u8; 1 + MOST]| {
                    usize::from(length) <= MOST && !expressions::may_name_in(expression, length)
                };
                if !tail.is_some_and(is_usual) {
                    break;
                }
            }
            // What is before the base wraps, and is large.
            let new = |range: gimli::Range| {
                leb::of_pair::<BYTES>(range.begin.wrapping_sub(new_base), range.end.wrapping_sub(new_base))
            };
            let range = self.moves.range(base.wrapping_add(begin), base.wrapping_add(end));
            let Some(new) = range.and_then(new) else { break };
            // Stores of all and a length, where a copy of a few bytes would be a call.
            let mut size = self.out.len() + head;
            self.out.extend_from_slice(&(new << 8 | u64::from(OFFSET_PAIR)).to_le_bytes());
            self.out.truncate(size);
            at += head;
            if let Some(tail) = tail {
                let length = 1 + usize::from(tail[0]);
                size += length;
                at += length;
                self.out.extend_from_slice(&tail);
                self.out.truncate(size);
            }
        }
        Ok(old.skip(at)?)
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

#[cfg(test)]
mod tests {
    use gimli::SectionId;
    use proptest::prelude::*;

    use super::*;
    use crate::rewrite::Edge;

    const CODE: u64 = 0x1_0000;

    /// Where the offsets in the first table count from.
    const BASE: usize = 12;

    /// The code is twice as long, but each part has lost its last byte.
    fn place(old: u64, edge: Edge) -> Option<u64> {
        Some(0x4_0000 + 2 * (old - CODE) - u64::from(edge == Edge::End))
    }

    /// Offsets of begin and end, and an expression.
    type Pair = (u64, u64, Vec<u8>);

    fn pair() -> impl Strategy<Value = Pair> {
        let length = prop_oneof![9 => 0usize..12, 1 => 12usize..200];
        // As bytes are in expressions, which name addresses now and then.
        let byte = prop_oneof![20 => 0x30u8..0xa0, 1 => 0u8..6];
        let expression = length.prop_flat_map(move |length| prop::collection::vec(byte.clone(), length));
        (prop_oneof![0u64..0x100, 0u64..0x4800], 1u64..0x300, expression)
            .prop_map(|(begin, length, expression)| (begin, begin + length, expression))
    }

    /// A table of lists, each with a base of its own.
    fn table(lists: &[(u64, Vec<Pair>)], is_locations: bool) -> (Vec<u8>, Vec<usize>) {
        let mut offsets = Vec::new();
        let mut body = Vec::new();
        for (base, pairs) in lists {
            offsets.push(4 * lists.len() + body.len());
            body.push(BASE_ADDRESS - u8::from(!is_locations));
            body.extend(base.to_le_bytes());
            for (begin, end, expression) in pairs {
                body.push(OFFSET_PAIR);
                put_uleb(&mut body, *begin);
                put_uleb(&mut body, *end);
                if is_locations {
                    put_uleb(&mut body, expression.len() as u64);
                    body.extend(expression);
                }
            }
            body.push(END_OF_LIST);
        }
        let mut section = (8 + 4 * lists.len() as u32 + body.len() as u32).to_le_bytes().to_vec();
        section.extend([5, 0, ADDRESS as u8, 0]);
        section.extend((lists.len() as u32).to_le_bytes());
        section.extend(offsets.iter().flat_map(|&offset| (offset as u32).to_le_bytes()));
        section.extend(body);
        (section, offsets)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]
        #[test]
        fn pairs_and_expressions_are_what_they_should_be(
            lists in prop::collection::vec((0u64..0x100, prop::collection::vec(pair(), 0..12)), 1..4),
            is_locations in any::<bool>(),
        ) {
            // A unit without attributes.
            let unit = [9, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1];
            let dwarf = Dwarf::load(|id| Ok::<_, gimli::Error>(reader(match id {
                SectionId::DebugInfo => &unit,
                SectionId::DebugAbbrev => &[1, 0x11, 0, 0, 0, 0],
                _ => &[],
            })))?;
            let header = dwarf.units().next()?.expect("a unit");
            let units = [dwarf.unit(header)?];
            let bases = Bases { dwarf: &dwarf, units: &units };
            let moves = Moves { address_map: &place, code: CODE..2 * CODE, new_end: None };

            let old: Vec<_> = lists.into_iter().map(|(base, pairs)| (CODE + base, pairs)).collect();
            let new = old.iter().map(|(base, pairs)| {
                let pairs = pairs.iter().cloned().map(|(begin, end, mut expression)| {
                    expressions::correct(&mut expression, units[0].encoding(), &moves);
                    (2 * begin, 2 * end - 1, expression)
                });
                (place(*base, Edge::Start).expect("code"), pairs.collect())
            });
            let new: Vec<_> = new.collect();
            let (old, old_offsets) = table(&old, is_locations);
            let (new, new_offsets) = table(&new, is_locations);

            // It is one whether the unit has the table for itself or its lists were found one by one.
            let own = Lists { tables: vec![(BASE, 0)], ..Lists::default() };
            let of_5 = old_offsets.iter().map(|offset| (BASE + offset, 0)).collect();
            for lists in [own, Lists { of_5, ..Lists::default() }] {
                let (written, moved) =
                    rewrite(&old, &lists, is_locations, &bases, &moves).map_err(|Problem(text)| TestCaseError::fail(text))?;
                prop_assert_eq!(&written, &new);
                for (old, new) in old_offsets.iter().zip(&new_offsets) {
                    prop_assert_eq!(moved.of(BASE + old).ok(), Some(BASE + new));
                }
            }
        }
    }
}
