//! The ELF structures of a code object as plain values, bounds-checked.
//!
//! Reading goes through the `object` crate's low-level tables. The values are owned and mutable because the
//! rewriter edits them and writes them back.

use std::borrow::Cow;
use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64, Sym64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _};

use super::ObjectError;

/// `EM_AMDGPU`.
pub(crate) const MACHINE: u16 = 224;
/// Bytes of an ELF64 file header.
pub(crate) const HEADER_SIZE: usize = 64;
/// Bytes of an ELF64 program header.
pub(crate) const PROGRAM_HEADER_SIZE: usize = 56;
/// Bytes of an ELF64 section header.
pub(crate) const SECTION_HEADER_SIZE: usize = 64;
/// Bytes of an ELF64 symbol.
pub(crate) const SYMBOL_SIZE: usize = 24;
/// Bytes of an ELF64 relocation with addend.
pub(crate) const RELA_SIZE: usize = 24;

/// A program header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramHeader {
    pub(crate) kind: elf::ProgramType,
    pub(crate) flags: elf::ProgramFlags,
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
    pub(crate) align: u64,
}

impl ProgramHeader {
    /// Virtual addresses, zero-filled tail included.
    pub(crate) fn memory(&self) -> Range<u64> {
        self.address..self.address + self.memory_size
    }

    /// Where its bytes stand in the file.
    pub(crate) fn file_range(&self) -> Range<usize> {
        self.offset as usize..(self.offset + self.file_size) as usize
    }

    /// Appends its ELF form. The physical address is the virtual one, as linkers have it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.kind.0.to_le_bytes());
        out.extend(self.flags.0.to_le_bytes());
        for word in [self.offset, self.address, self.address, self.file_size, self.memory_size, self.align] {
            out.extend(word.to_le_bytes());
        }
    }
}

/// A section header with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) name: String,
    pub(crate) name_offset: u32,
    pub(crate) kind: elf::SectionType,
    pub(crate) flags: elf::SectionFlags,
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) link: u32,
    pub(crate) info: u32,
    pub(crate) align: u64,
    pub(crate) entry_size: u64,
}

impl Section {
    /// Occupies memory at run time.
    pub(crate) fn is_alloc(&self) -> bool {
        self.flags.contains(elf::SHF_ALLOC)
    }

    /// Where its bytes stand in the file; empty for `SHT_NOBITS`.
    pub(crate) fn file_range(&self) -> Range<usize> {
        // The offset of a section without contents may lie outside the file.
        if self.kind == elf::SHT_NOBITS || self.kind == elf::SHT_NULL {
            return 0..0;
        }
        let start = self.offset as usize;
        start..start + self.size as usize
    }

    /// Virtual addresses.
    pub(crate) fn memory(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.size)
    }

    /// Appends its ELF form.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.name_offset.to_le_bytes());
        out.extend(self.kind.0.to_le_bytes());
        for word in [self.flags.0, self.address, self.offset, self.size] {
            out.extend(word.to_le_bytes());
        }
        out.extend(self.link.to_le_bytes());
        out.extend(self.info.to_le_bytes());
        out.extend(self.align.to_le_bytes());
        out.extend(self.entry_size.to_le_bytes());
    }
}

/// A symbol with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) kind: elf::SymbolType,
    /// Index of the section that defines it, if one does.
    pub(crate) section: Option<u32>,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

/// The headers of one file.
#[derive(Clone, Debug)]
pub(crate) struct Elf {
    pub(crate) os_abi: u8,
    pub(crate) abi_version: u8,
    pub(crate) flags: u32,
    pub(crate) program_header_offset: u64,
    pub(crate) program_headers: Vec<ProgramHeader>,
    pub(crate) sections: Vec<Section>,
}

impl Elf {
    /// Reads the headers. On success every section and segment lies inside the file and no address range
    /// wraps.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ObjectError> {
        check_identity(bytes)?;
        let damaged = |part: &str, at: u64| {
            let part = part.to_owned();
            move |error: object::read::Error| ObjectError::malformed(part, at, error.to_string())
        };
        let header = FileHeader64::<LE>::parse(bytes).map_err(damaged("ELF header", 0))?;
        let machine = header.e_machine(LE).0;
        if machine != MACHINE {
            return Err(ObjectError::Machine { machine });
        }
        match header.e_type(LE) {
            elf::ET_DYN => {}
            elf::ET_REL => return Err(ObjectError::Unlinked),
            other => return Err(ObjectError::FileType { file_type: other.0 }),
        }

        let program_header_offset = header.e_phoff(LE);
        let program_headers = header
            .program_headers(LE, bytes)
            .map_err(damaged("program header table", program_header_offset))?
            .iter()
            .enumerate()
            .map(|(index, raw)| program_header(index, raw, program_header_offset, bytes))
            .collect::<Result<Vec<_>, _>>()?;

