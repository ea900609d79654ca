//! Entries of `.debug_info`: addresses and lengths in place, and what refers to sections that are written
//! anew.

use gimli::{AttributeSpecification, AttributeValue, DwAt, DwForm, Reader as _, constants as dw};

use super::{AddressMap, Dwarf, Moved, Moves, Problem, Unit, expressions, put, reader};
use crate::lines::entries::Entries;
use crate::lines::sections::Slice;

/// What is found in `.debug_info`, and its new contents but for the references.
pub(super) struct Found {
    pub(super) info: Vec<u8>,
    pub(super) references: Vec<Reference>,
    pub(super) ranges: Lists,
    pub(super) locations: Lists,
    /// Offsets of units of macros.
    pub(super) macros: Vec<usize>,
}

impl Found {
    pub(super) fn new(info: &[u8], units: &[Unit<'_>]) -> Self {
        Self {
            info: info.to_vec(),
            references: Vec::new(),
            ranges: Lists::new(units.iter().map(|unit| unit.rnglists_base.0)),
            locations: Lists::new(units.iter().map(|unit| unit.loclists_base.0)),
            macros: Vec::new(),
        }
    }

    /// Notes where the value of an attribute refers to, if that is a section that is written anew.
    fn note<'a>(
        &mut self,
        dwarf: &Dwarf<'a>,
        (unit, number): (&Unit<'a>, usize),
        value: AttributeValue<Slice<'a>>,
        (at, size): (usize, usize),
    ) -> gimli::Result<()> {
        let version = unit.header.version();
        let refer = |old, into| Reference { at, size, old, into };
        match value {
            AttributeValue::RangeListsRef(old) => {
                let list = dwarf.ranges_offset_from_raw(unit, old);
                self.ranges.note(version, list.0, number);
                if version >= 5 {
                    self.references.push(refer(old.0, Into::Ranges));
                }
            }
            AttributeValue::DebugRngListsIndex(index) => {
                self.ranges.note(version, dwarf.ranges_offset(unit, index)?.0, number);
            }
            AttributeValue::LocationListsRef(old) => {
                self.locations.note(version, old.0, number);
                if version >= 5 {
                    self.references.push(refer(old.0, Into::Locations));
                }
            }
            AttributeValue::DebugLocListsIndex(index) => {
                self.locations.note(version, dwarf.locations_offset(unit, index)?.0, number);
            }
            AttributeValue::DebugRngListsBase(old) => self.references.push(refer(old.0, Into::Ranges)),
            AttributeValue::DebugLocListsBase(old) => self.references.push(refer(old.0, Into::Locations)),
            AttributeValue::DebugLineRef(old) => self.references.push(refer(old.0, Into::Lines)),
            AttributeValue::DebugMacroRef(old) => self.macros.push(old.0),
            _ => {}
        }
        Ok(())
    }
}

/// A field that holds an offset into a section that is written anew.
pub(super) struct Reference {
    /// Where the field stands.
    pub(super) at: usize,
    /// Its bytes.
    pub(super) size: usize,
    /// What it holds.
    pub(super) old: usize,
    /// Which section it means.
    pub(super) into: Into,
}

/// The sections that are written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Into {
    Lines,
    Ranges,
    Locations,
}

/// The lists that units refer to: offset, and number of the unit.
#[derive(Default)]
pub(super) struct Lists {
    /// The tables of DWARF 5 that one unit alone names its lists by: where the offsets in them count from,
    /// and number of the unit. Of lists in these nothing need be noted that are named by number.
    pub(super) tables: Vec<(usize, usize)>,
    /// In the sections of DWARF 5.
    pub(super) of_5: Vec<(usize, usize)>,
    /// In those of the versions before.
    pub(super) before_5: Vec<(usize, usize)>,
}

