//! Metadata with kernels edited. What does not change is copied as it is, so what is not understood stays
//! byte for byte.

use std::borrow::Cow;
use std::ops::Range;

use crate::KernelArg;
use crate::messagepack::{Damaged, Item, Recent, Stream, write};
use crate::metadata::KERNELS;
use crate::metadata::MetadataEdit;

/// Appends the MessagePack of a file with kernels edited: `edits` by name. `false` if it has none of them.
pub(super) fn edited<'n, 'e>(
    file: &'n [u8],
    mut metadata: Stream<'n>,
    edits: impl Fn(&str) -> Option<&'e MetadataEdit>,
    out: &mut Vec<u8>,
) -> Result<bool, Damaged> {
    let end = metadata.position() + metadata.rest().len();
    let mut splice = Splice { file: &file[..end], done: metadata.position(), out };
    let (mut is_first, mut is_edited) = (true, false);
    let (mut entries, mut args) = (Vec::new(), Recent::default());
    let mut kernel = |stream: &mut Stream<'n>| {
        let (head, length) = read_kernel(stream, &mut entries, &mut args)?;
        let name = entries.iter().find(|entry| entry.key == Some(b".name")).and_then(Entry::text);
        if let Some(edit) =
            name.and_then(|name| edits(&name)).filter(|edit| **edit != MetadataEdit::default())
        {
            write_kernel(&mut splice, head, length, &entries, Change::of(edit));
            is_edited = true;
        }
        Ok(())
    };
    let top = metadata.item()?;
    if let Item::Map(length) = top {
        metadata.entries(length, |stream, key| {
            let is_kernels = key == Some(KERNELS) && std::mem::take(&mut is_first);
            match stream.item()? {
                Item::Array(length) if is_kernels => stream.items(length, &mut kernel),
                other => stream.skip_inside(other),
            }
        })?;
    }
    splice.finish();
    Ok(is_edited)
}

/// What changes at a key of a kernel.
enum Change<'e> {
    Number(u32),
    /// Arguments that come after those that are there.
    Append(&'e [KernelArg]),
}

impl<'e> Change<'e> {
    /// Every change of an edit with its key, in order of the keys.
    fn of(edit: &'e MetadataEdit) -> Vec<(&'static str, Self)> {
        let args = Some(&edit.append_args[..]).filter(|args| !args.is_empty());
        [
            (".agpr_count", edit.agpr_count.map(Change::Number)),
            (".args", args.map(Change::Append)),
            (".group_segment_fixed_size", edit.group_segment_fixed_size.map(Change::Number)),
            (".kernarg_segment_size", edit.kernarg_segment_size.map(Change::Number)),
            (".private_segment_fixed_size", edit.private_segment_fixed_size.map(Change::Number)),
            (".sgpr_count", edit.sgpr_count.map(Change::Number)),
            (".vgpr_count", edit.vgpr_count.map(Change::Number)),
        ]
        .into_iter()
        .filter_map(|(key, change)| Some((key, change?)))
        .collect()
    }

    /// Appends the value of a key that was not there.
    fn write(&self, out: &mut Vec<u8>) {
        match *self {
            Self::Number(number) => write::number(out, number.into()),
            Self::Append(args) => {
                write::array(out, args.len() as u32);
                args.iter().for_each(|arg| arg.write(out));
            }
        }
    }
}

/// A key of a kernel and where it stands.
struct Entry<'a> {
    /// If it is a string.
    key: Option<&'a [u8]>,
    start: usize,
    value: Stream<'a>,
    end: usize,
}

impl<'a> Entry<'a> {
    fn text(&self) -> Option<Cow<'a, str>> {
        let mut value = self.value;
        match value.item() {
            Ok(Item::String(text)) => Some(amdinst_text::name(text)),
            _ => None,
        }
    }
}

/// Finds the entries of a kernel; `args` knows the arguments of other ones. Returns where the head of its map
/// stands, and its length: there are none if it is no map.
fn read_kernel<'a>(
    stream: &mut Stream<'a>,
    entries: &mut Vec<Entry<'a>>,
    args: &mut Recent<'a, ()>,
) -> Result<(Range<usize>, u32), Damaged> {
    entries.clear();
    let start = stream.position();
    let item = stream.item()?;
    let head = start..stream.position();
    let Item::Map(length) = item else {
        stream.skip_inside(item)?;
        return Ok((head, 0));
    };
    let mut start = head.end;
    stream.entries(length, |stream, key| {
        let value = *stream;
        match key {
            Some(b".args") => args.read(stream, Stream::skip)?,
            _ => stream.skip()?,
        }
        entries.push(Entry { key, start, value, end: stream.position() });
        start = stream.position();
        Ok::<_, Damaged>(())
    })?;
    Ok((head, length))
}

