//! The language as a whole: what is read, what is written, and every mistake with its place.

use half::{bf16, f16};
use proptest::prelude::*;

use super::*;

#[test]
fn every_kind_of_argument() {
    let elements = |element, count| Elements { element, count };
    for (text, spec) in [
        ("in:a.bin", ArgSpec::In("a.bin".into())),
        ("out:0x400:b:c.bin", ArgSpec::Out(Size::Bytes(1024), "b:c.bin".into())),
        ("out:4k:-", ArgSpec::Out(Size::Bytes(4096), "-".into())),
        ("out:f32[100]:c.npy", ArgSpec::Out(Size::Elements(elements(Element::F32, 100)), "c.npy".into())),
        ("inout:a:b", ArgSpec::InOut("a".into(), "b".into())),
        ("buf:64", ArgSpec::Buf(Size::Bytes(64))),
        ("buf:2M", ArgSpec::Buf(Size::Bytes(2 << 20))),
        ("buf:u16[1k]", ArgSpec::Buf(Size::Elements(elements(Element::U16, 1024)))),
        ("f32[100]", ArgSpec::Buf(Size::Elements(elements(Element::F32, 100)))),
        ("u8:255", ArgSpec::Scalar(Scalar::U8(255))),
        ("i8:-128", ArgSpec::Scalar(Scalar::I8(-128))),
        ("u16:0xffff", ArgSpec::Scalar(Scalar::U16(0xffff))),
        ("i16:-0x8000", ArgSpec::Scalar(Scalar::I16(i16::MIN))),
        ("u64:18446744073709551615", ArgSpec::Scalar(Scalar::U64(u64::MAX))),
        ("i32:-0x80000000", ArgSpec::Scalar(Scalar::I32(i32::MIN))),
        ("i64:-9223372036854775808", ArgSpec::Scalar(Scalar::I64(i64::MIN))),
        ("f16:65504", ArgSpec::Scalar(Scalar::F16(f16::MAX))),
        ("bf16:0.5", ArgSpec::Scalar(Scalar::BF16(bf16::from_f32(0.5)))),
        ("f32:1.5", ArgSpec::Scalar(Scalar::F32(1.5))),
        ("f32:-inf", ArgSpec::Scalar(Scalar::F32(f32::NEG_INFINITY))),
        ("f64:-1e300", ArgSpec::Scalar(Scalar::F64(-1e300))),
        ("hex:01_fF00", ArgSpec::Hex(vec![1, 0xff, 0])),
        ("bytes:a.bin", ArgSpec::Bytes("a.bin".into())),
        ("f32:[1, 2.5,-inf]", {
            let numbers = [1.0, 2.5, f32::NEG_INFINITY].map(Scalar::F32);
            ArgSpec::List(Element::F32, numbers.to_vec())
        }),
        ("u8:[]", ArgSpec::List(Element::U8, Vec::new())),
        (
            "iota:u32[8]",
            ArgSpec::Iota {
                elements: elements(Element::U32, 8),
                start: Scalar::U32(0),
                step: Scalar::U32(1),
            },
        ),
        (
            "iota:f64[8]:-1:0.5",
            ArgSpec::Iota {
                elements: elements(Element::F64, 8),
                start: Scalar::F64(-1.0),
                step: Scalar::F64(0.5),
            },
        ),
        ("fill:i16[0x10]:-7", ArgSpec::Fill(elements(Element::I16, 16), Scalar::I16(-7))),
        ("random:f32[4]", ArgSpec::Random { elements: elements(Element::F32, 4), range: None, seed: None }),
        (
            "random:f32[4]:-.5...5:seed=9",
            ArgSpec::Random {
                elements: elements(Element::F32, 4),
                range: Some((Scalar::F32(-0.5), Scalar::F32(0.5))),
                seed: Some(9),
            },
        ),
        (
            "random:u8[4]:seed=0",
            ArgSpec::Random { elements: elements(Element::U8, 4), range: None, seed: Some(0) },
        ),
        ("a/b.npy", ArgSpec::Npy("a/b.npy".into())),
    ] {
        assert_eq!(text.parse(), Ok(spec), "{text}");
    }
}

