//! A section that is not loaded, added to a finished image.

use object::elf::{self, SectionFlags, SectionType};

use super::super::ObjectError;
use super::super::elf::{Elf, SECTION_HEADER_SIZE, Section};
use super::{NewSection, dynamic};

/// Section numbers from here on mean something else (`SHN_LORESERVE`).
const RESERVED: usize = 0xff00;

/// Adds a section, or puts new contents into one of that name and size. The image stays as it was if it has
/// no names of sections that can grow.
///
/// # Errors
/// The image cannot be read.
pub(super) fn attach(bytes: &mut Vec<u8>, new: &NewSection<'_>) -> Result<(), ObjectError> {
    let mut elf = Elf::read(bytes)?;
    if let Some((_, old)) = elf.section(new.name)
        && !old.is_alloc()
        && old.file_range().len() == new.contents.len()
    {
        bytes[old.file_range()].copy_from_slice(new.contents);
        return Ok(());
    }
    let names = usize::from(u16::from_le_bytes([bytes[62], bytes[63]]));
    let Some(table) = elf.sections.get(names).filter(|table| names != 0 && !table.is_alloc()) else {
        return Ok(());
    };
    if elf.sections.len() + 1 >= RESERVED {
        return Ok(());
    }
    let mut strings = bytes[table.file_range()].to_vec();
    let name_offset = dynamic::append_name(&mut strings, new.name);
    // The table of headers is the last thing that an image has, and is written anew.
    let headers = bytes.len() - elf.sections.len() * SECTION_HEADER_SIZE;
    bytes.truncate(headers);
    let mut place = |contents: &[u8]| {
        let start = bytes.len();
        bytes.extend_from_slice(contents);
        start..bytes.len()
    };
    let (contents, names_at) = (place(new.contents), place(&strings));
    elf.sections[names].offset = names_at.start as u64;
    elf.sections[names].size = names_at.len() as u64;
    elf.sections.push(Section {
        name: new.name.to_owned(),
        name_offset,
        kind: SectionType(elf::SHT_PROGBITS.0),
        flags: SectionFlags(0),
        address: 0,
        offset: contents.start as u64,
        size: contents.len() as u64,
        link: 0,
        info: 0,
        align: 1,
        entry_size: 0,
    });
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let at = bytes.len() as u64;
    for section in &elf.sections {
        section.write(bytes);
    }
    bytes[40..48].copy_from_slice(&at.to_le_bytes());
    bytes[60..62].copy_from_slice(&(elf.sections.len() as u16).to_le_bytes());
    Ok(())
}