/// Writes a kernel with changes, which are in order of their keys. A key that it does not have goes where
/// writers that sort would put it; of one that it has several times the first is changed, which is the one
/// that is read.
fn write_kernel(
    splice: &mut Splice<'_, '_>,
    head: Range<usize>,
    length: u32,
    entries: &[Entry<'_>],
    changes: Vec<(&'static str, Change<'_>)>,
) {
    let is_there =
        |&(key, _): &(&str, Change<'_>)| entries.iter().any(|entry| entry.key == Some(key.as_bytes()));
    let (mut present, absent): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_there);
    let end = entries.last().map_or(head.end, |entry| entry.end);
    splice.replace(head, |out| write::map(out, length + absent.len() as u32));
    let add = |splice: &mut Splice<'_, '_>, at: usize, key: &str, change: &Change<'_>| {
        splice.replace(at..at, |out| {
            write::string(out, key);
            change.write(out);
        });
    };
    let mut absent = absent.into_iter().peekable();
    for entry in entries {
        let is_behind = |new: &str| entry.key.is_some_and(|key| key > new.as_bytes());
        while let Some((key, change)) = absent.next_if(|(key, _)| is_behind(key)) {
            add(splice, entry.start, key, &change);
        }
        let change = present.iter().position(|(key, _)| entry.key == Some(key.as_bytes()));
        if let Some(change) = change {
            let (_, change) = present.remove(change);
            write_value(splice, entry, &change);
        }
    }
    for (key, change) in absent {
        add(splice, end, key, &change);
    }
}

fn write_value(splice: &mut Splice<'_, '_>, entry: &Entry<'_>, change: &Change<'_>) {
    let mut value = entry.value;
    let start = value.position();
    if let (Ok(Item::Array(length)), Change::Append(args)) = (value.item(), change) {
        // Each item has a byte at least, of which a note has fewer than 2^32.
        let length = length.saturating_add(args.len() as u32);
        splice.replace(start..value.position(), |out| write::array(out, length));
        splice.replace(entry.end..entry.end, |out| args.iter().for_each(|arg| arg.write(out)));
    } else {
        splice.replace(start..entry.end, |out| change.write(out));
    }
}

/// Bytes that are copied, with some replaced, in order.
struct Splice<'a, 'o> {
    file: &'a [u8],
    /// Up to where they are written.
    done: usize,
    out: &'o mut Vec<u8>,
}

impl Splice<'_, '_> {
    fn replace(&mut self, range: Range<usize>, write: impl FnOnce(&mut Vec<u8>)) {
        self.out.extend(&self.file[self.done..range.start]);
        write(self.out);
        self.done = range.end;
    }

    fn finish(self) {
        self.out.extend(&self.file[self.done..]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rmpv::Value;

    use super::*;
    use crate::messagepack::tests::encoded;
    use crate::metadata::tests::{get, metadata};

    fn edit() -> impl Strategy<Value = MetadataEdit> {
        let number = || prop::option::of(prop_oneof![0..300u32, any::<u32>()]);
        let arg = (0..500u32, any::<bool>()).prop_map(|(offset, is_named)| KernelArg {
            name: is_named.then(|| "amdinst_buffer".to_owned()),
            offset,
            size: 8,
            value_kind: "global_buffer".to_owned(),
            address_space: is_named.then(|| "global".to_owned()),
        });
        let numbers = (number(), number(), number(), number(), number(), number());
        (numbers, prop::collection::vec(arg, 0..3)).prop_map(|(numbers, append_args)| {
            let (kernarg_segment_size, group_segment_fixed_size, private_segment_fixed_size, ..) = numbers;
            let (.., sgpr_count, vgpr_count, agpr_count) = numbers;
            MetadataEdit {
                kernarg_segment_size,
                group_segment_fixed_size,
                private_segment_fixed_size,
                sgpr_count,
                vgpr_count,
                agpr_count,
                append_args,
            }
        })
    }

    /// The first value of a key, which goes before the first key that is greater if it is not there.
    fn value_of<'v>(map: &'v mut Vec<(Value, Value)>, key: &str) -> &'v mut Value {
        let is_greater = |(name, _): &(Value, Value)| name.as_str().is_some_and(|name| name > key);
        let place = map.iter().position(|(name, _)| name.as_str() == Some(key)).unwrap_or_else(|| {
            let place = map.iter().position(is_greater).unwrap_or(map.len());
            map.insert(place, (key.into(), Value::Nil));
            place
        });
        &mut map[place].1
    }

