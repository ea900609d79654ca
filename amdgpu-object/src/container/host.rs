//! Host programs and libraries: where their GPU code stands, and giving it a new place.
//!
//! The HIP runtime finds a bundle through a wrapper in `.hipFatBinSegment` (`__CudaFatBinaryWrapper` of HIP's
//! `hip_fatbin.cpp`): magic number, version, the bundle's address, a reserved pointer.

use std::collections::BTreeMap;
use std::ops::Range;

use object::elf::{FileHeader64, ProgramHeader64, Rela64, SHT_NOBITS, SectionHeader64, Sym64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};
use object::{LittleEndian as LE, U64, elf, pod};

use super::overlay::Overlay;
use super::{ContainerError, ObjectError, Pieces};

/// What an ELF file is to us.
pub(super) enum HostFile {
    /// A host file with a `.hip_fatbin` section at this range.
    Fatbin(Range<usize>),
    /// A host file with a `.llvm.offloading` section at this range.
    Offloading(Range<usize>),
    /// A host file with neither.
    Neither,
    /// Not a 64-bit little-endian ELF file for a machine other than AMDGPU.
    NotHost,
}

/// Looks for the section with GPU code.
pub(super) fn gpu_code(bytes: &[u8]) -> Result<HostFile, ContainerError> {
    let Ok(header) = FileHeader64::<LE>::parse(bytes) else { return Ok(HostFile::NotHost) };
    if header.e_machine(LE) == elf::EM_AMDGPU {
        return Ok(HostFile::NotHost);
    }
    let damaged = |part: String, at: u64, error: object::read::Error| {
        ContainerError::Object(ObjectError::malformed(part, at, error.to_string()))
    };
    let table = header.e_shoff(LE);
    let sections = header
        .sections(LE, bytes)
        .map_err(|error| damaged("section header table".to_owned(), table, error))?;
    let find = |wanted: &str| -> Result<Option<Range<usize>>, ContainerError> {
        let mut named = sections.iter().filter(|section| {
            let name = sections.section_name(LE, section).unwrap_or_default();
            name == wanted.as_bytes() && section.sh_type(LE) != SHT_NOBITS
        });
        let Some(section) = named.next() else { return Ok(None) };
        let at = section.sh_offset(LE);
        let contents =
            section.data(LE, bytes).map_err(|error| damaged(format!("section {wanted}"), at, error))?;
        Ok(Some(at as usize..at as usize + contents.len()))
    };
    if let Some(range) = find(".hip_fatbin")? {
        return Ok(HostFile::Fatbin(range));
    }
    Ok(find(".llvm.offloading")?.map_or(HostFile::Neither, HostFile::Offloading))
}

/// `HIPF`, the first word of a wrapper.
pub(super) const WRAPPER_MAGIC: u32 = 0x4849_5046;
/// Bytes of a wrapper.
pub(super) const WRAPPER_SIZE: usize = 24;
const PAGE: u64 = 4096;
/// Most bytes of zero-filled memory behind the file's last segment, which the file then holds too.
const MAX_GAP: u64 = 1 << 30;

/// A host file being changed.
struct Host<'a> {
    bytes: Overlay<'a>,
    /// Sections by name.
    sections: Vec<(Vec<u8>, SectionHeader64<LE>)>,
    segments: Vec<ProgramHeader64<LE>>,
    machine: elf::Machine,
}

/// Where bundles stand, and where new ones come to stand.
struct Room {
    /// The section's old addresses.
    old: Range<u64>,
    /// Where the new segment begins in the file, and in memory.
    offset: u64,
    address: u64,
    /// Bytes of the program headers, and where the contents begin behind them.
    headers: usize,
    start: u64,
}

/// Finds out whether [`move_fatbin`] can give larger bundles a place, of which `is_bundle` tells where in the
/// file one begins.
///
/// # Errors
/// What [`move_fatbin`] gives.
pub(super) fn movable(bytes: &[u8], is_bundle: impl Fn(usize) -> bool) -> Result<(), ContainerError> {
    let mut host = Host::read(bytes)?;
    let room = host.room()?;
    let first = fatbin_file(&host).start;
    host.point(&room.old, |within| is_bundle(first + within as usize).then_some(room.address + within))
}

