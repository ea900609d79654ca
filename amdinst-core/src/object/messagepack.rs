//! MessagePack as compilers write the metadata note, read fast: the note is read whole whenever a code object is.
//!
//! Whatever else a note has, damage and rare types among it, is left to `rmpv`.

use rmpv::ValueRef as Value;

/// Deepest nesting of maps and arrays; the metadata of the user guide needs 5.
const MAX_DEPTH: usize = 8;

/// Most entries that room is made for before they are read: a length is believed when they are there.
const MAX_RESERVED: usize = 32;

/// The value at the start of `bytes`. `None` if there is anything in it that is not read here.
pub(super) fn read<'a>(bytes: &'a [u8]) -> Option<Value<'a>> {
    value(&mut { bytes }, MAX_DEPTH)
}

fn value<'a>(from: &mut &'a [u8], depth: usize) -> Option<Value<'a>> {
    let marker = *from.split_off_first()?;
    Some(match marker {
        0x00..=0x7f => Value::from(marker),
        0x80..=0x8f => map(from, (marker & 0x0f).into(), depth)?,
        0x90..=0x9f => array(from, (marker & 0x0f).into(), depth)?,
        0xa0..=0xbf => string(from, (marker & 0x1f).into())?,
        0xc2 | 0xc3 => Value::Boolean(marker == 0xc3),
        0xcc..=0xcf => Value::from(number(from, 1 << (marker - 0xcc))?),
        0xd9..=0xdb => {
            let length = number(from, 1 << (marker - 0xd9))?;
            string(from, usize::try_from(length).ok()?)?
        }
        0xdc | 0xdd => {
            let length = number(from, 2 << (marker - 0xdc))?;
            array(from, usize::try_from(length).ok()?, depth)?
        }
        0xde | 0xdf => {
            let length = number(from, 2 << (marker - 0xde))?;
            map(from, usize::try_from(length).ok()?, depth)?
        }
        0xe0..=0xff => Value::from(marker as i8),
        _ => return None,
    })
}

/// A number of so many bytes, the highest first.
fn number(from: &mut &[u8], size: usize) -> Option<u64> {
    let bytes = from.split_off(..size)?;
    Some(bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn string<'a>(from: &mut &'a [u8], length: usize) -> Option<Value<'a>> {
    Some(Value::from(std::str::from_utf8(from.split_off(..length)?).ok()?))
}

fn array<'a>(from: &mut &'a [u8], length: usize, depth: usize) -> Option<Value<'a>> {
    let depth = depth.checked_sub(1)?;
    let mut entries = Vec::with_capacity(length.min(MAX_RESERVED));
    for _ in 0..length {
        entries.push(value(from, depth)?);
    }
    Some(Value::Array(entries))
}

fn map<'a>(from: &mut &'a [u8], length: usize, depth: usize) -> Option<Value<'a>> {
    let depth = depth.checked_sub(1)?;
    let mut entries = Vec::with_capacity(length.min(MAX_RESERVED));
    for _ in 0..length {
        entries.push((value(from, depth)?, value(from, depth)?));
    }
    Some(Value::Map(entries))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmpv::Value as Owned;

    use super::*;

    fn text() -> impl Strategy<Value = Owned> {
        prop_oneof!["[.a-z_]{0,40}", "é{0,20}", "x{250,300}"].prop_map(Owned::from)
    }

    fn values() -> impl Strategy<Value = Owned> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Owned::from),
            any::<u64>().prop_map(Owned::from),
            (0u64..70000).prop_map(Owned::from),
            (-32i64..0).prop_map(Owned::from),
            text(),
        ];
        leaf.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Owned::Array),
                prop::collection::vec((text(), inner), 0..20).prop_map(Owned::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_compilers_write_is_read(value in values()) {
            let mut bytes = Vec::new();
            rmpv::encode::write_value(&mut bytes, &value).expect("a Vec takes all");
            prop_assert_eq!(read(&bytes), Some(value.as_ref()));
        }

        #[test]
        fn other_bytes_are_read_as_by_rmpv_or_not_at_all(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), 0x80u8..0xa8, 0xc0u8..0xe0], 0..40),
        ) {
            if let Some(value) = read(&bytes) {
                prop_assert_eq!(rmpv::decode::read_value_ref(&mut &bytes[..]).ok(), Some(value));
            }
        }
    }
}
