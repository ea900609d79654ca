//! The debug sections, unpacked, and the units in them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::{DebugInfoOffset, Dwarf, EndianSlice, LittleEndian, Section as _, SectionId, Unit, UnitOffset};
use object::elf;

use super::LinesError;
use crate::CodeObject;
use crate::elf::{Elf, Section};
use crate::inflate::{self, Allowance};

/// Most bytes that a code object's debug sections may unpack to.
const LIMIT: u64 = 1 << 30;

/// How all debug data is read.
pub(crate) type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// The contents of the debug sections by name.
pub(crate) struct Sections<'a> {
    contents: HashMap<String, Cow<'a, [u8]>>,
}

impl<'a> Sections<'a> {
    pub(crate) fn read(object: &'a CodeObject) -> Result<Self, LinesError> {
        let elf = Elf::read(&object.bytes)
            .map_err(|error| LinesError { part: "ELF file".to_owned(), problem: error.to_string() })?;
        let mut contents = HashMap::new();
        let mut allowance = Allowance::new(LIMIT);
        for section in elf.sections.iter().filter(|section| section.name.starts_with(".debug_")) {
            let bytes = &object.bytes[section.file_range()];
            let unpacked = unpack(section, bytes, &mut allowance)
                .map_err(|problem| LinesError { part: format!("section {}", section.name), problem })?;
            contents.insert(section.name.clone(), unpacked);
        }
        Ok(Self { contents })
    }

    /// No debug information.
    pub(crate) fn is_empty(&self) -> bool {
        self.get(SectionId::DebugInfo).is_empty()
    }

    /// The contents of a section, empty if it is not there.
    pub(crate) fn get(&self, id: SectionId) -> Slice<'_> {
        EndianSlice::new(self.contents.get(id.name()).map_or(&[], |bytes| bytes), LittleEndian)
    }
}

/// Unpacks a section with `SHF_COMPRESSED`: a header of type, reserved word, size and alignment precedes the
/// data.
fn unpack<'a>(
    section: &Section,
    bytes: &'a [u8],
    allowance: &mut Allowance,
) -> Result<Cow<'a, [u8]>, String> {
    if !section.flags.contains(elf::SHF_COMPRESSED) {
        return Ok(Cow::Borrowed(bytes));
    }
    let (header, packed) = bytes.split_at_checked(24).ok_or("its compression header is cut short")?;
    let kind = u32::from_le_bytes(header[..4].try_into().expect("four bytes"));
    let size = u64::from_le_bytes(header[8..16].try_into().expect("eight bytes"));
    match kind {
        1 => inflate::zlib(packed, size, allowance).map(Cow::Owned),
        2 => inflate::zstd(packed, size, allowance).map(Cow::Owned),
        other => Err(format!("compression type {other} is not supported")),
    }
}

/// The parsed units.
pub(super) struct Units<'a> {
    pub(super) dwarf: Dwarf<Slice<'a>>,
    /// In order of offset in `.debug_info`.
    pub(super) units: Vec<Unit<Slice<'a>>>,
    offsets: Vec<DebugInfoOffset>,
}

impl<'a> Units<'a> {
    pub(super) fn read(sections: &'a Sections<'_>) -> Result<Self, LinesError> {
        let dwarf = Dwarf::load(|id| Ok::<_, LinesError>(sections.get(id)))?;
        let mut headers = dwarf.units();
        let mut units = Vec::new();
        let mut offsets = Vec::new();
        while let Some(header) = headers.next().map_err(|error| damaged(".debug_info", &error))? {
            let Some(offset) = header.debug_info_offset() else { continue };
            let unit = dwarf.unit(header).map_err(|error| damaged(&unit_name(offset), &error))?;
            units.push(unit);
            offsets.push(offset);
        }
        Ok(Self { dwarf, units, offsets })
    }

    /// Bytes of all entries.
    pub(super) fn info_bytes(&self) -> usize {
        self.dwarf.debug_info.reader().len()
    }

    /// Bytes of all lists of ranges.
    pub(super) fn range_bytes(&self) -> usize {
        let ranges = &self.dwarf.ranges;
        ranges.debug_ranges().reader().len() + ranges.debug_rnglists().reader().len()
    }

    /// Bytes of all line tables.
    pub(super) fn line_bytes(&self) -> usize {
        self.dwarf.debug_line.reader().len()
    }

    /// The unit that holds an offset in `.debug_info`, and the offset in it.
    pub(super) fn find(&self, offset: DebugInfoOffset) -> Option<(usize, UnitOffset)> {
        let index = self.offsets.partition_point(|start| start.0 <= offset.0).checked_sub(1)?;
        let inside = offset.to_unit_offset(&self.units[index].header)?;
        Some((index, inside))
    }

    /// An error in a unit.
    pub(super) fn damaged(&self, unit: usize, error: &gimli::Error) -> LinesError {
        damaged(&self.name(unit), error)
    }

    /// What a unit is called in errors.
    pub(super) fn name(&self, unit: usize) -> String {
        unit_name(self.offsets[unit])
    }

    /// A string attribute as text.
    pub(super) fn text(&self, unit: usize, value: gimli::AttributeValue<Slice<'a>>) -> Option<Arc<str>> {
        let string = self.dwarf.attr_string(&self.units[unit], value).ok()?;
        Some(Arc::from(amdinst_text::name(string.slice())))
    }
}

fn unit_name(offset: DebugInfoOffset) -> String {
    format!("unit at offset {:#x} of .debug_info", offset.0)
}

fn damaged(part: &str, error: &gimli::Error) -> LinesError {
    LinesError { part: part.to_owned(), problem: error.to_string() }
}
