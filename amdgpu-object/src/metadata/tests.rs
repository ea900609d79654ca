//! What is read of a stream beside what a tree has.

use proptest::prelude::*;
use proptest::sample::select;
use rmpv::Value;

use super::*;
use crate::messagepack::tests::{encoded, value};

/// The first value of a key.
pub(crate) fn get<'v>(map: &'v Value, key: &str) -> Option<&'v Value> {
    let entries = map.as_map()?;
    entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
}

const NUMBERS: [&str; 12] = [
    ".agpr_count",
    ".group_segment_fixed_size",
    ".kernarg_segment_align",
    ".kernarg_segment_size",
    ".max_flat_workgroup_size",
    ".private_segment_fixed_size",
    ".sgpr_count",
    ".sgpr_spill_count",
    ".vgpr_count",
    ".vgpr_spill_count",
    ".wavefront_size",
    ".workgroup_processor_mode",
];

fn text() -> impl Strategy<Value = Value> {
    "\\PC{0,40}".prop_map(Value::from)
}

/// Maps of such entries and of some that nobody knows, in order of their keys or in none.
fn map(entry: impl Strategy<Value = (&'static str, Value)>, length: usize) -> impl Strategy<Value = Value> {
    let known = entry.prop_map(|(key, value)| (Value::from(key), value));
    let unknown = (prop_oneof![4 => "\\.[a-z]{1,8}".prop_map(Value::from), 1 => value()], value());
    let entries = prop::collection::vec(prop_oneof![12 => known, 1 => unknown], 0..length);
    (entries, any::<bool>()).prop_map(|(mut entries, is_sorted)| {
        if is_sorted {
            entries.sort_by(|(a, _), (b, _)| a.as_str().cmp(&b.as_str()));
        }
        Value::Map(entries)
    })
}

/// Values of the right type, a few of another one.
fn mostly(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop_oneof![100 => value, 1 => self::value()]
}

fn arg() -> impl Strategy<Value = Value> {
    let number = (select(&[".offset", ".size"][..]), mostly(any::<u32>().prop_map(Value::from)));
    let text = (select(&[".address_space", ".name", ".value_kind"][..]), mostly(text()));
    map(prop_oneof![number, text], 8)
}

fn kernel() -> impl Strategy<Value = Value> {
    let number = (select(&NUMBERS[..]), mostly(any::<u32>().prop_map(Value::from)));
    let name =
        (select(&[".name", ".symbol"][..]), mostly(select(&["a", "b", "c"][..]).prop_map(Value::from)));
    let language = (Just(".language"), mostly(text()));
    let stack = (Just(".uses_dynamic_stack"), mostly(any::<bool>().prop_map(Value::from)));
    let sizes = [vec![0, 0, 0], vec![8, 8, 1], vec![1, 2], vec![1, 2, 3, 4]];
    let size =
        select(sizes.to_vec()).prop_map(|size| Value::Array(size.into_iter().map(Value::from).collect()));
    let size = (Just(".reqd_workgroup_size"), mostly(size));
    let args = prop::collection::vec(mostly(arg()), 0..20).prop_map(Value::Array);
    let args = (Just(".args"), mostly(args));
    map(prop_oneof![8 => number, 6 => name, 1 => language, 1 => stack, 1 => size, 2 => args], 24)
}

/// Metadata of a few kernels, most of them in order. Some come again, so that their arguments do.
pub(crate) fn metadata() -> impl Strategy<Value = Value> {
    let kernels = prop::collection::vec(mostly(kernel()), 0..4);
    let kernels =
        (kernels, 1..3usize).prop_map(|(kernels, times)| Value::Array(vec![kernels; times].concat()));
    let kernels = (Just("amdhsa.kernels"), mostly(kernels));
    let version = (Just("amdhsa.version"), value());
    mostly(map(prop_oneof![kernels, version], 4))
}

fn number_in(map: &Value, key: &str) -> Option<u32> {
    get(map, key).map_or(Some(0), |value| value.as_u64()?.try_into().ok())
}

/// A number that may be left out.
fn told_in(map: &Value, key: &str) -> Option<Option<u32>> {
    get(map, key).map_or(Some(None), |value| Some(Some(value.as_u64()?.try_into().ok()?)))
}

fn text_in(map: &Value, key: &str) -> Option<Option<String>> {
    get(map, key).map_or(Some(None), |value| Some(Some(amdinst_text::name_of(value.as_str()?).into_owned())))
}

fn arg_in(map: &Value) -> Option<KernelArg> {
    Some(KernelArg {
        name: text_in(map.as_map().map(|_| map)?, ".name")?,
        offset: number_in(map, ".offset")?,
        size: number_in(map, ".size")?,
        value_kind: text_in(map, ".value_kind")?.unwrap_or_default(),
        address_space: text_in(map, ".address_space")?,
    })
}

fn kernel_in(map: &Value) -> Option<KernelEntry> {
    let args = get(map, ".args").map_or(Some(&[][..]), |args| Some(&args.as_array()?[..]))?;
    let reqd_workgroup_size = match get(map, ".reqd_workgroup_size") {
        None => None,
        Some(size) => {
            let number = |number: &Value| u32::try_from(number.as_u64()?).ok();
            let size: Option<Vec<u32>> = size.as_array()?.iter().map(number).collect();
            Some(<[u32; 3]>::try_from(size?).ok()?)
        }
    };
    let metadata = KernelMetadata {
        args: args.iter().map(arg_in).collect::<Option<_>>()?,
        kernarg_segment_size: number_in(map, ".kernarg_segment_size")?,
        kernarg_segment_align: number_in(map, ".kernarg_segment_align")?,
        group_segment_fixed_size: number_in(map, ".group_segment_fixed_size")?,
        private_segment_fixed_size: number_in(map, ".private_segment_fixed_size")?,
        uses_dynamic_stack: get(map, ".uses_dynamic_stack").map_or(Some(false), Value::as_bool)?,
        wavefront_size: number_in(map, ".wavefront_size")?,
        workgroup_processor_mode: number_in(map, ".workgroup_processor_mode")? != 0,
        sgpr_count: number_in(map, ".sgpr_count")?,
        vgpr_count: number_in(map, ".vgpr_count")?,
        agpr_count: number_in(map, ".agpr_count")?,
        sgpr_spill_count: told_in(map, ".sgpr_spill_count")?,
        vgpr_spill_count: told_in(map, ".vgpr_spill_count")?,
        max_flat_workgroup_size: number_in(map, ".max_flat_workgroup_size")?,
        reqd_workgroup_size: reqd_workgroup_size.filter(|size| *size != [0; 3]),
        language: text_in(map, ".language")?,
    };
    Some(KernelEntry { name: text_in(map, ".name")??, symbol: text_in(map, ".symbol")??, metadata })
}

fn kernels_in(metadata: &Value) -> Option<Vec<KernelEntry>> {
    metadata.as_map()?;
    match get(metadata, "amdhsa.kernels") {
        None => Some(Vec::new()),
        Some(kernels) => kernels.as_array()?.iter().map(kernel_in).collect(),
    }
}

fn read_all(bytes: &[u8]) -> Result<Vec<KernelEntry>, ObjectError> {
    kernels(Stream::new(bytes, 0..bytes.len()), 0x200)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn kernels_are_those_of_a_tree(metadata in metadata()) {
        prop_assert_eq!(read_all(&encoded(&metadata)).ok(), kernels_in(&metadata));
    }

    #[test]
    fn an_argument_that_is_written_is_read(arg in arg()) {
        if let Some(arg) = arg_in(&arg) {
            let mut bytes = Vec::new();
            arg.write(&mut bytes);
            let tree = rmpv::decode::read_value(&mut &bytes[..]).expect("it is MessagePack");
            prop_assert_eq!(arg_in(&tree), Some(arg));
        }
    }
}

#[test]
fn an_argument_keeps_the_bytes_of_its_name() {
    for text in ["\u{e0100}", "\u{1b}[2J", "\u{10e100}", "größe"] {
        let entries = [(".name", Value::from(text)), (".offset", Value::from(8))];
        let entries = entries.map(|(key, value)| (Value::from(key), value)).to_vec();
        let mut bytes = Vec::new();
        arg_in(&Value::Map(entries)).unwrap().write(&mut bytes);
        let tree = rmpv::decode::read_value(&mut &bytes[..]).unwrap();
        assert_eq!(get(&tree, ".name").and_then(Value::as_str), Some(text));
    }
}

/// Metadata of one kernel with these entries behind its names.
fn with(entries: &[(&str, Value)]) -> Vec<u8> {
    let names = [(".name", Value::from("k")), (".symbol", Value::from("k.kd"))];
    let entries =
        names.iter().chain(entries).map(|(key, value)| (Value::from(*key), value.clone())).collect();
    let kernels = Value::Array(vec![Value::Map(entries)]);
    encoded(&Value::Map(vec![("amdhsa.kernels".into(), kernels)]))
}

fn told(bytes: &[u8]) -> String {
    read_all(bytes).unwrap_err().to_string()
}

#[test]
fn what_is_wrong_names_kernel_key_and_value() {
    let arg = |entries: Vec<(Value, Value)>| Value::Array(vec![Value::Map(entries)]);
    for (key, value, expected) in [
        (".sgpr_count", Value::from(-1), "`.sgpr_count` is -1, expected a 32-bit unsigned integer"),
        (
            ".vgpr_count",
            Value::from(1u64 << 32),
            "`.vgpr_count` is 4294967296, expected a 32-bit unsigned integer",
        ),
        (".language", Value::from(3), "`.language` is 3, expected a string"),
        (".uses_dynamic_stack", Value::Nil, "`.uses_dynamic_stack` is nil, expected a boolean"),
        (".args", Value::from("none"), "`.args` is \"none\", expected an array"),
        (".args", Value::Array(vec![1.into()]), "`.args` is 1, expected an array of maps"),
        (
            ".args",
            arg(vec![(".size".into(), "x".into())]),
            "`.size` is \"x\", expected a 32-bit unsigned integer",
        ),
        (
            ".reqd_workgroup_size",
            Value::Array(vec![1.into(), Value::Array(vec![2.into()]), 3.into()]),
            "`.reqd_workgroup_size` is [1, [2], 3], expected three 32-bit unsigned integers",
        ),
    ] {
        // What comes behind it is read too, and does not matter.
        let bytes = with(&[(key, value), (".wavefront_size", "x".into())]);
        assert_eq!(told(&bytes), format!("kernel `k`: metadata key {expected}; rebuild the code object"));
    }
}

#[test]
fn the_first_of_several_values_counts() {
    let bytes = with(&[(".sgpr_count", 3.into()), (".sgpr_count", "x".into()), (".name", "other".into())]);
    let [kernel] = &read_all(&bytes).expect("it is sound")[..] else { panic!("one kernel") };
    assert_eq!((kernel.name.as_str(), kernel.metadata.sgpr_count), ("k", 3));
}

#[test]
fn damage_is_told_before_what_is_wrong() {
    let mut bytes = with(&[(".sgpr_count", "x".into()), (".vgpr_count", 5.into())]);
    bytes.pop();
    let told = told(&bytes);
    assert!(told.contains("it is not valid MessagePack: it ends in the middle of a value"), "{told}");
}

#[test]
fn a_kernel_without_names_is_told_by_its_number() {
    let kernels = Value::Array(vec![Value::Map(vec![(".name".into(), "k".into())])]);
    let told = told(&encoded(&Value::Map(vec![("amdhsa.kernels".into(), kernels)])));
    assert!(told.starts_with("metadata note (at 0x200): kernel 0 has no string .symbol"), "{told}");
}