    fn argument(arg: &KernelArg) -> Value {
        let mut entries = Vec::new();
        entries.extend(arg.address_space.as_deref().map(|space| (".address_space".into(), space.into())));
        entries.extend(arg.name.as_deref().map(|name| (".name".into(), name.into())));
        entries.extend([
            (".offset".into(), arg.offset.into()),
            (".size".into(), arg.size.into()),
            (".value_kind".into(), arg.value_kind.as_str().into()),
        ]);
        Value::Map(entries)
    }

    fn apply(edit: &MetadataEdit, kernel: &mut Vec<(Value, Value)>) {
        for (key, number) in [
            (".agpr_count", edit.agpr_count),
            (".group_segment_fixed_size", edit.group_segment_fixed_size),
            (".kernarg_segment_size", edit.kernarg_segment_size),
            (".private_segment_fixed_size", edit.private_segment_fixed_size),
            (".sgpr_count", edit.sgpr_count),
            (".vgpr_count", edit.vgpr_count),
        ] {
            if let Some(number) = number {
                *value_of(kernel, key) = number.into();
            }
        }
        if !edit.append_args.is_empty() {
            let args = value_of(kernel, ".args");
            if !args.is_array() {
                *args = Value::Array(Vec::new());
            }
            let Value::Array(args) = args else { unreachable!("it is an array") };
            args.extend(edit.append_args.iter().map(argument));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        /// Bytes before and after the metadata do not matter to it, and those after it are kept.
        #[test]
        fn edited_bytes_are_those_of_an_edited_tree(mut tree in metadata(), edit in edit(), named in "[a-c]") {
            let bytes = [&b"note"[..], &encoded(&tree), b"rest"].concat();
            let edits = |name: &str| (name == named).then_some(&edit);
            let mut out = Vec::new();
            let edited = edited(&bytes, Stream::new(&bytes, 4..bytes.len()), edits, &mut out);
            let edited = edited.expect("it is MessagePack").then_some(out);

            let mut is_edited = false;
            let kernels = get(&tree, "amdhsa.kernels").and_then(Value::as_array).cloned();
            if let Some(mut kernels) = kernels {
                for kernel in &mut kernels {
                    let is_named = get(kernel, ".name").and_then(Value::as_str) == Some(&named);
                    if is_named && edit != MetadataEdit::default() {
                        let Value::Map(kernel) = kernel else { unreachable!("it has a name") };
                        apply(&edit, kernel);
                        is_edited = true;
                    }
                }
                let Value::Map(top) = &mut tree else { unreachable!("it has kernels") };
                *value_of(top, "amdhsa.kernels") = Value::Array(kernels);
            }
            let expected = is_edited.then(|| [&encoded(&tree)[..], b"rest"].concat());
            prop_assert_eq!(edited, expected);
        }
    }

    #[test]
    fn what_is_written_in_a_longer_form_than_needed_is_kept() {
        // {"amdhsa.kernels": [{".name": "k" as str 32, ".sgpr_count": 7 as u64, "x": 1 as i32}]}
        let mut bytes = b"\x81\xaeamdhsa.kernels\x91\x83\xa5.name\xdb\0\0\0\x01k\xab.sgpr_count\xcf".to_vec();
        bytes.extend(7u64.to_be_bytes());
        bytes.extend(b"\xa1x\xd2\0\0\0\x01");
        let edit = MetadataEdit { sgpr_count: Some(9), ..MetadataEdit::default() };
        let mut out = Vec::new();
        let edited = edited(&bytes, Stream::new(&bytes, 0..bytes.len()), |_| Some(&edit), &mut out);
        let expected =
            b"\x81\xaeamdhsa.kernels\x91\x83\xa5.name\xdb\0\0\0\x01k\xab.sgpr_count\x09\xa1x\xd2\0\0\0\x01";
        assert_eq!((edited, &out[..]), (Ok(true), &expected[..]));
    }
}
