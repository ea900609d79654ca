//! Addresses in the expressions of variables' locations.

use gimli::{Encoding, Expression, Operation, constants as dw};

use super::{ADDRESS, AddressMap, Moves, reader};

/// Corrects the addresses that an expression names itself, in place. Behind an operation that is not known it
/// stays as it is.
#[inline]
pub(super) fn correct(expression: &mut [u8], encoding: Encoding, moves: &Moves<'_, impl AddressMap>) {
    // Hardly one names any.
    #[expect(clippy::manual_contains, reason = "it is slower for a few bytes, and most have no more")]
    let may_name = expression.iter().any(|&byte| byte == dw::DW_OP_addr.0);
    if may_name {
        correct_addresses(expression, encoding, moves);
    }
}

/// Whether an expression may name an address itself; it is the first few of the bytes.
#[inline]
pub(super) fn may_name_in(bytes: [u8; 16], length: u8) -> bool {
    const ONES: u128 = u128::from_le_bytes([1; 16]);
    // Of bytes that are 0 the lowest is the lowest from which 1 cannot be taken.
    let zeros = u128::from_le_bytes(bytes) ^ (ONES * u128::from(dw::DW_OP_addr.0));
    let found = zeros.wrapping_sub(ONES) & !zeros & (ONES << 7);
    found.trailing_zeros() < 8 * u32::from(length)
}

#[cold]
fn correct_addresses(expression: &mut [u8], encoding: Encoding, moves: &Moves<'_, impl AddressMap>) {
    let old = expression.to_vec();
    let all = reader(&old);
    let mut operations = Expression(all).operations(encoding);
    while let Ok(Some(operation)) = operations.next() {
        let end = operations.offset_from(&Expression(all));
        if let Operation::Address { address } = operation {
            expression[end - ADDRESS..end].copy_from_slice(&moves.address(address).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_seen_at_once() {
        const ADDRESS: u8 = dw::DW_OP_addr.0;
        for filler in [0, 1, ADDRESS - 1, ADDRESS + 1, 0x80 | ADDRESS, 0xff] {
            for length in 0..=16 {
                assert!(!may_name_in([filler; 16], length), "{filler:#x} {length}");
                for at in 0..16 {
                    let mut bytes = [filler; 16];
                    bytes[usize::from(at)] = ADDRESS;
                    assert_eq!(may_name_in(bytes, length), at < length, "{filler:#x} {length} {at}");
                }
            }
        }
    }
}
