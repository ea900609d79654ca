//! LEB128 numbers (DWARF 5, section 7.6). Nearly all of debug information is made of them, and most have a byte or two: those are
//! read here, the others by gimli.

use gimli::Reader as _;

use super::sections::Slice;

/// The last byte of a number is less.
pub(in crate::object) const MORE: u8 = 0x80;

/// Reads an unsigned number.
#[inline]
pub(in crate::object) fn unsigned(input: &mut Slice<'_>) -> gimli::Result<u64> {
    match *input.slice() {
        [low, ..] if low < MORE => {
            input.skip(1)?;
            Ok(low.into())
        }
        [low, high, ..] if high < MORE => {
            input.skip(2)?;
            Ok(u64::from(low - MORE) | u64::from(high) << 7)
        }
        _ => input.read_uleb128(),
    }
}

/// Reads a signed number.
#[inline]
pub(super) fn signed(input: &mut Slice<'_>) -> gimli::Result<i64> {
    match *input.slice() {
        [byte, ..] if byte < MORE => {
            input.skip(1)?;
            // The sign is bit 6.
            Ok(i64::from((byte << 1) as i8 >> 1))
        }
        [low, high, ..] if high < MORE => {
            input.skip(2)?;
            let bits = u16::from(low - MORE) | u16::from(high) << 7;
            // The sign is bit 13.
            Ok(i64::from((bits << 2) as i16 >> 2))
        }
        _ => input.read_sleb128(),
    }
}

/// Passes over a number of any length.
#[inline]
pub(super) fn skip(input: &mut Slice<'_>) -> gimli::Result<()> {
    if input.slice().first().is_some_and(|&byte| byte < MORE) {
        return input.skip(1);
    }
    match input.slice().iter().position(|&byte| byte < MORE) {
        Some(last) => input.skip(last + 1),
        // As far as there is any, so that the error is gimli's.
        None => input.skip_leb128(),
    }
}

#[cfg(test)]
mod tests {
    use gimli::LittleEndian;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]
        #[test]
        fn numbers_are_those_of_gimli(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x80u8..0x82, 0xfeu8..], 0..14),
        ) {
            let bytes = Slice::new(&bytes, LittleEndian);
            let (mut ours, mut theirs) = (bytes, bytes);
            prop_assert_eq!(unsigned(&mut ours), theirs.read_uleb128());
            prop_assert_eq!(ours, theirs);
            let (mut ours, mut theirs) = (bytes, bytes);
            prop_assert_eq!(signed(&mut ours), theirs.read_sleb128());
            prop_assert_eq!(ours, theirs);
            let (mut ours, mut theirs) = (bytes, bytes);
            prop_assert_eq!(skip(&mut ours), theirs.skip_leb128());
            prop_assert_eq!(ours, theirs);
        }
    }
}
