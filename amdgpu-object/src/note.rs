//! The note section: finding the metadata, and putting changed metadata back.

use std::ops::Range;

use object::elf;

use super::elf::{Elf, Section};
use super::messagepack::Stream;
use super::metadata::{self, KernelEntry};
use super::{ObjectError, v2::Metadata};

/// `NT_AMDGPU_METADATA`.
const METADATA_TYPE: u32 = 32;
/// Its owner, the terminating zero included.
const METADATA_OWNER: &[u8] = b"AMDGPU\0";
/// The owner of the notes of code object version 2, the terminating zero included.
const VERSION_2_OWNER: &[u8] = b"AMD\0";
/// `NT_AMD_HSA_METADATA` of code object version 2.
const YAML_METADATA_TYPE: u32 = 10;
/// `NT_AMD_HSA_ISA_VERSION` of code object version 2.
const ISA_VERSION_TYPE: u32 = 3;

/// The metadata note and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct MetadataNote<'a> {
    /// Index of the section that holds it.
    pub(crate) section: usize,
    /// The whole note record in the file: header, owner, description and padding.
    pub(crate) record: Range<usize>,
    /// Where the description starts.
    pub(crate) at: usize,
    /// The metadata.
    pub(super) contents: WrittenMetadata<'a>,
}

/// The metadata as it is written.
#[derive(Clone, Debug)]
pub(super) enum WrittenMetadata<'a> {
    /// From its start on. Its contents were not read yet.
    MessagePack(Stream<'a>),
    /// In code object version 2.
    Yaml(Metadata),
}

impl MetadataNote<'_> {
    /// What it says of each kernel.
    pub(super) fn kernels(&self) -> Result<Vec<KernelEntry>, ObjectError> {
        let metadata = match &self.contents {
            WrittenMetadata::MessagePack(metadata) => *metadata,
            WrittenMetadata::Yaml(Metadata { version_3, .. }) => Stream::new(version_3, 0..version_3.len()),
        };
        metadata::kernels(metadata, self.at as u64)
    }
}

/// One record of a note section.
struct Record<'a> {
    owner: &'a [u8],
    kind: u32,
    description: Range<usize>,
    record: Range<usize>,
}

/// Finds the metadata note. `None` if no note section has one.
pub(crate) fn find<'a>(elf: &Elf, bytes: &'a [u8]) -> Result<Option<MetadataNote<'a>>, ObjectError> {
    let is_version_2 = elf.abi_version == 0;
    let (owner, kind) =
        if is_version_2 { (VERSION_2_OWNER, YAML_METADATA_TYPE) } else { (METADATA_OWNER, METADATA_TYPE) };
    let Some((section, Record { description, record, .. })) = first(elf, bytes, owner, kind)? else {
        return Ok(None);
    };
    let at = description.start;
    let contents = if is_version_2 {
        let yaml = Metadata::read(&bytes[description]).map_err(|problem| {
            let problem = format!("it is not the YAML of version 2: {problem}");
            ObjectError::malformed("metadata note", at as u64, problem)
        });
        WrittenMetadata::Yaml(yaml?)
    } else {
        WrittenMetadata::MessagePack(Stream::new(bytes, description))
    };
    Ok(Some(MetadataNote { section, record, at, contents }))
}

/// Major version, minor version and stepping of the processor, which code object version 2 has in a note.
pub(super) fn isa_version(elf: &Elf, bytes: &[u8]) -> Result<Option<[u32; 3]>, ObjectError> {
    let Some((_, record)) = first(elf, bytes, VERSION_2_OWNER, ISA_VERSION_TYPE)? else { return Ok(None) };
    let at = record.description.start as u64;
    let words = bytes[record.description].get(4..16).ok_or_else(|| {
        ObjectError::malformed("ISA version note", at, "its description has less than 16 bytes")
    })?;
    let word = |n: usize| u32::from_le_bytes([words[n], words[n + 1], words[n + 2], words[n + 3]]);
    Ok(Some([word(0), word(4), word(8)]))
}

/// Metadata notes side by side (code object version 3 and later).
pub(super) struct Notes {
    /// Index of the section that holds them, and nothing else.
    pub(super) section: usize,
    /// Where the MessagePack of each stands in the file.
    pub(super) descriptions: Vec<Range<usize>>,
}

/// All metadata notes of the section that has the first. `None` if there is none, or if the section has other
/// records as well.
pub(super) fn all(elf: &Elf, bytes: &[u8]) -> Result<Option<Notes>, ObjectError> {
    let Some((section, _)) = first(elf, bytes, METADATA_OWNER, METADATA_TYPE)? else { return Ok(None) };
    let mut descriptions = Vec::new();
    for record in records(&elf.sections[section], bytes) {
        let record = record?;
        if (record.owner, record.kind) != (METADATA_OWNER, METADATA_TYPE) {
            return Ok(None);
        }
        descriptions.push(record.description);
    }
    Ok(Some(Notes { section, descriptions }))
}

/// The first record of that owner and type, with the section that holds it.
fn first<'a>(
    elf: &Elf,
    bytes: &'a [u8],
    owner: &[u8],
    kind: u32,
) -> Result<Option<(usize, Record<'a>)>, ObjectError> {
    for (section, header) in elf.sections.iter().enumerate() {
        if header.kind != elf::SHT_NOTE {
            continue;
        }
        for record in records(header, bytes) {
            let record = record?;
            if record.owner == owner && record.kind == kind {
                return Ok(Some((section, record)));
            }
        }
    }
    Ok(None)
}

/// The records of a note section, up to the first that is damaged.
fn records<'a>(header: &Section, bytes: &'a [u8]) -> impl Iterator<Item = Result<Record<'a>, ObjectError>> {
    let Range { mut start, end } = header.file_range();
    std::iter::from_fn(move || {
        let at = (start < end).then_some(start)?;
        let record = record(bytes, at, end);
        start = record.as_ref().map_or(end, |record| record.record.end);
        Some(record.map_err(|problem| {
            ObjectError::malformed(format!("note in {}", header.name), at as u64, problem)
        }))
    })
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

/// Appends a note record with MessagePack as metadata, which `write` appends.
pub(super) fn encode<T>(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    append(out, METADATA_OWNER, METADATA_TYPE, write)
}

/// Appends the note with the YAML of code object version 2.
pub(super) fn encode_yaml(out: &mut Vec<u8>, text: &[u8]) {
    append(out, VERSION_2_OWNER, YAML_METADATA_TYPE, |out| out.extend(text));
}

/// A record is padded to a multiple of four bytes, as its owner is.
fn append<T>(out: &mut Vec<u8>, owner: &[u8], kind: u32, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    let pad =
        |out: &mut Vec<u8>, start: usize| out.resize(start + (out.len() - start).next_multiple_of(4), 0);
    let start = out.len();
    out.extend((owner.len() as u32).to_le_bytes());
    let size = out.len();
    out.extend([0; 4]);
    out.extend(kind.to_le_bytes());
    out.extend(owner);
    pad(out, start);
    let description = out.len();
    let result = write(out);
    let written = (out.len() - description) as u32;
    out[size..size + 4].copy_from_slice(&written.to_le_bytes());
    pad(out, start);
    result
}
