//! The stream beside `rmpv`, which makes trees.

use proptest::prelude::*;
use rmpv::{Value, ValueRef};

use super::{Damaged, Item, Stream, StreamProblem, describe};

/// The bytes of a tree.
pub(crate) fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    rmpv::encode::write_value(&mut bytes, value).expect("a Vec takes everything");
    bytes
}

/// Values of every type, nested.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let bytes = prop::collection::vec(any::<u8>(), 0..40);
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_flat_map(|n| (0..64u32).prop_map(move |shift| Value::from(n >> shift))),
        any::<i64>().prop_flat_map(|n| (0..64u32).prop_map(move |shift| Value::from(n >> shift))),
        (-1e9f32..1e9).prop_map(Value::from),
        (-1e9f64..1e9).prop_map(Value::from),
        "\\PC{0,50}".prop_map(Value::from),
        bytes.clone().prop_map(Value::from),
        (any::<i8>(), bytes).prop_map(|(kind, bytes)| Value::Ext(kind, bytes)),
    ];
    leaf.prop_recursive(4, 16, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..18).prop_map(Value::Array),
            prop::collection::vec((inner.clone(), inner), 0..18).prop_map(Value::Map),
        ]
    })
}

/// The tree of what comes next.
fn tree<'a>(stream: &mut Stream<'a>) -> Result<ValueRef<'a>, Damaged> {
    Ok(match stream.item()? {
        Item::Nil => ValueRef::Nil,
        Item::Boolean(value) => ValueRef::Boolean(value),
        Item::Unsigned(number) => ValueRef::from(number),
        Item::Negative(number) => ValueRef::from(number),
        Item::F32(number) => ValueRef::from(number),
        Item::F64(number) => ValueRef::from(number),
        Item::String(bytes) => std::str::from_utf8(bytes).expect("only strings are UTF-8 here").into(),
        Item::Binary(bytes) => ValueRef::Binary(bytes),
        Item::Extension(kind, bytes) => ValueRef::Ext(kind, bytes),
        Item::Array(length) => {
            let mut items = Vec::new();
            stream.items(length, |stream| {
                items.push(tree(stream)?);
                Ok::<_, Damaged>(())
            })?;
            ValueRef::Array(items)
        }
        Item::Map(length) => {
            // Keys that are no strings are passed over, so their values are read as if of an array.
            let mut items = Vec::new();
            stream.items(2 * length, |stream| {
                items.push(tree(stream)?);
                Ok::<_, Damaged>(())
            })?;
            let mut items = items.into_iter();
            ValueRef::Map(std::iter::from_fn(|| items.next().zip(items.next())).collect())
        }
    })
}

fn stream(bytes: &[u8]) -> Stream<'_> {
    Stream::new(bytes, 0..bytes.len())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn values_are_those_of_a_tree(value in value()) {
        let bytes = encoded(&value);
        let mut read = stream(&bytes);
        prop_assert_eq!(tree(&mut read), Ok(value.as_ref()));
        prop_assert_eq!(read.position(), bytes.len());

        let mut skipped = stream(&bytes);
        prop_assert_eq!(skipped.skip(), Ok(()));
        prop_assert_eq!(skipped.position(), bytes.len());
    }

    #[test]
    fn a_description_is_the_text_of_a_tree(value in value()) {
        let text = value.to_string();
        let cut: String = text.chars().take(40).collect();
        let expected = if cut == text { cut } else { cut + "…" };
        prop_assert_eq!(describe(stream(&encoded(&value))), expected);
    }

    #[test]
    fn what_is_cut_short_is_damaged(value in value(), at in any::<prop::sample::Index>()) {
        let mut bytes = encoded(&value);
        bytes.truncate(at.index(bytes.len()));
        let damaged = stream(&bytes).skip().map_err(|damaged| damaged.to_string());
        let told = "it is not valid MessagePack: it ends in the middle of a value";
        prop_assert_eq!(damaged, Err(told.to_owned()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5000) })]

    #[test]
    fn any_bytes_are_refused_where_a_tree_is(bytes in prop::collection::vec(prop_oneof![0x80..0xe0u8, any::<u8>()], 0..40)) {
        let mut rest = &bytes[..];
        let expected = rmpv::decode::read_value_ref(&mut rest);
        let mut read = stream(&bytes);
        let result = read.skip();
        let is_deep = result.is_err_and(|damaged| damaged.problem == StreamProblem::TooDeep);
        prop_assume!(!is_deep);
        prop_assert_eq!(result.is_ok(), expected.is_ok());
        if expected.is_ok() {
            prop_assert_eq!(read.position(), bytes.len() - rest.len());
        }
        prop_assert!(describe(stream(&bytes)).chars().count() <= 41);
    }
}

#[test]
fn nesting_has_a_limit() {
    let nested = |depth: usize| [&vec![0x91; depth][..], b"\x01"].concat();
    assert_eq!(stream(&nested(15)).skip(), Ok(()));
    for depth in [16, 17, 1 << 20] {
        let damaged = stream(&nested(depth)).skip().unwrap_err();
        assert_eq!(damaged.at, 16);
        assert_eq!(damaged.to_string(), "it is not valid MessagePack: maps and arrays are nested too deeply");
        assert_eq!(
            describe(stream(&nested(depth))).chars().count(),
            if depth < 40 { 2 * depth + 1 } else { 41 }
        );
    }
}

#[test]
fn lengths_that_lie_are_found_out() {
    for head in [
        &b"\xdd\xff\xff\xff\xff"[..],
        b"\xdf\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\0",
    ] {
        let bytes = [head, &[1; 100]].concat();
        assert!(stream(&bytes).skip().is_err(), "{head:x?}");
    }
}

#[test]
fn lengths_of_every_form_are_read() {
    for length in [0, 15, 16, 31, 32, 255, 256, 65535, 65536] {
        for value in [
            Value::from("a".repeat(length)),
            Value::Binary(vec![7; length]),
            Value::Ext(-3, vec![7; length]),
            Value::Array(vec![Value::Nil; length]),
            Value::Map(vec![(Value::Nil, Value::Nil); length]),
        ] {
            let bytes = encoded(&value);
            let mut read = stream(&bytes);
            assert_eq!(tree(&mut read), Ok(value.as_ref()));
            assert_eq!(read.position(), bytes.len());
        }
    }
}
