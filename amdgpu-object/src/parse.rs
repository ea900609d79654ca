//! Bytes to [`CodeObject`].

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{self, Rela64};
use rustc_hash::FxHashSet;

use super::elf::{Elf, NameBytes, ProgramHeader, RELA_SIZE};
use super::metadata::KernelEntry;
use super::symbols::Symbols;
use super::{
    Bytes, CodeObject, KEPT_REACH, KEPT_SECTION, Kernel, KernelDescriptor, KernelMetadata, KernelProblem,
    ObjectError, Relocation, RelocationKind, Segment, Text, note, target, v2,
};

/// Most memory a code object may ask for. Code reaches its data through 32-bit offsets, so no real one comes
/// near.
const MAX_IMAGE: u64 = 1 << 32;

impl CodeObject {
    /// Reads a linked code object (`ET_DYN`) of version 2 to 6 for a GFX9 processor.
    ///
    /// Every structure is checked against the bounds of the file, so that whoever works on the result may
    /// rely on: [`Text::range`] and every [`Segment::range`] lie inside [`CodeObject::bytes`]; code ranges
    /// lie inside `.text`; segments do not overlap and their addresses do not wrap.
    ///
    /// # Errors
    /// [`ObjectError`] for anything else, unlinked objects and other machines' ELF files included. Never
    /// panics.
    pub fn parse(bytes: impl Into<Bytes>) -> Result<Self, ObjectError> {
        let bytes = bytes.into();
        let elf = Elf::read(&bytes)?;
        let (target, version) = target::identify(&elf, &bytes)?;
        let segments = segments(&elf)?;
        let Some((text_index, text)) = code(&elf, ".text")? else {
            return Err(ObjectError::malformed(
                "section header table",
                0,
                "there is no .text section, hence no code",
            ));
        };
        let kept = code(&elf, KEPT_SECTION)?;
        if let Some((_, kept)) = &kept
            && (kept.memory().end > text.address || text.address - kept.address > KEPT_REACH)
        {
            let problem = "it is not in front of .text, or too far away";
            return Err(ObjectError::malformed(format!("section {KEPT_SECTION}"), kept.address, problem));
        }
        let mut object = Self {
            target,
            version,
            relocations: Vec::new(),
            segments,
            text,
            kept: kept.as_ref().map(|(_, kept)| kept.clone()),
            bytes,
            kernels: Vec::new(),
            functions: Vec::new(),
            variables: Vec::new(),
        };
        let sections: Vec<(usize, Text)> =
            kept.into_iter().chain([(text_index, object.text.clone())]).collect();
        let symbols = Symbols::read(&elf, &object.bytes, &sections)?;
        object.relocations = relocations(&elf, &object.bytes)?;
        object.kernels = kernels(&object, &elf, &symbols)?;
        object.functions = symbols.functions(&object.kernels);
        object.variables = symbols.variables(&object.kernels);
        if version == 2 {
            separate_headers(&object)?;
        }
        Ok(object)
    }
}

fn segments(elf: &Elf) -> Result<Vec<Segment>, ObjectError> {
    let mut headers: Vec<(usize, &ProgramHeader)> =
        elf.program_headers.iter().enumerate().filter(|(_, header)| header.kind == elf::PT_LOAD).collect();
    headers.sort_by_key(|(_, header)| header.address);
    for pair in headers.windows(2) {
        let [(first, low), (second, high)] = [pair[0], pair[1]];
        if low.memory().end > high.address {
            return Err(ObjectError::malformed(
                format!("program headers {first} and {second}"),
                high.address,
                "their segments overlap in memory",
            ));
        }
    }
    let span = match headers.as_slice() {
        [] => {
            let at = elf.program_header_offset;
            return Err(ObjectError::malformed("program header table", at, "it has no loadable segment"));
        }
        [(_, first), .., (_, last)] => last.memory().end - first.address,
        [(_, only)] => only.memory_size,
    };
    if span > MAX_IMAGE {
        let problem = format!("its segments span {span:#x} bytes of memory, more than 4 GiB");
        return Err(ObjectError::malformed("program header table", elf.program_header_offset, problem));
    }
    Ok(headers
        .into_iter()
        .map(|(_, header)| Segment {
            address: header.address,
            size: header.memory_size,
            range: header.file_range(),
            executable: header.flags.contains(elf::PF_X),
            writable: header.flags.contains(elf::PF_W),
        })
        .collect())
}