/// Puts new contents for `.hip_fatbin` into a new segment, and lets wrappers, symbols and relocations point
/// there. `moves` has the start of each bundle in the old section and in the new contents.
pub(super) fn move_fatbin<'a>(
    bytes: &'a [u8],
    contents: Pieces<'a>,
    moves: &BTreeMap<u64, u64>,
) -> Result<Pieces<'a>, ContainerError> {
    let mut host = Host::read(bytes)?;
    let Room { old, offset, address, headers, start } = host.room()?;
    let size = start + contents.len() as u64;
    host.point(&old, |within| moves.get(&within).map(|new| address + start + new))?;

    // The new place.
    let old_file = fatbin_file(&host);
    host.bytes.clear(old_file);
    let is_fatbin = |section: &SectionHeader64<LE>| section.sh_addr.get(LE) == old.start;
    host.change_section(b".hip_fatbin", is_fatbin, |section| {
        section.sh_addr.set(LE, address + start);
        section.sh_offset.set(LE, offset + start);
        section.sh_size.set(LE, contents.len() as u64);
    });
    let load = ProgramHeader64::<LE> {
        p_type: object::U32::new(LE, elf::PT_LOAD),
        p_flags: object::U32::new(LE, elf::PF_R),
        p_offset: U64::new(LE, offset),
        p_vaddr: U64::new(LE, address),
        p_paddr: U64::new(LE, address),
        p_filesz: U64::new(LE, size),
        p_memsz: U64::new(LE, size),
        p_align: U64::new(LE, PAGE),
    };
    let last = host.segments.iter().rposition(|segment| segment.p_type(LE) == elf::PT_LOAD);
    host.segments.insert(last.map_or(0, |last| last + 1), load);
    for segment in &mut host.segments {
        if segment.p_type(LE) == elf::PT_PHDR {
            for (field, value) in [
                (&mut segment.p_offset, offset),
                (&mut segment.p_vaddr, address),
                (&mut segment.p_paddr, address),
                (&mut segment.p_filesz, headers as u64),
                (&mut segment.p_memsz, headers as u64),
            ] {
                field.set(LE, value);
            }
        }
    }
    let count = host.segments.len() as u16;
    host.bytes.write(32, &offset.to_le_bytes());
    host.bytes.write(56, &count.to_le_bytes());
    let old_size = host.bytes.len();
    let mut out = host.bytes.into_pieces();
    out.push_zeros(offset as usize - old_size);
    out.push(pod::bytes_of_slice(&host.segments).to_vec());
    out.push_zeros((offset + start) as usize - out.len());
    out.append(contents);
    Ok(out)
}

pub(super) fn immovable(problem: &str) -> ContainerError {
    ContainerError::Immovable { problem: problem.to_owned() }
}

/// Where `.hip_fatbin` stands in the file.
fn fatbin_file(host: &Host<'_>) -> Range<usize> {
    let range = host.section(b".hip_fatbin").map(|section| {
        let start = section.sh_offset.get(LE) as usize;
        start..start + section.sh_size.get(LE) as usize
    });
    range.filter(|range| range.end <= host.bytes.len()).unwrap_or_default()
}

impl<'a> Host<'a> {
    /// Reads the headers. Sections with contents lie inside the file.
    fn read(bytes: &'a [u8]) -> Result<Self, ContainerError> {
        let damaged = |error: object::read::Error| {
            ContainerError::Object(ObjectError::malformed("ELF headers", 0, error.to_string()))
        };
        let header = FileHeader64::<LE>::parse(bytes).map_err(damaged)?;
        let table = header.sections(LE, bytes).map_err(damaged)?;
        let mut sections = Vec::new();
        for section in table.iter() {
            section.data(LE, bytes).map_err(damaged)?;
            sections.push((table.section_name(LE, section).unwrap_or_default().to_vec(), *section));
        }
        let segments = header.program_headers(LE, bytes).map_err(damaged)?.to_vec();
        Ok(Self { sections, segments, machine: header.e_machine(LE), bytes: Overlay::new(bytes) })
    }

    /// Where larger bundles would stand.
    fn room(&self) -> Result<Room, ContainerError> {
        let fatbin = self.section(b".hip_fatbin").ok_or(ContainerError::NoGpuCode)?;
        let (old_address, old_size) = (fatbin.sh_addr.get(LE), fatbin.sh_size.get(LE));
        let loads = || self.segments.iter().filter(|segment| segment.p_type(LE) == elf::PT_LOAD);
        let Some(first) = loads().min_by_key(|load| load.p_vaddr(LE)) else {
            return Err(immovable("it has no loadable segment"));
        };
        // The program headers move too, and loaders compute their address as if the file were mapped in one
        // piece.
        let bias = first.p_vaddr(LE).wrapping_sub(first.p_offset(LE));
        let memory_end = loads().map(|load| load.p_vaddr(LE).saturating_add(load.p_memsz(LE))).max();
        let file_end = self.bytes.len() as u64;
        let offset = memory_end.unwrap_or_default().wrapping_sub(bias).max(file_end);
        let Some(old_end) = old_address.checked_add(old_size).filter(|_| offset <= file_end + MAX_GAP) else {
            return Err(immovable("its segments span far more than the file"));
        };
        let offset = offset.next_multiple_of(PAGE);
        let headers = (self.segments.len() + 1) * size_of::<ProgramHeader64<LE>>();
        Ok(Room {
            old: old_address..old_end,
            offset,
            address: offset.wrapping_add(bias),
            headers,
            start: (headers as u64).next_multiple_of(PAGE),
        })
    }

