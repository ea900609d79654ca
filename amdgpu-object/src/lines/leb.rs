//! LEB128 numbers (DWARF 5, section 7.6). Nearly all of debug information is made of them, and most have a
//! byte or two: those are read here, the others by gimli.

use gimli::Reader as _;

use super::sections::Slice;

/// The last byte of a number is less.
pub(crate) const MORE: u8 = 0x80;

/// Reads an unsigned number.
#[inline]
pub(crate) fn unsigned(input: &mut Slice<'_>) -> gimli::Result<u64> {
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

/// Two unsigned numbers of two or of three bytes each, one behind the other at the low end of some bytes, if
/// they are that.
#[inline]
pub(crate) fn pair<const BYTES: usize>(bytes: u64) -> Option<(u64, u64)> {
    let of_both = |bits: u64| bits | bits << (8 * BYTES);
    let marks = bytes & of_both(0x80_8080 >> (8 * (3 - BYTES)));
    if marks != of_both(0x8080 >> (8 * (3 - BYTES))) {
        return None;
    }
    let two = bytes & of_both(0x7f) | bytes >> 1 & of_both(0x3f80);
    let both = if BYTES == 2 { two } else { two | bytes >> 2 & of_both(0x1f_c000) };
    let number = |shift: usize| both >> shift & ((1 << (8 * BYTES)) - 1);
    Some((number(0), number(8 * BYTES)))
}

/// The bytes of two such numbers, if they need as many and the second is not less than the first.
#[inline]
pub(crate) fn of_pair<const BYTES: usize>(first: u64, second: u64) -> Option<u64> {
    if first < 1 << (7 * (BYTES - 1)) || second >= 1 << (7 * BYTES) || first > second {
        return None;
    }
    let of_both = |bits: u64| bits | bits << (8 * BYTES);
    let both = first | second << (8 * BYTES);
    let two = both & of_both(0x7f) | (both & of_both(0x3f80)) << 1 | of_both(0x80);
    Some(if BYTES == 2 { two } else { two | (both & of_both(0x1f_c000)) << 2 | of_both(0x8000) })
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

    /// Their pairs are those that gimli reads.
    fn check_pair<const BYTES: usize>(numbers: [u64; 2]) {
        let needed = |number: u64| (u64::BITS - number.leading_zeros()).div_ceil(7).max(1);
        let [first, second] = numbers;
        let written = of_pair::<BYTES>(first, second);
        let fits = numbers.map(needed) == [BYTES as u32; 2] && first <= second;
        assert_eq!(written.is_some(), fits, "{numbers:x?}");
        if let Some(written) = written {
            let bytes = written.to_le_bytes();
            let mut rest = Slice::new(&bytes[..2 * BYTES], LittleEndian);
            assert_eq!([(); 2].map(|()| rest.read_uleb128()), numbers.map(Ok));
            assert!(rest.is_empty());
            assert_eq!(pair::<BYTES>(written | !0 << (16 * BYTES)), Some((first, second)));
        }
    }

    #[test]
    fn pairs_are_two_numbers() {
        let numbers = [0, 0x7f, 0x80, 0x1234, 0x3fff, 0x4000, 0x12_3456, 0x1f_ffff, 0x20_0000, u64::MAX];
        for first in numbers {
            for second in numbers {
                check_pair::<2>([first, second]);
                check_pair::<3>([first, second]);
            }
        }
        // The last byte of a number too early, or too late.
        for marks in [0, 0x8080, 0x8000_0080, 0x80_0000, 0x8080_8080] {
            assert_eq!(pair::<2>(marks), None);
        }
    }
}
