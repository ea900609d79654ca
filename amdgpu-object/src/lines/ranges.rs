//! Lists of code ranges. gimli reads them, but for what nearly all are made of: offsets from a base (DWARF 5,
//! section 7.25), which are read here several times as fast.

use gimli::{
    DebugAddrIndex, DwRle, Dwarf, RangeListsOffset, Reader as _, ReaderOffset as _, Section as _, Unit,
    constants as dw,
};

use super::leb;
use super::sections::Slice;

/// Calls `see` with start and end of each range of a list that a unit refers to. Those that are empty may be
/// left out.
pub(super) fn each<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    list: RangeListsOffset,
    mut see: impl FnMut(u64, u64),
) -> gimli::Result<()> {
    let (encoding, mut base) = (unit.encoding(), unit.low_pc);
    let section = dwarf.ranges.debug_rnglists().reader();
    let mut offset = list;
    if (encoding.version, encoding.address_size) == (5, 8) {
        let mut rest = *section;
        rest.skip(list.0)?;
        loop {
            offset = RangeListsOffset(rest.offset_from(*section));
            match rest.read_u8().map(DwRle) {
                Ok(dw::DW_RLE_end_of_list) => return Ok(()),
                Ok(dw::DW_RLE_base_addressx) => {
                    let index = usize::from_u64(leb::unsigned(&mut rest)?)?;
                    base = dwarf.address(unit, DebugAddrIndex(index))?;
                }
                // The last two addresses are of code that the linker discarded.
                Ok(dw::DW_RLE_offset_pair) if base < u64::MAX - 1 => {
                    let (begin, end) = (leb::unsigned(&mut rest)?, leb::unsigned(&mut rest)?);
                    see(base.wrapping_add(begin), base.wrapping_add(end));
                }
                _ => break,
            }
        }
    }
    let mut ranges = dwarf.ranges.ranges(offset, encoding, base, &dwarf.debug_addr, unit.addr_base)?;
    while let Some(range) = ranges.next()? {
        see(range.begin, range.end);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use gimli::{LittleEndian, SectionId};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]
        #[test]
        fn ranges_are_those_of_gimli(
            version in 4u8..6,
            list in prop::collection::vec(prop_oneof![0u8..10, Just(4), any::<u8>()], 0..60),
            addresses in prop::collection::vec(prop_oneof![any::<u64>(), Just(u64::MAX), Just(u64::MAX - 1)], 4),
        ) {
            // A unit without attributes.
            let unit: &[u8] = match version {
                5 => &[9, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1],
                _ => &[8, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1],
            };
            let addresses: Vec<u8> = addresses.iter().flat_map(|address| address.to_le_bytes()).collect();
            let dwarf = Dwarf::load(|id| Ok::<_, gimli::Error>(Slice::new(match id {
                SectionId::DebugInfo => unit,
                SectionId::DebugAbbrev => &[1, 0x11, 0, 0, 0, 0],
                SectionId::DebugAddr => &addresses,
                SectionId::DebugRngLists | SectionId::DebugRanges => &list,
                _ => &[],
            }, LittleEndian)))?;
            let unit = dwarf.unit(dwarf.units().next()?.expect("a unit"))?;
            let mut ours = Vec::new();
            let our_end = each(&dwarf, &unit, RangeListsOffset(0), |begin, end| {
                // Of the last two addresses there is no code.
                if begin < end && begin < u64::MAX - 1 {
                    ours.push((begin, end));
                }
            });
            let mut theirs = Vec::new();
            let mut ranges = dwarf.ranges(&unit, RangeListsOffset(0))?;
            let their_end = loop {
                match ranges.next() {
                    Ok(Some(range)) => theirs.push((range.begin, range.end)),
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            prop_assert_eq!(ours, theirs);
            prop_assert_eq!(our_end.map_err(|e| e.to_string()), their_end.map_err(|e| e.to_string()));
        }
    }
}