/// A section with code, and its index.
fn code(elf: &Elf, name: &str) -> Result<Option<(usize, Text)>, ObjectError> {
    let Some((index, section)) = elf.section(name) else { return Ok(None) };
    let damaged = |problem: &str| ObjectError::malformed(format!("section {name}"), section.offset, problem);
    if section.kind != elf::SHT_PROGBITS {
        return Err(damaged("it is not SHT_PROGBITS"));
    }
    if !section.is_alloc() {
        return Err(damaged("it is not SHF_ALLOC, hence no part of the running program"));
    }
    if section.size % 4 != 0 || section.address % 4 != 0 {
        return Err(damaged("its address or size is not a multiple of 4, the size of an instruction word"));
    }
    let memory = section.memory();
    let loaded = elf.program_headers.iter().any(|header| {
        header.kind == elf::PT_LOAD
            && header.flags.contains(elf::PF_X)
            && header.address <= memory.start
            && memory.end - header.address <= header.file_size
            && memory.start - header.address + header.offset == section.offset
    });
    if !loaded && section.size != 0 {
        return Err(damaged("no executable segment loads it at its address"));
    }
    Ok(Some((index, Text { address: section.address, range: section.file_range() })))
}

fn relocations(elf: &Elf, bytes: &[u8]) -> Result<Vec<Relocation>, ObjectError> {
    let mut relocations = Vec::new();
    for section in elf.sections.iter().filter(|section| section.is_alloc()) {
        match section.kind {
            elf::SHT_RELA => {}
            elf::SHT_REL | elf::SHT_RELR => {
                return Err(ObjectError::Unsupported {
                    part: format!("section {}", section.name),
                    feature: "a relocation format other than Elf64_Rela",
                    advice: "link without --pack-dyn-relocs",
                });
            }
            _ => continue,
        }
        let damaged = |at: usize, problem: &str| {
            ObjectError::malformed(format!("relocations {}", section.name), at as u64, problem)
        };
        let range = section.file_range();
        let mut names = NameBytes::of(bytes);
        let records: &[Rela64<LE>] = object::pod::slice_from_all_bytes(&bytes[range.clone()])
            .map_err(|()| damaged(range.start, "its size is not a multiple of 24 bytes"))?;
        let symbols = match elf.sections.get(section.link as usize) {
            Some(table) if matches!(table.kind, elf::SHT_DYNSYM | elf::SHT_SYMTAB) => {
                elf.symbols(bytes, section.link as usize)?
            }
            _ => Vec::new(),
        };
        for (index, record) in records.iter().enumerate() {
            let symbol = match record.r_sym(LE, false) {
                0 => None,
                number => {
                    let at = range.start + index * RELA_SIZE;
                    let symbol = symbols.get(number as usize).ok_or_else(|| {
                        damaged(at, &format!("record {index} names symbol {number}, which does not exist"))
                    })?;
                    names.add(&symbol.name).map_err(|problem| damaged(at, problem))?;
                    Some((symbol.name.to_string(), symbol.section.map(|_| symbol.value)))
                }
            };
            relocations.push(Relocation {
                address: record.r_offset.get(LE),
                kind: RelocationKind::from_number(record.r_type(LE, false).0),
                addend: record.r_addend.get(LE),
                symbol,
            });
        }
    }
    relocations.sort_by_key(|relocation| relocation.address);
    Ok(relocations)
}

impl RelocationKind {
    /// The kind of an `R_AMDGPU_*` number.
    pub fn from_number(number: u32) -> Self {
        match number {
            1 => Self::Abs32Lo,
            2 => Self::Abs32Hi,
            3 => Self::Abs64,
            4 => Self::Rel32,
            5 => Self::Rel64,
            6 => Self::Abs32,
            10 => Self::Rel32Lo,
            11 => Self::Rel32Hi,
            13 => Self::Relative64,
            other => Self::Other(other),
        }
    }

    /// The `R_AMDGPU_*` number.
    pub fn number(self) -> u32 {
        match self {
            Self::Abs32Lo => 1,
            Self::Abs32Hi => 2,
            Self::Abs64 => 3,
            Self::Rel32 => 4,
            Self::Rel64 => 5,
            Self::Abs32 => 6,
            Self::Rel32Lo => 10,
            Self::Rel32Hi => 11,
            Self::Relative64 => 13,
            Self::Other(number) => number,
        }
    }
}

/// Kernels of the note, then those that only a descriptor symbol tells of (hand-written code without
/// metadata).
fn kernels(object: &CodeObject, elf: &Elf, symbols: &Symbols<'_>) -> Result<Vec<Kernel>, ObjectError> {
    let listed = note::find(elf, &object.bytes)?.map_or(Ok(Vec::new()), |note| note.kernels())?;
    let mut known: FxHashSet<&str> = FxHashSet::default();
    if let Some(entry) = listed.iter().find(|entry| !known.insert(&entry.symbol)) {
        return Err(ObjectError::Kernel { kernel: entry.name.clone(), problem: KernelProblem::Duplicate });
    }
    let mut unlisted = Vec::new();
    let mut add = |name: &str, symbol| {
        if known.insert(symbol) {
            let (name, symbol) = (name.to_owned(), symbol.to_owned());
            unlisted.push(KernelEntry { name, symbol, metadata: KernelMetadata::default() });
        }
    };
    for (symbol, _) in symbols.objects().filter(|(_, extent)| extent.size == 64) {
        if let Some(name) = symbol.strip_suffix(".kd") {
            add(name, symbol);
        }
    }
    if object.version == 2 {
        symbols.kernels().for_each(|symbol| add(symbol, symbol));
    }
    // So that it is always the same one of several problems that is told.
    unlisted.sort_unstable_by(|a, b| a.symbol.cmp(&b.symbol));
    let entries = listed.into_iter().chain(unlisted);
    let mut kernels =
        entries.map(|entry| kernel(object, symbols, entry)).collect::<Result<Vec<Kernel>, _>>()?;
    kernels.sort_by(|a, b| (a.code.start, &a.symbol).cmp(&(b.code.start, &b.symbol)));
    Ok(kernels)
}

