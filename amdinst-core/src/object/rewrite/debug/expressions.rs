//! Addresses in the expressions of variables' locations.

use gimli::{Encoding, Expression, Operation, constants as dw};

use super::{ADDRESS, Moves, reader};

/// Corrects the addresses that an expression names itself, in place. Behind an operation that is not known it stays as it is.
#[inline]
pub(super) fn correct(expression: &mut [u8], encoding: Encoding, moves: &Moves<'_>) {
    // Hardly one names any.
    #[expect(clippy::manual_contains, reason = "it is slower for a few bytes, and most have no more")]
    let may_name = expression.iter().any(|&byte| byte == dw::DW_OP_addr.0);
    if may_name {
        correct_addresses(expression, encoding, moves);
    }
}

#[cold]
fn correct_addresses(expression: &mut [u8], encoding: Encoding, moves: &Moves<'_>) {
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