        let section_header_offset = header.e_shoff(LE);
        let table =
            header.sections(LE, bytes).map_err(damaged("section header table", section_header_offset))?;
        let mut sections = Vec::with_capacity(table.len());
        for (index, raw) in table.enumerate() {
            let at = section_header_offset + (index.0 * SECTION_HEADER_SIZE) as u64;
            let name = table
                .section_name(LE, raw)
                .map_err(|error| damaged(&format!("name of section {}", index.0), at)(error))?;
            sections.push(section(index.0, amdinst_text::name(name).into_owned(), raw, at, bytes)?);
        }

        let ident = header.e_ident();
        Ok(Self {
            os_abi: ident.os_abi.0,
            abi_version: ident.abi_version,
            flags: header.e_flags(LE).0,
            program_header_offset,
            program_headers,
            sections,
        })
    }

    /// The first section of that name, with its index.
    pub(crate) fn section(&self, name: &str) -> Option<(usize, &Section)> {
        self.sections.iter().enumerate().find(|(_, section)| section.name == name)
    }

    /// The symbols of the symbol table at a section index, the null symbol included.
    pub(crate) fn symbols<'a>(&self, bytes: &'a [u8], index: usize) -> Result<Vec<Symbol<'a>>, ObjectError> {
        let table = &self.sections[index];
        let part = || format!("symbol table {}", table.name);
        let strings = self
            .sections
            .get(table.link as usize)
            .filter(|strings| strings.kind == elf::SHT_STRTAB)
            .ok_or_else(|| ObjectError::malformed(part(), table.offset, "its string table does not exist"))?;
        let strings = object::read::StringTable::new(
            bytes,
            strings.file_range().start as u64,
            strings.file_range().end as u64,
        );
        let raw: &[Sym64<LE>] = object::pod::slice_from_all_bytes(&bytes[table.file_range()])
            .map_err(|()| symbols_cut_short(table))?;
        let mut names = NameBytes::of(bytes);
        raw.iter()
            .enumerate()
            .map(|(number, raw)| {
                let at = table.offset + (number * SYMBOL_SIZE) as u64;
                let name = raw.name(LE, strings).map_err(|error| {
                    ObjectError::malformed(
                        format!("symbol {number} of {}", table.name),
                        at,
                        error.to_string(),
                    )
                })?;
                let section = section_of(raw);
                if let Some(section) = section.filter(|&section| section as usize >= self.sections.len()) {
                    return Err(ObjectError::malformed(
                        format!("symbol {number} of {}", table.name),
                        at,
                        format!("it is defined in section {section}, which does not exist"),
                    ));
                }
                let name = amdinst_text::name(name);
                names.add(&name).map_err(|problem| ObjectError::malformed(part(), at, problem))?;
                Ok(Symbol {
                    name,
                    kind: raw.st_type(),
                    section,
                    value: raw.st_value(LE),
                    size: raw.st_size(LE),
                })
            })
            .collect()
    }
}

/// How many bytes of names a file's tables may come to: names may share bytes, but a few that are long and
/// named by thousands of records would take more memory than there is.
#[derive(Debug)]
pub(crate) struct NameBytes {
    left: usize,
}

impl NameBytes {
    /// The bytes of names that a table of this file may have.
    pub(crate) fn of(file: &[u8]) -> Self {
        Self { left: (1 << 20) + 16 * file.len() }
    }

    /// Counts a name.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), &'static str> {
        self.left =
            self.left.checked_sub(name.len()).ok_or("its names come to more than 16 times the file")?;
        Ok(())
    }
}

/// Index of the section that defines a symbol, if one does.
pub(crate) fn section_of(symbol: &Sym64<LE>) -> Option<u32> {
    let index = symbol.st_shndx(LE).0;
    (index != elf::SHN_UNDEF.0 && index < elf::SHN_LORESERVE).then_some(index.into())
}

/// What is wrong with a symbol table of that size.
pub(crate) fn symbols_cut_short(table: &Section) -> ObjectError {
    let part = format!("symbol table {}", table.name);
    ObjectError::malformed(part, table.offset, "its size is not a multiple of 24 bytes")
}

