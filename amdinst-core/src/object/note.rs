//! The note section: finding the metadata, and putting changed metadata back.

use std::ops::Range;

use object::elf;
use rmpv::Value;

use super::{ObjectError, elf::Elf};

/// `NT_AMDGPU_METADATA`.
const METADATA_TYPE: u32 = 32;
/// Its owner, the terminating zero included.
const METADATA_OWNER: &[u8] = b"AMDGPU\0";
/// `NT_AMD_HSA_METADATA` of code object version 2, whose owner is `AMD`.
const YAML_METADATA_TYPE: u32 = 10;
/// Deepest nesting of maps and arrays that is followed; the metadata of the user guide needs 5.
const MAX_DEPTH: usize = 32;

/// The metadata note and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct MetadataNote {
    /// Index of the section that holds it.
    pub(crate) section: usize,
    /// The whole note record in the file: header, owner, description and padding.
    pub(crate) record: Range<usize>,
    /// Where the description (MessagePack) starts.
    pub(crate) at: usize,
    /// The metadata.
    pub(crate) value: Value,
}

/// One record of a note section.
struct Record<'a> {
    owner: &'a [u8],
    kind: u32,
    description: Range<usize>,
    record: Range<usize>,
}

/// Finds and decodes the metadata note. `None` if no note section has one.
pub(crate) fn find(elf: &Elf, bytes: &[u8]) -> Result<Option<MetadataNote>, ObjectError> {
    for (section, header) in elf.sections.iter().enumerate() {
        if header.kind != elf::SHT_NOTE {
            continue;
        }
        let range = header.file_range();
        let mut at = range.start;
        while at < range.end {
            let record = record(bytes, at, range.end).map_err(|problem| {
                ObjectError::malformed(format!("note in {}", header.name), at as u64, problem)
            })?;
            if record.owner == METADATA_OWNER && record.kind == METADATA_TYPE {
                let value = decode(&bytes[record.description.clone()], record.description.start)?;
                return Ok(Some(MetadataNote {
                    section,
                    at: record.description.start,
                    record: record.record,
                    value,
                }));
            }
            if record.owner == b"AMD\0" && record.kind == YAML_METADATA_TYPE {
                return Err(ObjectError::Version2);
            }
            at = record.record.end;
        }
    }
    Ok(None)
}

/// The note record at a file offset, which must end before `end`.
fn record(bytes: &[u8], at: usize, end: usize) -> Result<Record<'_>, String> {
    let word = |at: usize| {
        bytes[..end]
            .get(at..at + 4)
            .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")))
            .ok_or_else(|| "its header is cut short".to_owned())
    };
    let (owner_size, size, kind) = (word(at)? as usize, word(at + 4)? as usize, word(at + 8)?);
    let cut = || format!("an owner of {owner_size:#x} and a description of {size:#x} bytes do not fit");
    // Both sizes come from the file; on a 64-bit host two u32 and a file offset cannot overflow.
    let owner = at + 12..at + 12 + owner_size;
    let start = owner.end.next_multiple_of(4);
    let description = start..start + size;
    if description.end > end {
        return Err(cut());
    }
    Ok(Record {
        owner: &bytes[owner],
        kind,
        record: at..description.end.next_multiple_of(4).min(end),
        description,
    })
}

fn decode(mut bytes: &[u8], at: usize) -> Result<Value, ObjectError> {
    let whole = bytes.len();
    let value = rmpv::decode::read_value_with_max_depth(&mut bytes, MAX_DEPTH);
    let position = (at + whole - bytes.len()) as u64;
    value.map_err(|error| {
        ObjectError::malformed("metadata note", position, format!("it is not valid MessagePack: {error}"))
    })
}

/// A note record with the given metadata, padded to a multiple of four bytes.
pub(crate) fn encode(value: &Value) -> Vec<u8> {
    let mut description = Vec::new();
    rmpv::encode::write_value(&mut description, value).expect("writing to a Vec cannot fail");
    let mut record = Vec::with_capacity(description.len() + 24);
    record.extend((METADATA_OWNER.len() as u32).to_le_bytes());
    record.extend((description.len() as u32).to_le_bytes());
    record.extend(METADATA_TYPE.to_le_bytes());
    record.extend(METADATA_OWNER);
    record.resize(record.len().next_multiple_of(4), 0);
    record.extend(description);
    record.resize(record.len().next_multiple_of(4), 0);
    record
}