impl Lists {
    /// Where the offsets in tables count from by unit; 0 if it has none.
    fn new(bases: impl Iterator<Item = usize>) -> Self {
        let mut tables: Vec<_> = bases.zip(0..).filter(|&(base, _)| base > 0).collect();
        tables.sort_unstable();
        // Compilers of several units at once give all of them the same one.
        let own = tables.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() == 1);
        Self { tables: own.flatten().copied().collect(), ..Self::default() }
    }

    /// The unit that has a table for itself.
    pub(super) fn owner(&self, base: usize) -> Option<usize> {
        let found = self.tables.binary_search_by_key(&base, |&(base, _)| base).ok()?;
        Some(self.tables[found].1)
    }

    fn note(&mut self, version: u16, offset: usize, unit: usize) {
        let lists = if version >= 5 { &mut self.of_5 } else { &mut self.before_5 };
        lists.push((offset, unit));
    }

    /// Puts them in order, each once.
    pub(super) fn order(&mut self) {
        for lists in [&mut self.of_5, &mut self.before_5] {
            // As one number, which is faster to compare than two.
            lists.sort_unstable_by_key(|&(offset, unit)| (offset as u128) << 64 | unit as u128);
            lists.dedup_by_key(|(offset, _)| *offset);
        }
    }
}

/// Corrects the entries of a unit.
pub(super) fn unit<'a>(
    dwarf: &Dwarf<'a>,
    units: &[Unit<'a>],
    number: usize,
    moves: &Moves<'_, impl AddressMap>,
    found: &mut Found,
) -> Result<(), Problem> {
    let unit = &units[number];
    let version = unit.header.version();
    let start = unit.header.debug_info_offset().map_or(0, |offset| offset.0);
    let own_ranges = found.ranges.owner(unit.rnglists_base.0) == Some(number);
    let own_locations = found.locations.owner(unit.loclists_base.0) == Some(number);
    let mut entries = Entries::new(unit, |_, attribute: AttributeSpecification| match attribute.form() {
        dw::DW_FORM_rnglistx => !own_ranges,
        dw::DW_FORM_loclistx => !own_locations,
        _ => !is_plain(attribute, version),
    })?;
    while entries.next()?.is_some() {
        let mut low = None;
        let mut length = None;
        while let Some(attribute) = entries.attribute()? {
            let at = start + entries.offset();
            let value = if attribute.name == dw::DW_AT_high_pc {
                entries.number(attribute)?.map_or_else(|value| value, AttributeValue::Udata)
            } else {
                entries.value(attribute)?
            };
            let size = start + entries.offset() - at;
            let is = |name: DwAt| attribute.name == name;
            match value {
                AttributeValue::Addr(old) if is(dw::DW_AT_high_pc) => {
                    put(&mut found.info, at, size, moves.end(old).unwrap_or(old))?;
                }
                AttributeValue::Addr(old) => {
                    put(&mut found.info, at, size, moves.address(old))?;
                    low = is(dw::DW_AT_low_pc).then_some(old).or(low);
                }
                AttributeValue::DebugAddrIndex(index) if is(dw::DW_AT_low_pc) => {
                    low = Some(dwarf.address(unit, index)?);
                }
                // It is corrected as the address of an instruction, not as an end.
                AttributeValue::DebugAddrIndex(_) if is(dw::DW_AT_high_pc) => {
                    return Err(Problem::new("an end of code is told by the number of an address"));
                }
                AttributeValue::Udata(old) if is(dw::DW_AT_high_pc) => {
                    length = Some((at, size, attribute.form, old));
                }
                AttributeValue::Exprloc(expression) => {
                    let end = at + size;
                    let place =
                        end.checked_sub(expression.0.len()).and_then(|from| found.info.get_mut(from..end));
                    if let Some(place) = place {
                        expressions::correct(place, unit.encoding(), moves);
                    }
                }
                AttributeValue::SecOffset(_) => {
                    let name = attribute.name;
                    return Err(Problem(format!(
                        "an entry has {name}, and what that refers to is not known"
                    )));
                }
                value => found.note(dwarf, (unit, number), value, (at, size))?,
            }
        }
        if let (Some(low), Some((at, size, form, old))) = (low, length) {
            let new = old.checked_add(low).and_then(|end| moves.length_of(low, end));
            // Of functions that the linker dropped, the length stays.
            if let Some(new) = new.filter(|&new| new != old) {
                put_length(&mut found.info, at, size, form, new)?;
            }
        }
    }
    Ok(())
}