/// Magic, class and byte order, before any structure is read.
fn check_identity(bytes: &[u8]) -> Result<(), ObjectError> {
    if !bytes.starts_with(b"\x7fELF") {
        let start = bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
        return Err(ObjectError::NotElf {
            start: if start.is_empty() { "nothing".to_owned() } else { start },
        });
    }
    if bytes.len() < HEADER_SIZE {
        return Err(ObjectError::malformed(
            "ELF header",
            0,
            format!("the file ends after {} of its 64 bytes", bytes.len()),
        ));
    }
    match (bytes[4], bytes[5]) {
        (2, 1) => Ok(()),
        (1, _) => Err(ObjectError::Class { found: "32-bit" }),
        (2, 2) => Err(ObjectError::Class { found: "big-endian" }),
        _ => Err(ObjectError::Class { found: "an unknown class or byte order" }),
    }
}

/// The ranges of a structure: inside the file, and not wrapping around the address space.
fn check_ranges(
    part: impl Fn() -> String,
    at: u64,
    file: (u64, u64),
    memory: (u64, u64),
    bytes: &[u8],
) -> Result<(), ObjectError> {
    let (offset, size) = file;
    if offset.checked_add(size).is_none_or(|end| end > bytes.len() as u64) {
        let problem =
            format!("it spans {size:#x} bytes from file offset {offset:#x}, the file has {:#x}", bytes.len());
        return Err(ObjectError::malformed(part(), at, problem));
    }
    let (address, size) = memory;
    if address.checked_add(size).is_none() {
        let problem = format!("{size:#x} bytes from address {address:#x} wrap around the address space");
        return Err(ObjectError::malformed(part(), at, problem));
    }
    Ok(())
}

fn program_header(
    index: usize,
    raw: &ProgramHeader64<LE>,
    table: u64,
    bytes: &[u8],
) -> Result<ProgramHeader, ObjectError> {
    let header = ProgramHeader {
        kind: raw.p_type(LE),
        flags: raw.p_flags(LE),
        offset: raw.p_offset(LE),
        address: raw.p_vaddr(LE),
        file_size: raw.p_filesz(LE),
        memory_size: raw.p_memsz(LE),
        align: raw.p_align(LE),
    };
    let part = || format!("program header {index}");
    let at = table + (index * PROGRAM_HEADER_SIZE) as u64;
    let file = (header.offset, header.file_size);
    check_ranges(part, at, file, (header.address, header.memory_size), bytes)?;
    if header.file_size > header.memory_size {
        let problem =
            format!("{:#x} bytes of file for {:#x} bytes of memory", header.file_size, header.memory_size);
        return Err(ObjectError::malformed(part(), at, problem));
    }
    Ok(header)
}

fn section(
    index: usize,
    name: String,
    raw: &SectionHeader64<LE>,
    at: u64,
    bytes: &[u8],
) -> Result<Section, ObjectError> {
    let section = Section {
        name_offset: raw.sh_name(LE),
        kind: raw.sh_type(LE),
        flags: raw.sh_flags(LE),
        address: raw.sh_addr(LE),
        offset: raw.sh_offset(LE),
        size: raw.sh_size(LE),
        link: raw.sh_link(LE),
        info: raw.sh_info(LE),
        align: raw.sh_addralign(LE),
        entry_size: raw.sh_entsize(LE),
        name,
    };
    let part = || format!("section {index} `{}`", section.name);
    let in_file = section.kind != elf::SHT_NOBITS && section.kind != elf::SHT_NULL;
    let file = (section.offset, if in_file { section.size } else { 0 });
    let file = if in_file { file } else { (0, 0) };
    check_ranges(part, at, file, (section.address, section.size), bytes)?;
    Ok(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A symbol table of 3000 symbols, all of which have one long name.
    #[test]
    fn names_that_share_bytes_come_to_an_end() {
        const NAME: usize = 10_000;
        let section = |kind, offset, size, link| Section {
            name: String::new(),
            name_offset: 0,
            kind,
            flags: elf::SectionFlags(0),
            address: 0,
            offset,
            size,
            link,
            info: 0,
            align: 1,
            entry_size: 0,
        };
        let table = |symbols: usize| {
            let mut bytes = vec![b'a'; NAME];
            bytes.push(0);
            bytes.resize(bytes.len() + SYMBOL_SIZE * symbols, 0);
            let strings = section(elf::SHT_STRTAB, 0, NAME as u64 + 1, 0);
            let symbols = section(elf::SHT_SYMTAB, NAME as u64 + 1, (SYMBOL_SIZE * symbols) as u64, 0);
            let elf = Elf {
                os_abi: 0,
                abi_version: 0,
                flags: 0,
                program_header_offset: 0,
                program_headers: Vec::new(),
                sections: vec![strings, symbols],
            };
            elf.symbols(&bytes, 1).map(|symbols| symbols.len()).map_err(|error| error.to_string())
        };
        assert_eq!(table(100), Ok(100));
        let error = table(3000).unwrap_err();
        assert!(error.contains("its names come to more than 16 times the file"), "{error}");
    }
}
