//! The names in a file that `goblin` reads. They are bytes, and `goblin` takes no string table that is not
//! UTF-8 as a whole.

use std::borrow::Cow;
use std::ops::Range;

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::section_header::{SHT_STRTAB, SHT_SYMTAB, SectionHeader};
use goblin::elf::{Elf, dynamic::Dynamic, program_header::ProgramHeader};

/// A string table.
pub(super) struct StringTable<'a>(&'a [u8]);

impl<'a> StringTable<'a> {
    /// The names of sections.
    pub(super) fn of_sections(elf: &Elf<'_>, bytes: &'a [u8]) -> Self {
        Self::of_section(elf, bytes, elf.header.e_shstrndx.into())
    }

    /// The names of the symbols that `goblin` reads: those of the last table.
    pub(super) fn of_symbols(elf: &Elf<'_>, bytes: &'a [u8]) -> Self {
        let table = elf.section_headers.iter().rfind(|section| section.sh_type == SHT_SYMTAB);
        table.map_or(Self(&[]), |table| Self::of_section(elf, bytes, table.sh_link as usize))
    }

    /// The names of dynamic symbols.
    pub(super) fn of_dynamic_symbols(elf: &Elf<'_>, bytes: &'a [u8]) -> Self {
        Self(elf.dynamic.as_ref().and_then(|dynamic| bytes.get(dynamic_strings(dynamic))).unwrap_or_default())
    }

    fn of_section(elf: &Elf<'_>, bytes: &'a [u8], index: usize) -> Self {
        let section = elf.section_headers.get(index);
        Self(section.and_then(|section| bytes.get(file_range(section))).unwrap_or_default())
    }

    /// The name that begins there; an empty one if none does.
    pub(super) fn at(&self, start: usize) -> &'a [u8] {
        let rest = self.0.get(start..).unwrap_or_default();
        &rest[..memchr::memchr(0, rest).unwrap_or(rest.len())]
    }
}

/// The file, or one in which string tables that are no UTF-8 have others for the bytes that are not ASCII.
/// Nobody takes names from it.
pub(super) fn readable(bytes: &[u8]) -> goblin::error::Result<Cow<'_, [u8]>> {
    let (header, ctx) = (Elf::parse_header(bytes)?, Ctx::new(Container::Big, Endian::Little));
    let segments = ProgramHeader::parse(bytes, header.e_phoff as usize, header.e_phnum.into(), ctx)?;
    let sections = SectionHeader::parse(bytes, header.e_shoff as usize, header.e_shnum.into(), ctx)?;
    let dynamic = Dynamic::parse(bytes, &segments, ctx)?;
    let tables = sections.iter().filter(|section| section.sh_type == SHT_STRTAB).map(file_range);
    let mut readable = Cow::Borrowed(bytes);
    for table in tables.chain(dynamic.as_ref().map(dynamic_strings)) {
        if bytes.get(table.clone()).is_some_and(|table| std::str::from_utf8(table).is_err()) {
            for byte in readable.to_mut()[table].iter_mut().filter(|byte| !byte.is_ascii()) {
                *byte = b'?';
            }
        }
    }
    Ok(readable)
}

fn dynamic_strings(dynamic: &Dynamic) -> Range<usize> {
    dynamic.info.strtab..dynamic.info.strtab.saturating_add(dynamic.info.strsz)
}

fn file_range(section: &SectionHeader) -> Range<usize> {
    section.sh_offset as usize..section.sh_offset.saturating_add(section.sh_size) as usize
}