fn kernel(object: &CodeObject, symbols: &Symbols<'_>, entry: KernelEntry) -> Result<Kernel, ObjectError> {
    let KernelEntry { name, symbol, metadata } = entry;
    match find(object, symbols, &symbol) {
        Ok((descriptor_address, descriptor, code)) => {
            Ok(Kernel { name, symbol, code, descriptor_address, descriptor, metadata })
        }
        Err(problem) => Err(ObjectError::Kernel { kernel: name, problem }),
    }
}

/// The kernel of that symbol: its descriptor with the address, and the addresses of its code.
fn find(
    object: &CodeObject,
    symbols: &Symbols<'_>,
    symbol: &str,
) -> Result<(u64, KernelDescriptor, Range<u64>), KernelProblem> {
    let is_version_2 = object.version == 2;
    let found = if is_version_2 { symbols.kernel(symbol) } else { symbols.object(symbol) };
    let Some(object_symbol) = found else {
        return Err(KernelProblem::NoDescriptor { symbol: symbol.to_owned() });
    };
    let address = object_symbol.address;
    let outside = KernelProblem::DescriptorOutside { address };
    let descriptor = if is_version_2 {
        header_at(object, address).ok_or(outside)?.descriptor()?
    } else {
        let bytes = object.bytes_at(address, 64).and_then(|bytes| bytes.try_into().ok());
        KernelDescriptor { bytes: bytes.ok_or(outside)? }
    };
    if address % 64 != 0 {
        return Err(KernelProblem::DescriptorMisaligned { address });
    }
    let entry = address.wrapping_add_signed(descriptor.entry_offset());
    let Some(text) = object.code().find(|section| section.memory().contains(&entry)) else {
        return Err(KernelProblem::EntryOutside { entry });
    };
    if entry % 256 != 0 {
        return Err(KernelProblem::EntryMisaligned { entry });
    }
    if let Some(symbol) = symbol.strip_suffix(".kd").and_then(|name| symbols.entry(name))
        && symbol != entry
    {
        return Err(KernelProblem::EntryMismatch { entry, symbol });
    }
    // In version 2 the symbol covers the code too.
    let end = match address.checked_add(object_symbol.size) {
        Some(end) if is_version_2 && end > entry && end - text.address <= text.range.len() as u64 => end,
        _ if symbol.strip_suffix(".kd").is_some_and(|name| symbols.is_empty(name)) => entry,
        _ => symbols.end_of(entry, text),
    };
    Ok((address, descriptor, entry..end))
}

/// The `amd_kernel_code_t` at an address in `.text`, if all of it lies there.
pub(super) fn header_at(object: &CodeObject, address: u64) -> Option<v2::Header> {
    let at = usize::try_from(address.checked_sub(object.text.address)?).ok()?;
    let bytes = object.text_bytes().get(at..at.checked_add(v2::HEADER_SIZE)?)?;
    Some(v2::Header { bytes: bytes.try_into().ok()? })
}

/// No code may lie in a header of version 2, of which parts will be written anew.
fn separate_headers(object: &CodeObject) -> Result<(), ObjectError> {
    let mut headers: Vec<(u64, &Kernel)> =
        object.kernels.iter().map(|kernel| (kernel.descriptor_address, kernel)).collect();
    headers.sort_by_key(|&(address, _)| address);
    let size = v2::HEADER_SIZE as u64;
    let shared = |kernel: &Kernel, what: &str| ObjectError::Kernel {
        kernel: kernel.name.clone(),
        problem: KernelProblem::CodeHeader { what: format!("{what} among its {size} bytes") },
    };
    if let Some(pair) = headers.windows(2).find(|pair| pair[1].0 - pair[0].0 < size) {
        return Err(shared(pair[1].1, "another one"));
    }
    let kernels = object.kernels.iter().map(|kernel| &kernel.code);
    for code in kernels.chain(object.functions.iter().map(|function| &function.code)) {
        // The last header that begins before the code's end must end before its start.
        let before = headers.partition_point(|&(address, _)| address < code.end.max(code.start + 1));
        if let Some(&(address, kernel)) = headers[..before].last()
            && address + size > code.start
        {
            return Err(shared(kernel, "code"));
        }
    }
    Ok(())
}
