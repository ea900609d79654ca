//! `.debug_addr`: addresses that others name by number (DWARF 5, section 7.27).

use gimli::Reader as _;

use super::{ADDRESS, AddressMap, Moves, Problem, offset, reader};

/// The section with its addresses corrected.
pub(super) fn correct(old: &[u8], moves: &Moves<'_, impl AddressMap>) -> Result<Vec<u8>, Problem> {
    let mut new = old.to_vec();
    let all = reader(old);
    let mut rest = all;
    while !rest.is_empty() {
        let (length, _) = rest.read_initial_length()?;
        let mut table = rest.split(length)?;
        let (version, size, segments) = (table.read_u16()?, table.read_u8()?, table.read_u8()?);
        if (version, usize::from(size), segments) != (5, ADDRESS, 0) {
            return Err(Problem::new("its table of addresses is of an unknown form"));
        }
        while !table.is_empty() {
            let at = offset(&table, &all);
            let address = moves.address(table.read_u64()?);
            new[at..at + ADDRESS].copy_from_slice(&address.to_le_bytes());
        }
    }
    Ok(new)
}