#[test]
fn names_stand_before_an_equals_sign() {
    let read = |text: &str| text.parse::<Argument>().map(|argument| (argument.name, argument.spec));
    assert_eq!(read("a.b=f32:1"), Ok((Some("a.b".to_owned()), ArgSpec::Scalar(Scalar::F32(1.0)))));
    assert_eq!(read("in:a=b.bin"), Ok((None, ArgSpec::In("a=b.bin".into()))));
    assert_eq!(read("in=in:in"), Ok((Some("in".to_owned()), ArgSpec::In("in".into()))));
    assert_eq!(read("x=y.npy"), Ok((Some("x".to_owned()), ArgSpec::Npy("y.npy".into()))));
}

/// Each mistake: what is told, and the bytes from which on it is marked.
#[test]
fn every_mistake_is_told_with_its_place() {
    let argument = |text: &str| text.parse::<Argument>().map(drop);
    let selector = |text: &str| text.parse::<Selector>().map(drop);
    let save = |text: &str| text.parse::<Save>().map(drop);
    let expectation = |text: &str| text.parse::<Expectation>().map(drop);
    type Read<'a> = &'a dyn Fn(&str) -> Result<(), SyntaxError>;
    let cases: [(Read<'_>, &str, usize, &str); 49] = [
        (&argument, "", 0, "an argument is missing"),
        (&argument, "5", 0, "expected KIND:…, and `5` is none"),
        (&argument, "a.bin", 0, "expected KIND:…, and `a.bin` is none"),
        (&argument, "a=", 2, "an argument is missing"),
        (&argument, "a=f33[4]", 2, "`f33` is no kind of argument, and no type"),
        (&argument, "u8:256", 3, "`256` does not fit in u8"),
        (&argument, "u64:99999999999999999999", 4, "`99999999999999999999` does not fit in u64"),
        (&argument, "u32:-1", 4, "`-1` does not fit in u32"),
        (&argument, "i32:x", 4, "`x` is not a whole number"),
        (&argument, "i32:", 4, "a number is missing"),
        (&argument, "f32:x", 4, "`x` is not a number"),
        (&argument, "f32:-1e39", 4, "`-1e39` does not fit in f32"),
        (&argument, "f16:65520", 4, "`65520` does not fit in f16"),
        (&argument, "f32:[1,x]", 7, "`x` is not a number"),
        (&argument, "f32:[1,2", 8, "`]` is missing at the end"),
        (&argument, "f32:[1]2", 7, "`2` is too much"),
        (&argument, "f32[10", 6, "`]` is missing at the end"),
        (&argument, "f32[10]x", 7, "`x` is too much"),
        (&argument, "f32[]", 4, "a size is missing"),
        (&argument, "f32[-1]", 4, "this is not a size: `-1`"),
        (&argument, "f32[10q]", 4, "`10q` is not a whole number"),
        (&argument, "f64[0x2000000000000000]", 0, "so many bytes do not fit in 64 bits"),
        (&argument, "buf:17179869184G", 4, "`17179869184G` does not fit in 64 bits"),
        (&argument, "out:64", 6, "`:` is missing at the end"),
        (&argument, "out:64:", 7, "the file's name is missing"),
        (&argument, "inout::b", 6, "the file's name is missing"),
        (&argument, "in:", 3, "the file's name is missing"),
        (&argument, "bytes:", 6, "the file's name is missing"),
        (&argument, "hex:012", 4, "3 digits are not pairs"),
        (&argument, "hex:0g", 5, "`g` is no hexadecimal digit"),
        (&argument, "hex:", 4, "0 digits are not pairs"),
        (&argument, "iota:u8[257]", 5, "element 256 does not fit in u8"),
        (&argument, "iota:f33[4]", 5, "`f33` is no type"),
        (&argument, "iota:u8[4]:1:2:3", 14, "`:3` is too much"),
        (&argument, "fill:f32[4]", 11, "`:` is missing at the end"),
        (&argument, "random:f32[4]:1", 14, "`1` is no range"),
        (&argument, "random:f32[4]:1..1", 14, "there is no f32 from 1.0 to below 1.0"),
        (&argument, "random:f32[4]:0..inf", 14, "there is no f32 from 0.0 to below inf"),
        (&argument, "random:f32[4]:seed=x", 19, "`x` is not a whole number"),
        (&argument, "random:f32[4]:seed=1:0..1", 21, "this is too much"),
        (&selector, "0", 0, "arguments are counted from 1"),
        (&selector, ":f32", 0, "no argument is named here"),
        (&selector, "2:f33", 2, "`f33` is no type"),
        (&selector, "2:f32[4..4]", 5, "this range is empty"),
        (&selector, "2:f32[1..2..3]", 10, "`.` where `]` is expected"),
        (&save, "2", 1, "`=` is missing at the end"),
        (&expectation, "2=", 2, "the file's name is missing"),
        (&expectation, "2=a~1e-5x", 4, "`1e-5x` is no tolerance here"),
        (&expectation, "2=a~1+2", 6, "`2` is no tolerance here"),
    ];
    for (read, text, position, what) in cases {
        let error = read(text).expect_err(text);
        assert!(error.what().starts_with(what), "{text}: {}", error.what());
        assert_eq!(error.position(), position, "{text}: {error}");
    }
}

#[test]
fn an_error_shows_the_place() {
    let error = "iota:f33[4]".parse::<Argument>().unwrap_err();
    let shown = "`f33` is no type\n  iota:f33[4]\n       ^^^\naccepted here: u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64";
    assert_eq!(error.to_string(), shown);
    // Of a long value, what stands around it; and a character is one column, whatever its bytes.
    let long = format!("hex:{}é{}", "00".repeat(5000), "00".repeat(5000));
    let text = long.parse::<Argument>().unwrap_err().to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "`é` is no hexadecimal digit");
    let column = |line: &str, wanted: char| line.chars().position(|c| c == wanted);
    assert!(lines[1].chars().count() < 100, "{text}");
    assert_eq!(column(lines[1], 'é'), column(lines[2], '^'));
}

