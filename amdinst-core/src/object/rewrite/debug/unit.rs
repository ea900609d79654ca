//! Entries of `.debug_info` and what their attributes refer to.

use gimli::write::{
    Address, AttributeValue, ConvertError, ConvertResult, ConvertUnit, ConvertUnitEntry, Location,
    LocationList, Range, RangeList, UnitEntryId,
};
use gimli::{Attribute, constants as dw, read};

use super::{Moves, Problem, Reader, lines};

/// Converts a unit, whose first entry is `root`.
pub(super) fn convert<'u, 'd>(
    unit: &mut ConvertUnit<'u, Reader<'d>>,
    root: ConvertUnitEntry<'u, Reader<'d>>,
    moves: &Moves<'_>,
) -> Result<(), Problem> {
    if let Some((program, files)) = lines::convert(unit, moves)? {
        unit.set_line_program(program, files);
    }
    attributes(unit, unit.unit.root(), &root, moves)?;
    let mut entry = root;
    while let Some(id) = unit.read_entry(&mut entry)? {
        let id = unit.add_entry(id, &entry);
        attributes(unit, id, &entry, moves)?;
    }
    Ok(())
}

fn attributes<'u, 'd>(
    unit: &mut ConvertUnit<'u, Reader<'d>>,
    id: UnitEntryId,
    entry: &ConvertUnitEntry<'u, Reader<'d>>,
    moves: &Moves<'_>,
) -> Result<(), Problem> {
    let low = match entry.attr_value(dw::DW_AT_low_pc) {
        Some(value) => entry.read_unit.attr_address(value)?,
        None => None,
    };
    for attribute in &entry.attrs {
        if let Some(value) = value(unit, entry.read_unit, attribute, low, moves)? {
            unit.unit.get_mut(id).set(attribute.name(), value);
        }
    }
    Ok(())
}

/// The new value of an attribute of an entry whose old code starts at `low`; `None` leaves it out.
fn value<'u, 'd>(
    unit: &mut ConvertUnit<'u, Reader<'d>>,
    from: read::UnitRef<'_, Reader<'d>>,
    attribute: &Attribute<Reader<'d>>,
    low: Option<u64>,
    moves: &Moves<'_>,
) -> Result<Option<AttributeValue>, Problem> {
    let value = attribute.value();
    match attribute.name() {
        dw::DW_AT_macros | dw::DW_AT_macro_info | dw::DW_AT_GNU_macros | dw::DW_AT_GNU_locviews => {
            return Ok(None);
        }
        dw::DW_AT_high_pc => return high_pc(from, value, low, moves),
        _ => {}
    }
    if let read::AttributeValue::FileIndex(index) = value {
        // In all forms, for the number may change.
        return Ok(Some(AttributeValue::FileIndex(unit.convert_file_index(from, index)?)));
    }
    if let Some(old) = from.attr_ranges(value)? {
        let list = ranges(old, moves)?;
        return Ok(Some(AttributeValue::RangeListRef(unit.unit.ranges.add(list))));
    }
    if let Some(old) = from.attr_locations(value)? {
        let list = locations(unit, from, old, moves)?;
        return Ok(Some(AttributeValue::LocationListRef(unit.unit.locations.add(list))));
    }
    known(unit.convert_attribute_value(from, attribute, &|old| Some(moves.address(old))))
}

/// The end of an entry's code: a length, counted from the start, or an address.
fn high_pc<'d>(
    from: read::UnitRef<'_, Reader<'d>>,
    value: read::AttributeValue<Reader<'d>>,
    low: Option<u64>,
    moves: &Moves<'_>,
) -> Result<Option<AttributeValue>, Problem> {
    if let Some(old) = from.attr_address(value)? {
        return Ok(Some(AttributeValue::Address(Address::Constant(moves.end(old).unwrap_or(old)))));
    }
    let Some(length) = value.udata_value() else { return Ok(None) };
    let new = low.and_then(|begin| moves.range(gimli::Range { begin, end: begin.checked_add(length)? }));
    // Of functions that the linker dropped, the length stays.
    Ok(Some(AttributeValue::Udata(new.map_or(length, |new| new.end - new.begin))))
}

fn ranges<'d>(mut old: read::RngListIter<Reader<'d>>, moves: &Moves<'_>) -> Result<RangeList, Problem> {
    // Absolute addresses in all versions of DWARF.
    let mut new = vec![Range::BaseAddress { address: Address::Constant(0) }];
    while let Some(range) = old.next()? {
        if let Some(gimli::Range { begin, end }) = moves.range(range) {
            new.push(Range::OffsetPair { begin, end });
        }
    }
    Ok(RangeList(new))
}

fn locations<'u, 'd>(
    unit: &ConvertUnit<'u, Reader<'d>>,
    from: read::UnitRef<'_, Reader<'d>>,
    mut old: read::LocListIter<Reader<'d>>,
    moves: &Moves<'_>,
) -> Result<LocationList, Problem> {
    let mut new = vec![Location::BaseAddress { address: Address::Constant(0) }];
    while let Some(entry) = old.next()? {
        let data = unit.convert_expression(from, entry.data, &|old| Some(moves.address(old)));
        let Some(data) = known(data)? else { continue };
        // What no other range covers.
        if entry.range == (gimli::Range { begin: 0, end: u64::MAX }) {
            new.push(Location::DefaultLocation { data });
        } else if let Some(gimli::Range { begin, end }) = moves.range(entry.range) {
            new.push(Location::OffsetPair { begin, end, data });
        }
    }
    Ok(LocationList(new))
}

/// A converted value; `None` for an expression with operations that `gimli` does not know.
fn known<T>(converted: ConvertResult<T>) -> Result<Option<T>, Problem> {
    match converted {
        Ok(value) => Ok(Some(value)),
        Err(
            ConvertError::UnsupportedOperation
            | ConvertError::InvalidBranchTarget
            | ConvertError::Read(gimli::Error::InvalidExpression(_)),
        ) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