    /// Lets all that points at a bundle point at where `place` has it, by its distance from the section's
    /// `old` address.
    fn point(&mut self, old: &Range<u64>, place: impl Fn(u64) -> Option<u64>) -> Result<(), ContainerError> {
        let moved = |value: u64| old.contains(&value).then(|| place(value - old.start));
        let wrappers = self.section(b".hipFatBinSegment").map(|section| {
            let address = section.sh_addr.get(LE);
            (address..address.saturating_add(section.sh_size.get(LE)), section.sh_offset.get(LE) as usize)
        });
        let Some((wrappers, wrappers_at)) = wrappers else {
            return Err(immovable("it has no .hipFatBinSegment that points at them"));
        };
        let stray = |value: u64| immovable(&format!("{value:#x} points into .hip_fatbin, but at no bundle"));
        let mut pointed: BTreeMap<u64, bool> = BTreeMap::new();
        for number in 0..(wrappers.end.saturating_sub(wrappers.start)) as usize / WRAPPER_SIZE {
            let at = wrappers_at + number * WRAPPER_SIZE;
            let Some(wrapper) = self.bytes.read(at..at + 16) else { continue };
            if wrapper[..4] != WRAPPER_MAGIC.to_le_bytes() {
                continue;
            }
            let value = u64::from_le_bytes(wrapper[8..].try_into().expect("eight bytes"));
            let new = moved(value).map(|new| new.ok_or_else(|| stray(value))).transpose()?;
            if let Some(new) = new {
                self.bytes.write(at + 8, &new.to_le_bytes());
            }
            pointed.insert(wrappers.start + (number * WRAPPER_SIZE) as u64 + 8, new.is_some());
        }
        let relative = match self.machine {
            elf::EM_X86_64 => elf::R_X86_64_RELATIVE,
            elf::EM_AARCH64 => elf::R_AARCH64_RELATIVE,
            other => return Err(immovable(&format!("the relocations of machine {} are not known", other.0))),
        };
        self.each::<Rela64<LE>>(&[elf::SHT_RELA], |relocation| {
            let value = relocation.r_addend.get(LE) as u64;
            if relocation.r_type(LE, false).0 == relative.0
                && let Some(new) = moved(value)
            {
                relocation.r_addend.set(LE, new.ok_or_else(|| stray(value))? as i64);
                pointed.insert(relocation.r_offset.get(LE), true);
            }
            Ok(())
        })?;
        if let Some((at, _)) = pointed.iter().find(|(_, found)| !**found) {
            return Err(immovable(&format!(
                "the wrapper's pointer at {at:#x} is set in a way that is not known"
            )));
        }
        if pointed.is_empty() {
            return Err(immovable("its .hipFatBinSegment holds no wrapper"));
        }
        self.each::<Sym64<LE>>(&[elf::SHT_SYMTAB, elf::SHT_DYNSYM], |symbol| {
            if symbol.st_type() != elf::STT_SECTION
                && let Some(Some(new)) = moved(symbol.st_value.get(LE))
            {
                symbol.st_value.set(LE, new);
            }
            Ok(())
        })
    }

    fn section(&self, name: &[u8]) -> Option<&SectionHeader64<LE>> {
        self.sections.iter().find(|(other, _)| other == name).map(|(_, section)| section)
    }

    /// Changes every record of the sections of some kinds.
    fn each<T: pod::Pod>(
        &mut self,
        kinds: &[elf::SectionType],
        mut change: impl FnMut(&mut T) -> Result<(), ContainerError>,
    ) -> Result<(), ContainerError> {
        for (_, section) in self.sections.iter().filter(|(_, section)| kinds.contains(&section.sh_type(LE))) {
            let start = section.sh_offset.get(LE) as usize;
            let Some(mut bytes) = self.bytes.read(start..start + section.sh_size.get(LE) as usize) else {
                continue;
            };
            for (number, record) in bytes.chunks_exact_mut(size_of::<T>()).enumerate() {
                let before = record.to_vec();
                if let Ok((fields, _)) = pod::from_bytes_mut::<T>(record) {
                    change(fields)?;
                }
                if before != record {
                    self.bytes.write(start + number * size_of::<T>(), record);
                }
            }
        }
        Ok(())
    }

    /// Changes the header of a section in the file.
    fn change_section(
        &mut self,
        name: &[u8],
        is_it: impl Fn(&SectionHeader64<LE>) -> bool,
        change: impl FnOnce(&mut SectionHeader64<LE>),
    ) {
        let table = self.bytes.read(40..48).and_then(|field| field.try_into().ok()).map(u64::from_le_bytes);
        let found = self.sections.iter().position(|(other, section)| other == name && is_it(section));
        if let (Some(table), Some(number)) = (table, found) {
            let size = size_of::<SectionHeader64<LE>>();
            let at = table as usize + number * size;
            let Some(mut bytes) = self.bytes.read(at..at + size) else { return };
            if let Ok((header, _)) = pod::from_bytes_mut::<SectionHeader64<LE>>(&mut bytes) {
                change(header);
            }
            self.bytes.write(at, &bytes);
        }
    }
}