fn element() -> impl Strategy<Value = Element> {
    (0..Element::ALL.len()).prop_map(|index| Element::ALL[index])
}

/// Any number but a NaN, which equals no other.
fn scalar(element: Element) -> impl Strategy<Value = Scalar> {
    any::<u64>()
        .prop_map(move |bits| element.read(&bits.to_le_bytes()))
        .prop_filter("a NaN equals nothing", |scalar| !scalar.to_f64().is_nan())
}

fn elements(element: Element) -> impl Strategy<Value = Elements> {
    (0..1u64 << 40).prop_map(move |count| Elements { element, count })
}

fn size() -> impl Strategy<Value = Size> {
    prop_oneof![
        any::<u64>().prop_map(Size::Bytes),
        element().prop_flat_map(elements).prop_map(Size::Elements)
    ]
}

fn spec() -> impl Strategy<Value = ArgSpec> {
    let file = || "[a-z~=.][a-z./~=-]{0,8}";
    prop_oneof![
        file().prop_map(|file| ArgSpec::In(file.into())),
        (size(), file()).prop_map(|(size, file)| ArgSpec::Out(size, file.into())),
        (file(), file()).prop_map(|(from, to)| ArgSpec::InOut(from.into(), to.into())),
        size().prop_map(ArgSpec::Buf),
        element().prop_flat_map(scalar).prop_map(ArgSpec::Scalar),
        prop::collection::vec(any::<u8>(), 1..20).prop_map(ArgSpec::Hex),
        file().prop_map(|file| ArgSpec::Bytes(file.into())),
        element().prop_flat_map(|element| {
            prop::collection::vec(scalar(element), 0..9)
                .prop_map(move |numbers| ArgSpec::List(element, numbers))
        }),
        element()
            .prop_flat_map(|element| (elements(element), scalar(element)))
            .prop_map(|(elements, value)| ArgSpec::Fill(elements, value)),
        element().prop_flat_map(|element| (0u64..100, scalar(element), scalar(element))).prop_map(
            |(count, start, step)| {
                let elements = Elements { element: start.element(), count };
                // Those that do not fit are refused.
                let step = if start.as_whole().is_some() { start.element().nearest(0.0) } else { step };
                ArgSpec::Iota { elements, start, step }
            }
        ),
        (
            element().prop_flat_map(|element| (elements(element), scalar(element), scalar(element))),
            any::<Option<u64>>()
        )
            .prop_map(|((elements, a, b), seed)| {
                let is_range = a.to_f64().is_finite() && b.to_f64().is_finite() && a.order() < b.order();
                ArgSpec::Random { elements, range: is_range.then_some((a, b)), seed }
            }),
        "[a-z][a-z/]{0,8}[a-z][.]npy".prop_map(|file| ArgSpec::Npy(file.into())),
    ]
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![(1..1000usize).prop_map(Which::Number), "[a-z_][a-z0-9_.]{0,6}".prop_map(Which::Name)]
}

