//! Whether a launch's buffers fit into this machine's memory. This is asked before anything is allocated.

use amdinst_emu::Room;

/// How often a run holds its buffers, at most: what they begin with, what each of the two kernels works on,
/// and what is compared.
const COPIES: u64 = 4;

/// Buffers that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no room for {size} bytes: a run holds its buffers up to {COPIES} times, {needed} bytes so far, and {available} bytes of memory \
     are available"
)]
pub struct NoRoom {
    /// Bytes of the buffer.
    size: u64,
    /// Bytes of all copies of it and of the buffers before it.
    needed: u128,
    /// Bytes that there are.
    available: u64,
}

/// Looks whether buffers of these sizes fit together.
///
/// # Errors
/// They do not: the place in `sizes` of the first that does not, and why.
pub fn check(room: Room, sizes: impl IntoIterator<Item = u64>) -> Result<(), (usize, NoRoom)> {
    let available = room.bytes();
    let mut needed = 0;
    for (index, size) in sizes.into_iter().enumerate() {
        needed += u128::from(size) * u128::from(COPIES);
        if needed > u128::from(available) {
            return Err((index, NoRoom { size, needed, available }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_does_not_fit_is_told() {
        let room = Room::of(4000);
        assert_eq!(check(room, [600, 0, 400]), Ok(()));
        let (index, error) = check(room, [600, 401, 1]).unwrap_err();
        assert_eq!(index, 1);
        assert_eq!(
            error.to_string(),
            "no room for 401 bytes: a run holds its buffers up to 4 times, 4004 bytes so far, and 4000 bytes of memory are \
             available"
        );
        assert_eq!(check(room, [u64::MAX, u64::MAX]).unwrap_err().0, 0);
        assert_eq!(check(Room::of(u64::MAX), [u64::MAX / 4, 4]).unwrap_err().0, 1);
    }
}