/// An attribute that tells neither of an address nor of a place in another section that moves.
fn is_plain(spec: AttributeSpecification, version: u16) -> bool {
    if spec.name() == dw::DW_AT_high_pc {
        return false;
    }
    match spec.form() {
        dw::DW_FORM_data1
        | dw::DW_FORM_data2
        | dw::DW_FORM_data16
        | dw::DW_FORM_udata
        | dw::DW_FORM_sdata
        | dw::DW_FORM_implicit_const
        | dw::DW_FORM_flag
        | dw::DW_FORM_flag_present
        | dw::DW_FORM_string
        | dw::DW_FORM_strp
        | dw::DW_FORM_line_strp
        | dw::DW_FORM_strx
        | dw::DW_FORM_strx1
        | dw::DW_FORM_strx2
        | dw::DW_FORM_strx3
        | dw::DW_FORM_strx4
        | dw::DW_FORM_ref1
        | dw::DW_FORM_ref2
        | dw::DW_FORM_ref4
        | dw::DW_FORM_ref8
        | dw::DW_FORM_ref_udata
        | dw::DW_FORM_ref_addr
        | dw::DW_FORM_ref_sig8 => true,
        // Offsets of other sections before DWARF 4.
        dw::DW_FORM_data4 | dw::DW_FORM_data8 => version >= 4,
        _ => false,
    }
}

/// A length of code, in the field that it has.
fn put_length(info: &mut [u8], at: usize, size: usize, form: DwForm, new: u64) -> Result<(), Problem> {
    match form {
        dw::DW_FORM_data1 | dw::DW_FORM_data2 | dw::DW_FORM_data4 | dw::DW_FORM_data8 => {
            put(info, at, size, new)
        }
        // As many bytes as before.
        dw::DW_FORM_udata if size < 10 && new >> (7 * size) == 0 => {
            for (index, byte) in info[at..at + size].iter_mut().enumerate() {
                let more = if index + 1 < size { 0x80 } else { 0 };
                *byte = (new >> (7 * index)) as u8 & 0x7f | more;
            }
            Ok(())
        }
        _ => Err(Problem::new("a length of code has no room to grow")),
    }
}

/// `.debug_macro` with the references to line tables corrected that the units at `offsets` have (DWARF 5,
/// section 6.3.1).
pub(super) fn macros(old: &[u8], offsets: &[usize], lines: &Moved) -> Result<Vec<u8>, Problem> {
    /// Offsets are of 64 bits.
    const OFFSET_SIZE: u8 = 1;
    /// There is an offset of a line table.
    const LINE_OFFSET: u8 = 2;
    let mut new = old.to_vec();
    for &at in offsets {
        let mut unit = reader(old);
        unit.skip(at)?;
        let (_version, flags) = (unit.read_u16()?, unit.read_u8()?);
        if flags & LINE_OFFSET != 0 {
            let size = if flags & OFFSET_SIZE == 0 { 4 } else { 8 };
            let line = unit.read_sized_offset(size)?;
            put(&mut new, at + 3, usize::from(size), lines.of(line)? as u64)?;
        }
    }
    Ok(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_several_units_are_nobodys() {
        let lists = Lists::new([12, 0, 400, 12, 80, 0].into_iter());
        let owners = [0, 12, 80, 81, 400].map(|base| lists.owner(base));
        assert_eq!(owners, [None, None, Some(4), None, Some(2)]);
    }
}