fn selector() -> impl Strategy<Value = Selector> {
    (which(), prop::option::of(element()), any::<u64>(), any::<Option<u64>>()).prop_map(
        |(argument, element, from, to)| {
            let to = to.filter(|to| *to > from);
            Selector { argument, element, from, to }
        },
    )
}

fn tolerance() -> impl Strategy<Value = Tolerance> {
    let size = || {
        prop_oneof![Just(0.0), any::<f64>().prop_map(f64::abs)].prop_filter("finite", |size| size.is_finite())
    };
    prop_oneof![
        Just(Tolerance::Exact),
        (size(), size()).prop_map(|(absolute, relative)| Tolerance::Within { absolute, relative }),
        any::<u64>().prop_map(Tolerance::Ulps),
    ]
}

proptest! {
    #[test]
    fn arguments_are_read_as_written(name in prop::option::of("[a-z_][a-z0-9_.$]{0,6}"), spec in spec()) {
        let argument = Argument { name, spec };
        prop_assert_eq!(argument.to_string().parse(), Ok(argument));
    }

    #[test]
    fn selectors_are_read_as_written(selector in selector()) {
        prop_assert_eq!(selector.to_string().parse(), Ok(selector));
    }

    #[test]
    fn saves_are_read_as_written(argument in which(), path in "[a-z~=:/.-]{1,9}") {
        let save = Save { argument, path: path.into() };
        prop_assert_eq!(save.to_string().parse(), Ok(save));
    }

    #[test]
    fn expectations_are_read_as_written(
        (selector, path, tolerance) in (selector(), "[a-z~=:/.-]{0,9}[a-z]", tolerance()),
    ) {
        let expectation = Expectation { selector, path: path.into(), tolerance };
        prop_assert_eq!(expectation.to_string().parse(), Ok(expectation));
    }

    /// Whatever the text: no panic, and a place within it.
    #[test]
    fn any_text_is_read_or_refused(text in "[a-z0-9:\\[\\]=.~,xé+-]{0,24}", kind in 0..6usize, any in ".{0,24}") {
        let prefix = ["", "f32:[", "iota:u8[", "random:f16[3]:", "hex:", "out:"][kind];
        for text in [format!("{prefix}{text}"), text, any] {
            let errors = [
                text.parse::<Argument>().err(),
                text.parse::<Selector>().err(),
                text.parse::<Save>().err(),
                text.parse::<Expectation>().err(),
            ];
            for error in errors.into_iter().flatten() {
                prop_assert!(error.position() <= text.len());
                prop_assert!(error.to_string().contains('^'));
            }
        }
    }
}

#[test]
fn an_element_is_named_by_argument_and_number() {
    let read = |text: &str| text.parse::<ElementAt>();
    let named = ElementAt { argument: Which::Name("out".to_owned()), index: 17 };
    assert_eq!(read("out[17]"), Ok(named.clone()));
    assert_eq!(named.to_string(), "out[17]");
    assert_eq!(read("2[0x10]").map(|at| at.index), Ok(16));
    for wrong in ["out", "out[", "out[1", "out[1]x", "out[-1]", "0[1]", "[1]", "out[1..2]"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_fault_is_followed_back_by_its_word() {
    let read = |text: &str| text.parse::<FollowedBack>();
    assert_eq!(read("fault"), Ok(FollowedBack::Fault));
    // An argument may have that name.
    let element = ElementAt { argument: Which::Name("fault".to_owned()), index: 3 };
    assert_eq!(read("fault[3]"), Ok(FollowedBack::Element(element)));
    assert!(read("faults").is_err());
}
