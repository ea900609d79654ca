//! `.debug_ranges` and `.debug_loc`: lists before DWARF 5, whose numbers are of fixed size (DWARF 4, sections
//! 2.17.3 and 2.6.2).

use gimli::Reader as _;

use super::lists::Bases;
use super::{ADDRESS, AddressMap, Moves, Problem, expressions, offset, reader};

/// The section with the lists corrected that units refer to: offset and unit of each, ascending.
pub(super) fn correct(
    old: &[u8],
    lists: &[(usize, usize)],
    is_locations: bool,
    bases: &Bases<'_>,
    moves: &Moves<'_, impl AddressMap>,
) -> Result<Vec<u8>, Problem> {
    let mut new = old.to_vec();
    let all = reader(old);
    for &(start, unit) in lists {
        let mut rest = all;
        rest.skip(start)?;
        let mut base = bases.of_unit(unit);
        loop {
            let at = offset(&rest, &all);
            let (begin, end) = (rest.read_u64()?, rest.read_u64()?);
            let mut set = |first: u64, second: u64| {
                new[at..at + ADDRESS].copy_from_slice(&first.to_le_bytes());
                new[at + ADDRESS..at + 2 * ADDRESS].copy_from_slice(&second.to_le_bytes());
            };
            match (begin, end) {
                (0, 0) => break,
                (u64::MAX, new_base) => {
                    base = new_base;
                    set(u64::MAX, moves.address(base));
                    continue;
                }
                _ => {}
            }
            let new_base = moves.address(base);
            match moves.range(base.wrapping_add(begin), base.wrapping_add(end)) {
                Some(range) => set(range.begin.wrapping_sub(new_base), range.end.wrapping_sub(new_base)),
                // Nothing that was carried over: no code.
                None if new_base != base => set(1, 1),
                None => {}
            }
            if is_locations {
                let length = usize::from(rest.read_u16()?);
                let at = offset(&rest, &all);
                rest.skip(length)?;
                expressions::correct(&mut new[at..at + length], bases.encoding(unit), moves);
            }
        }
    }
    Ok(new)
}
